import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PolicyEntry, Report } from '../../../lambda/facts/report-schema.ts';
import { type ScaledClock, variable, written } from './clock.ts';
import type { Published, Subscriber } from './subscriber.ts';

/** The job: the command line as it ships, in its own process, with a scaled clock. */

const root = fileURLToPath(new URL('../../../', import.meta.url));
const scaledTime = fileURLToPath(new URL('./scaled-time.ts', import.meta.url));

/** Runs that have not ended. */
const running = new Set<ChildProcess>();

/** Kills every run that has not ended. */
export function endJobs(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** A run that takes longer than this hangs: on a quiet machine none takes a quarter of it. */
const capMillis = 600_000;

export interface JobFiles {
  folder: string;
  url: string;
  clock: ScaledClock;
  subscriber: Subscriber;
}

export interface Run {
  child: ChildProcess;
  ended: Promise<Ended>;
}

export interface Ended {
  status: number | null;
  /** Everything that it printed. */
  said: string;
  /** What its subscriber was sent, who is only notified of problems; omitted if that is nothing. */
  published?: Published;
  /** The index's entry; omitted if the run did not get to a report. */
  entry?: PolicyEntry;
  report?: Report;
}

/** Starts a run. Policies, ledger and the subscriber's address are files of the folder. */
export function startJob(
  { folder, url, clock, subscriber }: JobFiles,
  name: string,
  verb: readonly string[] = ['enforce'],
): Run {
  const json = join(folder, `${name}.json`);
  const files = ['--token-file', join(folder, 'token'), '--policies', join(folder, 'policies.json')];
  const notify = ['--notify-url-file', join(folder, 'subscriber'), '--notify', 'problems', '--notify-format', 'json'];
  const child = spawn(
    process.execPath,
    [
      ...['--import', 'tsx', '--import', scaledTime, join(root, 'cli/main.ts')],
      ...[...verb, '--gms-url', url, ...files, '--ledger', join(folder, 'ledger.json'), '--json', json],
      ...notify,
    ],
    {
      cwd: root,
      env: { PATH: process.env['PATH'], HOME: folder, [variable]: written(clock), NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  running.add(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      said += part;
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    const cap = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`the run has not ended after ${capMillis / 1000} s; it said last:\n${lastLines(said)}`));
    }, capMillis);
    child.on('close', (status) => {
      clearTimeout(cap);
      running.delete(child);
      const report = existsSync(json) ? (JSON.parse(readFileSync(json, 'utf8') || '{}') as Report) : undefined;
      const entry = report?.policies?.[0];
      const published = subscriber.taken();
      resolve({ status, said, ...(published && { published }), ...(report && { report }), ...(entry && { entry }) });
    });
  });
  return { child, ended };
}

const lastLines = (text: string): string => text.trim().split('\n').slice(-5).join('\n');
