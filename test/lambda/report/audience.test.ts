import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { type Audience, runByHand, setParameter } from '../../../lambda/report/sentences/audience.ts';
import { aws, kubernetes, machine } from './cases.ts';

/** The words that a shell makes of a line. */
const words = (line: string): string[] =>
  execFileSync('sh', ['-c', `for word in ${line}; do printf '%s\\n' "$word"; done`], { encoding: 'utf8' })
    .trim()
    .split('\n');

describe('a run by hand', () => {
  test('on AWS is an execution with its input, whatever its names contain', () => {
    const name = "dataset.o'peration; rm -rf &";
    const line = runByHand({ mode: 'enforce', indices: [name], approveRows: 5 }, aws) ?? '';
    expect(JSON.parse(words(line).at(-1) ?? '')).toEqual({ mode: 'enforce', indices: [name], approveRows: 5 });
  });

  test('on AWS without the workflow is the input alone', () => {
    expect(runByHand({ release: ['dataset.operation'] }, { kind: 'aws' })).toBe('{"release":["dataset.operation"]}');
  });

  test('on a machine is a verb with its options, quoted for the shell', () => {
    const line = runByHand({ release: ['dataset.$(x)'], acceptMissing: 9 }, machine) ?? '';
    expect(words(line.replace('$(x)', 'x')).slice(1, 5)).toEqual(['release', 'dataset.x', '--accept-missing', '9']);
    expect(line).toContain("'dataset.$(x)'");
    expect(runByHand({ mode: 'preview' }, machine)).toBe(
      'datahub-retention preview --policies policies.json --gms-url http://gms:8080',
    );
  });

  test('in the demonstration is not offered: its server ends with the program', () => {
    expect(
      runByHand({ release: ['dataset.operation'] }, { kind: 'machine', program: './retention', demo: true }),
    ).toBeUndefined();
  });
});

describe('a parameter', () => {
  test('keeps the key that encrypts the token', () => {
    const audience = {
      ...aws,
      tokenParameter: '/tokens/datahub',
      tokenKeyArn: 'arn:aws:kms:eu-central-1:111122223333:key/k',
    };
    expect(setParameter('token', 'file://token.txt', audience)).toContain(
      '--name /tokens/datahub --type SecureString --key-id arn:',
    );
  });

  test('on Kubernetes is a field of the CronJob, or the Secret, which is replaced whole', () => {
    expect(setParameter('paused', 'false', kubernetes)).toBe(
      `kubectl -n datahub patch cronjob datahub-retention -p '{"spec":{"suspend":false}}'`,
    );
    expect(setParameter('token', 'file://token.txt', kubernetes)).toBeUndefined();
    expect(setParameter('token', 'file://token.txt', { ...kubernetes, tokenSecret: 'a-token/token' } as Audience)).toBe(
      'kubectl -n datahub create secret generic a-token --from-file=token=token.txt --dry-run=client -o yaml | kubectl -n datahub replace -f -',
    );
  });

  test('is not there on a machine', () => {
    expect(setParameter('paused', 'true', machine)).toBeUndefined();
  });
});
