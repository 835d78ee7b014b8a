import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import type { Audience } from '../../../lambda/report/guide/audience.ts';
import { guideOf } from '../../../lambda/report/guide/guides.ts';
import { aws, kubernetes, machine } from './cases.ts';

/** The words that a shell makes of a line. */
const words = (line: string): string[] =>
  execFileSync('sh', ['-c', `for word in ${line}; do printf '%s\\n' "$word"; done`], { encoding: 'utf8' })
    .trim()
    .split('\n');

describe('a run by hand', () => {
  test('on AWS is an execution with its input, whatever its names contain', () => {
    const name = "dataset.o'peration; rm -rf &";
    const line = guideOf(aws).runByHand({ mode: 'enforce', indices: [name], approveRows: 5 }) ?? '';
    expect(JSON.parse(words(line).at(-1) ?? '')).toEqual({ mode: 'enforce', indices: [name], approveRows: 5 });
  });

  test('on AWS without the workflow is the input alone', () => {
    expect(guideOf({ kind: 'aws' }).runByHand({ release: ['dataset.operation'] })).toBe(
      '{"release":["dataset.operation"]}',
    );
  });

  test('on a machine is a verb with its options, quoted for the shell', () => {
    const line = guideOf(machine).runByHand({ release: ['dataset.$(x)'], acceptMissing: 9 }) ?? '';
    expect(words(line.replace('$(x)', 'x')).slice(1, 5)).toEqual(['release', 'dataset.x', '--accept-missing', '9']);
    expect(line).toContain("'dataset.$(x)'");
    expect(guideOf(machine).runByHand({ mode: 'preview' })).toBe(
      'datahub-retention preview --policies policies.json --gms-url http://gms:8080',
    );
  });

  test('in the demonstration is not offered: its server ends with the program', () => {
    expect(
      guideOf({ kind: 'machine', program: './retention', demo: true }).runByHand({ release: ['dataset.operation'] }),
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
    expect(guideOf(audience).storeToken()).toContain('--name /tokens/datahub --type SecureString --key-id arn:');
  });

  test('on Kubernetes is a field of the CronJob, or the Secret, which is replaced whole', () => {
    expect(guideOf(kubernetes).setPaused(false)).toBe(
      `kubectl -n datahub patch cronjob datahub-retention -p '{"spec":{"suspend":false}}'`,
    );
    expect(guideOf(kubernetes).storeToken()).toBeUndefined();
    expect(guideOf({ ...kubernetes, tokenSecret: 'a-token/token' } as Audience).storeToken()).toBe(
      'kubectl -n datahub create secret generic a-token --from-file=token=token.txt --dry-run=client -o yaml | kubectl -n datahub replace -f -',
    );
  });

  test('on a machine is a timer, where its unit names one', () => {
    expect(guideOf(machine).setPaused(true)).toBeUndefined();
    expect(guideOf({ ...machine, timer: 'retention@prod.timer' } as Audience).setPaused(false)).toBe(
      'sudo systemctl enable --now retention@prod.timer',
    );
  });
});
