import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseArguments } from '../../local/command-line/arguments.ts';
import { validate } from '../../local/files/validate.ts';
import { localSettings } from '../../local/run/settings.ts';

const root = new URL('../../', import.meta.url);
const folder = new URL('deploy/kubernetes/', root);
const text = (file: string, base = folder) => readFileSync(new URL(file, base), 'utf8');
const cronJob = text('cron-job.yaml');
const number = (name: string) => Number(new RegExp(`${name}: (\\d+)`).exec(cronJob)?.[1]);

/** What .ci/run's kubernetes-validate cannot know; that the manifests are well formed is what it says. */
describe('The manifests for Kubernetes', () => {
  test('start the program with options that it has, and only preview', () => {
    const args = [...cronJob.matchAll(/^ {16}- (\S+)$/gm)].map(([, option]) => option!);
    const asked = parseArguments(args, { DATAHUB_GMS_TOKEN: 'any' }, 'datahub-retention');
    expect(asked).toMatchObject({ kind: 'run', verb: 'preview', ledgerPath: '/ledger/in-flight.json' });
  });

  test('tell a chat by a secret that need not be there', () => {
    const [, name] = /- name: (\S+)\n +valueFrom:\n +secretKeyRef:\n(?: +\w+: \S+\n)* +optional: true$/m.exec(cronJob)!;
    const args = ['preview', '--gms-url', 'http://x', '--policies', 'p'];
    expect(
      parseArguments(args, { DATAHUB_GMS_TOKEN: 'any', [name!]: 'https://hooks' }, 'datahub-retention'),
    ).toMatchObject({
      notify: { url: { kind: 'text', text: 'https://hooks' } },
    });
  });

  test('end a job only after a run has ended by itself', () => {
    expect(number('activeDeadlineSeconds')).toBeGreaterThan(localSettings.maxRunHours * 3600);
  });

  test('run as the user of the image, who owns what it writes', () => {
    const user = Number(/^USER (\d+):\1$/m.exec(text('Dockerfile', root))?.[1]);
    expect([number('runAsUser'), number('runAsGroup'), number('fsGroup')]).toEqual([user, user, user]);
  });

  test('give a list of policies that is well', () => {
    expect(() => validate({ policiesPath: fileURLToPath(new URL('policies.json', folder)) })).not.toThrow();
  });

  test('are all in the kustomization, with the version of this package', () => {
    const kustomization = text('kustomization.yaml');
    const manifests = readdirSync(folder).filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml');
    const listed = [...kustomization.matchAll(/^ {2}- (\S+\.yaml)$/gm)].map(([, file]) => file!);
    expect(listed.sort()).toEqual(manifests.sort());
    expect(/newTag: (.*)/.exec(kustomization)?.[1]).toBe(JSON.parse(text('package.json', root)).version);
  });
});

describe('The Dockerfile', () => {
  test('copies what is there after a build, and nothing of a deployment', () => {
    const copied = /^COPY --from=build (.*) \S+$/m.exec(text('Dockerfile', root))![1]!.split(' ');
    expect(copied).toEqual(['/source/dist/cli.mjs', '/source/LICENSE', '/source/THIRD-PARTY-NOTICES']);
    expect(existsSync(new URL('LICENSE', root))).toBe(true);
    expect(text('.dockerignore', root)).toMatch(/^infra\/stages$/m);
  });
});
