import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Report } from '../../lambda/model/report-schema.ts';
import { programs } from '../programs.ts';
import { type Ended, writtenBy } from '../support/written.ts';

/** The command line as a process of its own, in a folder of its own, without anything from this environment. */

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
  const { output, ended } = writtenBy(child);
  const waiting = new Set<() => void>();
  child.stdout?.on('data', () => {
    for (const look of waiting) look();
  });
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

/** A folder that is removed after the test, and ways to put files into it. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), 'retention-test-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  const at = (name: string) => join(path, name);
  return {
    at,
    write(name: string, content: unknown): string {
      writeFileSync(at(name), typeof content === 'string' ? content : JSON.stringify(content));
      return at(name);
    },
    /** What is in its files, and in those of the folders below. */
    texts: () =>
      readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter((name) => statSync(at(name)).isFile())
        .map((name) => readFileSync(at(name), 'utf8')),
    report: (name: string) => JSON.parse(readFileSync(at(name), 'utf8')) as Report,
  };
}

export const outcomesOf = (report: Report): Record<string, string> =>
  Object.fromEntries(report.policies.map(({ entityType, aspect, outcome }) => [`${entityType}.${aspect}`, outcome]));
