import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseArguments, type ServerRunArguments } from '../../cli/command-line/arguments.ts';
import { execute } from '../../cli/execute.ts';
import { programs } from '../programs.ts';
import { folder, page } from './processes.ts';

/**
 * `npm start`, stopped in each of the ways that people and machines use: what was sent before, nothing after, and a second
 * start that picks up what is running. If npm gets the signal too, a real npm is used; `exec` in package.json makes node
 * the process that the other two ways reach.
 */

const root = fileURLToPath(new URL('../../', import.meta.url));
const ways = ['SIGTERM to npm', 'SIGTERM to node', 'Ctrl-C', 'a terminal that is closed'] as const;
const aspectOf = (way: (typeof ways)[number]) => `stopped${ways.indexOf(way)}`;

let service: { url: string; token: string };
let stopService: () => void;

beforeAll(async () => {
  const child = spawn(process.execPath, [programs['slow-service'], ...ways.map(aspectOf)], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  stopService = () => child.stdin.end();
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  service = JSON.parse(line);
});
afterAll(() => stopService());

/** How the stopped processes were started. */
const stopped = new Map<(typeof ways)[number], { args: string[]; files: ReturnType<typeof folder> }>();
const cleanUps: Array<() => void | Promise<void>> = [];
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});

/** The real truncates of the two indices of one way, as the server saw them. */
async function sent(aspect: string): Promise<string[]> {
  const asked = (await (await fetch(`${service.url}/_asked`)).json()) as Array<{ body?: Record<string, unknown> }>;
  return asked.flatMap(({ body }) =>
    body?.['dryRun'] === false && body['aspect'] === aspect ? [`${body['entityType']}.${aspect}`] : [],
  );
}

/** A package with our script `start`, which starts the bundled program: reading it through tsx takes a second each time. */
function asPackage(files: ReturnType<typeof folder>): string {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: { start: string } };
  expect(scripts.start).toContain(' --import tsx cli/main.ts');
  const start = scripts.start.replace('--import tsx cli/main.ts', programs.start);
  files.write('package.json', { private: true, type: 'module', scripts: { start } });
  return files.at('.');
}

function startAs(way: (typeof ways)[number], args: string[], files: ReturnType<typeof folder>) {
  const byNpm = way === 'SIGTERM to npm' || way === 'Ctrl-C';
  const command = byNpm ? ['npm', 'start', '--'] : [process.execPath, programs.start];
  const child = spawn(command[0]!, [...command.slice(1), ...args], {
    cwd: byNpm ? asPackage(files) : root,
    env: { PATH: process.env['PATH'], HOME: tmpdir() },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, as from a shell: Ctrl-C and a closed terminal reach the whole group.
    detached: true,
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (output.stderr += text));
  const ended = once(child, 'close');
  return { child, output, ended };
}

const childOf = (pid: number): number =>
  Number(execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' }).trim());
const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe.concurrent('npm start, stopped by', () => {
  it.for(ways)('%s, sends nothing more, and says what goes on running', async (way) => {
    const files = folder((cleanUp) => void cleanUps.push(cleanUp));
    const aspect = aspectOf(way);
    const policy = { aspect, retentionDays: 30, batchSize: 100 };
    const policies = files.write('p.json', [
      { ...policy, entityType: 'dataset' },
      { ...policy, entityType: 'chart' },
    ]);
    const args = [
      ...[
        'enforce',
        '--gms-url',
        service.url,
        '--token-file',
        files.write('token', service.token),
        '--policies',
        policies,
      ],
      ...['--ledger', files.at('ledger'), '--fast'],
    ];
    const { child, output, ended } = startAs(way, args, files);
    while (!/: [1-9][\d,]* of [\d,]+ rows done/.test(output.stdout)) await sleep(20);
    const first = child.pid!;
    const node = child.spawnfile === 'npm' ? childOf(first) : first;
    const before = await sent(aspect);

    if (way === 'SIGTERM to npm') process.kill(first, 'SIGTERM');
    if (way === 'SIGTERM to node') process.kill(node, 'SIGTERM');
    if (way === 'Ctrl-C') process.kill(-first, 'SIGINT');
    if (way === 'a terminal that is closed') {
      child.stdout.destroy();
      child.stderr.destroy();
      process.kill(-first, 'SIGHUP');
    }
    await ended;
    while (isThere(node)) await sleep(20);

    expect(before).toEqual([`dataset.${aspect}`]);
    if (way !== 'a terminal that is closed') {
      expect(output.stderr).toMatch(new RegExp(`dataset\\.${aspect}: task \\S+ is still running on the server`));
      expect(output.stderr).toContain('Start the same command again');
    }
    // Longer than the rest of the first task: the second one would have begun by now.
    await sleep(1500);
    expect(await sent(aspect)).toEqual(before);
    stopped.set(way, { args, files });
  });
});

it('a second start picks up the truncation that a closed terminal left running', async () => {
  const { args, files } = stopped.get('a terminal that is closed')!;
  const aspect = aspectOf('a terminal that is closed');
  const again = parseArguments([...args, '--json', files.at('report.json')], {}) as ServerRunArguments;
  expect(await execute(again, page().output, {}, 'npm start --')).toBe(0);
  expect(await sent(aspect)).toEqual([`dataset.${aspect}`, `chart.${aspect}`]);
  expect(files.report('report.json').policies).toMatchObject([
    { entityType: 'dataset', outcome: 'truncated', adopted: true },
    { entityType: 'chart', outcome: 'truncated' },
  ]);
});
