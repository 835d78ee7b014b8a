import { spawn } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { type SimulatedGms, startSimulatedGms } from '../simulated-gms/server.ts';
import { realTruncates } from '../simulated-gms/simulation/exchange.ts';
import { type Listening, listening } from '../support/loopback.ts';
import { writtenBy } from '../support/written.ts';
import { emptyProject, install, root } from './packed.ts';

/**
 * What the Dockerfile copies into the image, started as the chart starts it: with nothing but the chart's environment, a
 * user other than root, a working directory that cannot be written, and signals. The tests do not build an image.
 */

/** Only root can become another user; otherwise the tests run as the user who started them, who is not root either. */
const isRoot = process.getuid?.() === 0;
const user = isRoot ? { uid: 65_532, gid: 65_532 } : {};

let folder: string;
let service: SimulatedGms;
const at = (...path: string[]) => join(folder, ...path);

beforeAll(async () => {
  const project = emptyProject();
  await install(project, inject('tarball'));
  folder = mkdtempSync(join(tmpdir(), 'image-'));
  for (const path of ['job', 'job/dist', 'job/docs', 'ledger', 'ledger/datahub-retention']) mkdirSync(at(path));
  for (const path of ['dist/cli.mjs', 'docs/runbook.md']) {
    cpSync(join(project, 'node_modules/datahub-retention', path), at('job', path));
  }
  rmSync(project, { recursive: true, force: true });
  service = await startSimulatedGms();
  writeFileSync(at('token'), service.token);
  writeFileSync(at('policies.json'), '[{ "entityType": "dataset", "aspect": "operation", "retentionDays": 30 }]');
  if (isRoot) for (const path of ['ledger', 'ledger/datahub-retention']) chownSync(at(path), 65_532, 65_532);
  for (const path of ['', 'job', 'job/dist', 'job/dist/cli.mjs']) chmodSync(at(path), 0o555);
});
afterAll(async () => {
  await service?.close();
  chmodSync(folder, 0o755);
  for (const path of ['job', 'job/dist']) chmodSync(at(path), 0o755);
  rmSync(folder, { recursive: true, force: true });
});

interface Environment {
  env?: Record<string, string>;
  launcher?: string[];
}

function start(args: string[], { env = {}, launcher = [] }: Environment = {}) {
  const [file, ...rest] = [...launcher, process.execPath, 'dist/cli.mjs', ...args];
  const child = spawn(file!, rest, {
    cwd: at('job'),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(launcher.length === 0 && user),
  });
  const { output, ended } = writtenBy(child);
  return { child, output, ended: ended.then(({ status }) => status) };
}

const server = () => ['--gms-url', service.url, '--token-file', at('token')];
// Where the job keeps it for a server whose data is a sample.
const ledger = () => at('ledger/datahub-retention/sample-ledger');

describe('The file of the image', () => {
  test('surveys', async () => {
    const { output, ended } = start(['survey', ...server()]);
    expect([await ended, output.stderr]).toEqual([0, '']);
    expect(output.stdout).toContain('dataset.operation');
  });

  test.skipIf(!isRoot)('asks for a ledger where its user has no home, in one sentence', async () => {
    const { output, ended } = start(['preview', ...server(), '--policies', at('policies.json')]);
    expect(await ended).toBe(2);
    expect(output.stderr).toMatch(/^There is no home folder to keep the ledger in: .*--ledger.*\n$/);
  });

  test('cannot keep a ledger where it may not write, says so in one sentence, and sends nothing', async () => {
    const before = service.engine.asked.length;
    const { output, ended } = start([
      'enforce',
      '--yes',
      ...server(),
      '--policies',
      at('policies.json'),
      '--ledger',
      'ledger',
      '--fast',
    ]);
    expect(await ended).not.toBe(0);
    expect(output.stderr.trim().split('\n')).toHaveLength(1);
    expect(realTruncates(service.engine.asked.slice(before))).toEqual([]);
  });
});

/** What the chart sets, with folders of this machine. */
const chartEnvironment = (args?: string): Record<string, string> => ({
  DATAHUB_GMS_URL: service.url,
  DATAHUB_RETENTION_TOKEN_FILE: at('token'),
  DATAHUB_RETENTION_NAME: 'prod',
  DATAHUB_RETENTION_CRON_JOB: 'retention',
  DATAHUB_RETENTION_NAMESPACE: 'datahub',
  // As on a claim.
  DATAHUB_RETENTION_LEDGER: ledger(),
  ...(args !== undefined && { DATAHUB_RETENTION_ARGS: args }),
});
const scheduled = () => ['preview', '--policies', at('policies.json')];

describe('A pod of the chart', () => {
  test('has the environment that is tried here', () => {
    const template = readFileSync(join(root, 'kubernetes/templates/_job.tpl'), 'utf8');
    for (const name of Object.keys(chartEnvironment())) expect(template).toContain(`- name: ${name}\n`);
  });

  test('previews with the name of its DataHub', async () => {
    const { output, ended } = start(scheduled(), { env: chartEnvironment() });
    expect([await ended, output.stderr]).toEqual([0, '']);
    expect(output.stdout).toMatch(/Subject: \[DataHub retention\] PREVIEW prod: /);
  });

  test('by hand knows the ledger of the scheduled runs, and releases an index of it', async () => {
    const enforce = ['enforce', '--yes', '--fast', '--policies', at('policies.json')].join(' ');
    expect(await start(scheduled(), { env: chartEnvironment(enforce) }).ended).toBe(0);
    const status = start(scheduled(), { env: chartEnvironment('status') });
    expect([await status.ended, status.output.stderr]).toEqual([0, '']);
    expect(status.output.stdout).toContain('dataset.operation');

    const release = start(scheduled(), { env: chartEnvironment('release dataset.operation') });
    expect([await release.ended, release.output.stderr]).toEqual([0, '']);
    expect(release.output.stdout).toMatch(
      /Nothing to release[^\n]*dataset\.operation|dataset\.operation[^\n]*nothing to release/i,
    );
  });

  test('prints the runbook that is in the image', async () => {
    const { output, ended } = start(scheduled(), { env: chartEnvironment('runbook rows-missing') });
    expect([await ended, output.stderr]).toEqual([0, '']);
    expect(output.stdout).toMatch(/^#+ Rows missing$/m);
  });
});

// In a namespace of its own the program is the first process, as in a container; only root may create one.
describe.skipIf(!isRoot)('As the first process, which a signal does not end by itself, the file', () => {
  let silent: Listening;
  beforeAll(async () => {
    silent = await listening(createServer(() => {}));
  });
  afterAll(() => silent?.close());

  test('ends at SIGTERM while it waits for a server that does not answer', async () => {
    const args = ['survey', '--gms-url', silent.url, '--token-file', at('token')];
    const { child, output, ended } = start(args, { launcher: ['unshare', '--fork', '--pid', '--kill-child'] });
    await vi.waitUntil(() => output.stdout !== '', { timeout: 30_000 });
    const [first] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ');
    process.kill(Number(first), 'SIGTERM');
    expect(await ended).toBe(143);
  });
});
