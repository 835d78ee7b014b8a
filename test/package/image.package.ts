import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type OperationsService, startOperationsService } from '../operations-service/server.ts';
import { emptyProject, install } from './packed.ts';

/**
 * The image's single file, started as the image starts it: with an empty environment, a user other than root, a working
 * directory that cannot be written, and signals. The tests do not build an image.
 */

/** Only root can become another user; otherwise the tests run as the user who started them, who is not root either. */
const isRoot = process.getuid?.() === 0;
const user = isRoot ? { uid: 65_532, gid: 65_532 } : {};

let folder: string;
let service: OperationsService;
const at = (...path: string[]) => join(folder, ...path);

beforeAll(async () => {
  const project = emptyProject();
  await install(project, inject('tarball'));
  folder = mkdtempSync(join(tmpdir(), 'image-'));
  mkdirSync(at('job'));
  mkdirSync(at('ledger'));
  cpSync(join(project, 'node_modules/datahub-retention/dist/cli.mjs'), at('job/cli.mjs'));
  rmSync(project, { recursive: true, force: true });
  const indices = [{ entityType: 'dataset', aspect: 'operation', rows: 20_000, days: 100 }];
  // Seconds of work, so that a signal can arrive in the middle.
  service = await startOperationsService({ indices, faults: ['rows-per-second=3000'] });
  writeFileSync(at('token'), service.token);
  writeFileSync(
    at('policies.json'),
    '[{ "entityType": "dataset", "aspect": "operation", "retentionDays": 30, "batchSize": 1000 }]',
  );
  if (isRoot) chownSync(at('ledger'), 65_532, 65_532);
  for (const path of ['', 'job', 'job/cli.mjs']) chmodSync(at(path), 0o555);
});
afterAll(async () => {
  await service?.close();
  chmodSync(folder, 0o755);
  chmodSync(at('job'), 0o755);
  rmSync(folder, { recursive: true, force: true });
});

interface Started {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
  ended: Promise<number | null>;
}

function start(args: string[], launcher: string[] = []): Started {
  const [file, ...rest] = [...launcher, process.execPath, 'cli.mjs', ...args];
  const child = spawn(file!, rest, {
    cwd: at('job'),
    env: {},
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(launcher.length === 0 && user),
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]!.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  return { child, output, ended: new Promise((resolve) => child.on('close', resolve)) };
}

async function until(condition: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 600 && !condition(); attempt++) await sleep(50);
  expect(condition()).toBe(true);
}

const server = () => ['--gms-url', service.url, '--token-file', at('token')];
const job = () => [
  'enforce',
  ...server(),
  '--policies',
  at('policies.json'),
  '--ledger',
  at('ledger/in-flight.json'),
  '--fast',
];

describe('The file of the image', () => {
  test('surveys', async () => {
    const { output, ended } = start(['survey', ...server()]);
    expect([await ended, output.stderr]).toEqual([0, '']);
    expect(output.stdout).toContain('dataset.operation');
  });

  test.skipIf(!isRoot)('asks for a ledger where its user has no home, in one sentence', async () => {
    const { output, ended } = start(['preview', ...server(), '--policies', at('policies.json')]);
    expect(await ended).toBe(2);
    expect(output.stderr).toBe('There is no home folder to keep the ledger in: name a file with --ledger FILE.\n');
  });

  test('cannot keep a ledger where it may not write, says so in one sentence, and sends nothing', async () => {
    const before = service.engine.asked.length;
    const { output, ended } = start([
      'enforce',
      ...server(),
      '--policies',
      at('policies.json'),
      '--ledger',
      'in-flight.json',
      '--fast',
    ]);
    expect(await ended).not.toBe(0);
    expect(output.stderr.trim().split('\n')).toHaveLength(1);
    const sent = service.engine.asked
      .slice(before)
      .filter(({ body }) => (body as { dryRun?: boolean })?.dryRun === false);
    expect(sent).toEqual([]);
  });

  test('says at SIGTERM what goes on without it, and its next start picks that up and sends nothing twice', async () => {
    const first = start(job());
    await until(() => /operation: [1-9][\d,]* of 14,000 rows done/.test(first.output.stdout));
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(143);
    expect(first.output.stderr).toMatch(/Stopped, but not on the server:\n {2}dataset\.operation: task /);

    const second = start(job());
    expect([await second.ended, second.output.stderr]).toEqual([0, '']);
    expect(second.output.stdout).toContain('verified by counting again');
    const real = service.engine.asked.filter(({ body }) => (body as { dryRun?: boolean })?.dryRun === false);
    expect(real).toHaveLength(1);
    expect(readFileSync(at('ledger/in-flight.json'), 'utf8')).not.toContain(service.token);
  });
});

/** The arguments of deploy/kubernetes/by-hand.yaml, as the command that messages offer makes them. */
function byHand(items: string): string[] {
  const manifest = readFileSync(new URL('../../deploy/kubernetes/by-hand.yaml', import.meta.url), 'utf8');
  const script = /value: "sed '([^']*)'/.exec(manifest)![1]!.replace('{}', items);
  const replaced = execFileSync('sed', [script], { input: manifest, encoding: 'utf8' });
  const paths = { '/ledger/': at('ledger/'), '/token/token': at('token'), '/policies/': at('./') };
  return /args: \[([^\]]*)\]/
    .exec(replaced)![1]!
    .split(/,\s*/)
    .map((arg) => arg.replace(/^(--gms-url)=.*/, `$1=${service.url}`))
    .map((arg) => Object.entries(paths).reduce((text, [from, to]) => text.replace(`=${from}`, `=${to}`), arg));
}

describe('The job by hand', () => {
  test('previews, and clears an index of the ledger that the CronJob uses', async () => {
    const preview = start(byHand('preview, --only=dataset.operation'));
    expect([await preview.ended, preview.output.stderr]).toEqual([0, '']);
    expect(preview.output.stdout).toMatch(/Subject: \[DataHub retention\] PREVIEW prod: /);

    const clear = start(byHand('clear, dataset.operation'));
    await clear.ended;
    expect(clear.output.stdout).toContain('dataset.operation');
    expect(clear.output.stderr).toBe('');
  });
});

// In a namespace of its own the program is the first process, as in a container; only root may create one.
describe.skipIf(!isRoot)('As the first process, which a signal does not end by itself, the file', () => {
  let silent: Server;
  beforeAll(async () => {
    silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => silent?.close());

  test('ends at SIGTERM while it waits for a server that does not answer', async () => {
    const { port } = silent.address() as { port: number };
    const args = ['survey', '--gms-url', `http://127.0.0.1:${port}`, '--token-file', at('token')];
    const { child, output, ended } = start(args, ['unshare', '--fork', '--pid', '--kill-child']);
    await until(() => output.stdout.includes('Preflight'));
    const [first] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ');
    process.kill(Number(first), 'SIGTERM');
    expect(await ended).toBe(143);
  });
});
