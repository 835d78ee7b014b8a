import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseArguments } from '../../cli/command-line/arguments.ts';
import { validate } from '../../cli/files/validate.ts';
import { localSettings } from '../../cli/run/settings.ts';

const root = new URL('../../', import.meta.url);
const folder = new URL('deploy/kubernetes/', root);
const text = (file: string, base = folder) => readFileSync(new URL(file, base), 'utf8');
const cronJob = text('cron-job.yaml');
const byHand = text('by-hand.yaml');
/** The arguments of the job that is started by hand. */
const argumentsIn = (manifest: string) =>
  /args: \[([^\]]*)\]/
    .exec(manifest)![1]!
    .split(/,\s*/)
    .filter((item) => item !== '');
/** The command that the messages offer for pasting, and the arguments of the job that it creates. */
const template = (manifest: string) => /value: "(sed .*)"$/m.exec(manifest)?.[1];
const made = (items: string) => {
  const script = /^sed '(.*)' \S+ \| kubectl create --namespace datahub --filename -$/.exec(template(cronJob)!)![1]!;
  const manifest = execFileSync('sed', [script.replace('{}', items)], { input: byHand, encoding: 'utf8' });
  return argumentsIn(manifest);
};
const number = (name: string) => Number(new RegExp(`${name}: (\\d+)`).exec(cronJob)?.[1]);

/** What kubernetes-validate in .ci/run cannot check; it checks that the manifests are well formed. */
describe('The manifests for Kubernetes', () => {
  test('start the program with options that it has, and only preview', () => {
    const args = [...cronJob.matchAll(/^ {16}- (\S+)$/gm)].map(([, option]) => option!);
    const asked = parseArguments(args, { DATAHUB_GMS_TOKEN: 'any' }, 'datahub-retention');
    expect(asked).toMatchObject({ kind: 'run', verb: 'preview', ledgerPath: '/ledger/in-flight.json' });
  });

  test('run one verb by hand with the options of the CronJob, as its messages offer it', () => {
    const [, ...standing] = [...cronJob.matchAll(/^ {16}- (\S+)$/gm)].map(([, option]) => option!);
    const args = made('enforce, --only=dataset.operation, --approve-rows=45150');
    const own = ['enforce', '--only=dataset.operation', '--approve-rows=45150'];
    expect([args.slice(0, 3), args.slice(3).sort()]).toEqual([own, standing.sort()]);
    const env = { DATAHUB_GMS_TOKEN: 'any' };
    expect(parseArguments(args, env, 'datahub-retention')).toMatchObject({
      kind: 'run',
      input: { approveRows: 45150 },
    });
    expect(parseArguments(made('clear, dataset.operation'), env, 'datahub-retention')).toMatchObject({
      kind: 'run',
      input: { clear: ['dataset.operation'] },
      ledgerPath: '/ledger/in-flight.json',
    });
  });

  test.each(['docs/operate.md', 'docs/kubernetes.md'])('in %s every run by hand is one that starts', (page) => {
    const scripts = [...text(page, root).matchAll(/`sed (.*) deploy\/kubernetes\/by-hand\.yaml/g)].map(([, it]) => it!);
    expect(scripts.length).toBeGreaterThan(3);
    for (const script of scripts) {
      const parts = [...script.matchAll(/'([^']*)'/g)].flatMap(([, part]) => ['-e', part!]);
      const args = argumentsIn(execFileSync('sed', parts, { input: byHand, encoding: 'utf8' }));
      expect(() => parseArguments(args, { DATAHUB_GMS_TOKEN: 'any' }, 'datahub-retention'), script).not.toThrow();
      expect(args, script).toContain('--ledger=/ledger/in-flight.json');
    }
  });

  test('give the job by hand the same pod as the CronJob: ledger, token, user, limits and chat', () => {
    const podOf = (manifest: string) => {
      const lines = manifest.slice(manifest.search(/^ *template:$/m)).split('\n');
      const indent = lines[0]!.search(/\S/);
      const bare = lines.filter((line) => !/^ *#/.test(line)).map((line) => line.slice(indent));
      return bare
        .join('\n')
        .replace(/^ +args:[\s\S]*?(?=^ +env:)/m, '')
        .trim();
    };
    const pod = podOf(cronJob.slice(cronJob.indexOf('jobTemplate:') + 'jobTemplate:'.length));
    expect(podOf(byHand)).toBe(pod);
    expect(pod).toContain('claimName: datahub-retention-ledger');
  });

  test('name policies as the job by hand does, which no kustomization renames', () => {
    expect(text('kustomization.yaml')).toMatch(/^generatorOptions:\n {2}disableNameSuffixHash: true$/m);
  });

  test('post to a chat with a secret that is optional', () => {
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
    // An applied job starts, so by-hand.yaml must not be applied with the others.
    const others = ['kustomization.yaml', 'by-hand.yaml'];
    const manifests = readdirSync(folder).filter((file) => file.endsWith('.yaml') && !others.includes(file));
    const listed = [...kustomization.matchAll(/^ {2}- (\S+\.yaml)$/gm)].map(([, file]) => file!);
    expect(listed.sort()).toEqual(manifests.sort());
    const image = `datahub-retention:${JSON.parse(text('package.json', root)).version}`;
    for (const manifest of [cronJob, byHand]) expect(/image: (.*)/.exec(manifest)?.[1]).toBe(image);
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
