import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onScreen } from '../../cli/outputs/screen/on-screen.ts';
import type { Output } from '../../cli/telling/output.ts';
import type { Report } from '../../lambda/facts/report-schema.ts';
import { programs } from '../programs.ts';

/** The command line as a process of its own, in a folder of its own, without anything from this environment. */

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface Started {
  process: ChildProcess;
  ended: Promise<Ended>;
  /** Resolves with the match as soon as standard output matches. */
  printed(pattern: RegExp): Promise<RegExpMatchArray>;
}

const root = new URL('../../', import.meta.url).pathname;

export function start(
  args: readonly string[],
  env: Record<string, string> = {},
  stdout: 'pipe' | number = 'pipe',
  program = programs.start,
): Started {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: tmpdir(), XDG_STATE_HOME: join(tmpdir(), 'not-used'), ...env },
    stdio: ['ignore', stdout, 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  const waiting = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      for (const look of waiting) look();
    });
  }
  const ended = new Promise<Ended>((resolve) => child.on('close', (status) => resolve({ status, ...output })));
  return {
    process: child,
    ended,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = output.stdout.match(pattern);
          if (!match) return;
          waiting.delete(look);
          resolve(match);
        };
        waiting.add(look);
        void ended.then(({ stdout, stderr }) => {
          if (waiting.has(look)) reject(new Error(`It ended without printing ${pattern}:\n${stdout}\n${stderr}`));
        });
        look();
      }),
  };
}

export const run = (args: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
  start(args, env).ended;

/** A test's own hook: with concurrent tests, the global hook may mistake another test for the current one. */
export type Finished = (cleanUp: () => void | Promise<void>) => void;

/** A folder that is removed after the test, and ways to put files into it. */
export function folder(finished: Finished) {
  const path = mkdtempSync(join(tmpdir(), 'retention-test-'));
  finished(() => rmSync(path, { recursive: true, force: true }));
  const at = (name: string) => join(path, name);
  return {
    at,
    write(name: string, content: unknown): string {
      writeFileSync(at(name), typeof content === 'string' ? content : JSON.stringify(content));
      return at(name);
    },
    report: (name: string) => JSON.parse(readFileSync(at(name), 'utf8')) as Report,
  };
}

export const outcomesOf = (report: Report): Record<string, string> =>
  Object.fromEntries(report.policies.map(({ entityType, aspect, outcome }) => [`${entityType}.${aspect}`, outcome]));

/** An output for a run or a survey in this process, and what has been written to it. */
export function page(): { output: Output; text(): string } {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  return { output: onScreen({ write }), text: () => written };
}
