import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { parseArguments } from '../../operations-service/arguments.ts';
import { startOperationsService } from '../../operations-service/server.ts';
import { programs } from '../../programs.ts';
import type { Finished } from '../processes.ts';

/** `npm run operations-service` as a process of its own. */

/** @param finished the test's own hook: concurrent tests cannot share a global one */
function run(
  finished: Finished,
  ...argv: string[]
): {
  child: ChildProcess;
  output: () => string;
  errors: () => string;
  ended: Promise<number | null>;
} {
  const child = spawn(process.execPath, [programs['operations-service'], ...argv]);
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  finished(() => void child.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => child.once('close', (status) => resolve(status)));
  return { child, output: () => output, errors: () => errors, ended };
}

/** Waits until the greeting is complete. */
async function greeting({ child, output, ended }: ReturnType<typeof run>): Promise<string> {
  while (!output().includes('Ctrl-C ends it.')) {
    const more = new Promise((resolve) => child.stdout?.once('data', resolve));
    const status = await Promise.race([more, ended]);
    if (status === null || typeof status === 'number') throw new Error(`it ended with ${status}`);
  }
  return output();
}

test.concurrent.for(['SIGINT', 'SIGTERM'] as const)(
  'it tells its address and token file, answers, and ends on %s',
  async (signal, { onTestFinished: finished }) => {
    const service = run(finished, '--seed', '3', '--rows', '1000', '--profile', 'newest', '--fault', 'comma');
    const said = await greeting(service);
    expect(said).toContain('profile     newest: ');
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? '';
    const tokenFile = /token file +(\S+)/.exec(said)?.[1] ?? '';
    expect(basename(tokenFile)).toContain('token');
    expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
    const token = readFileSync(tokenFile, 'utf8').trim();
    expect(said).not.toContain(token);

    const command = said.slice(said.indexOf('curl'), said.indexOf('What it has'));
    const response = await fetch(`${url}/operations?action=truncateTimeseriesAspect`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: /-d '([^']*)'/.exec(command)?.[1] ?? '',
    });
    expect(((await response.json()) as { value: string }).value).toMatch(/^Delete \d+ out of 409 rows \(\d+,\d\d%\)/);

    service.child.kill(signal);
    expect(await service.ended).toBe(0);
    expect(existsSync(tokenFile)).toBe(false);
  },
);

/** What the command line prints without starting a server. */
test.each<[argv: string[], sentence: string]>([
  [['--port', 'abc'], "option '--port <number>' argument 'abc' is invalid. It must be a whole number from 0 to 65535."],
  [
    ['--port', '70000'],
    "option '--port <number>' argument '70000' is invalid. It must be a whole number from 0 to 65535.",
  ],
  [['--profile', 'latest'], "option '--profile <name>' argument 'latest' is invalid. Known are specification, "],
  [['--rows', '0'], "option '--rows <number>' argument '0' is invalid. It must be a whole number from 1 to 20000000."],
  [['--prot', '1'], "unknown option '--prot'"],
  [['8080'], 'too many arguments'],
  [['--prefix', 'A b'], "option '--prefix <text>' argument 'A b' is invalid. It takes lower-case letters"],
])('%j is refused in one sentence', (argv, sentence) => {
  let said = '';
  const say = (message: string) => {
    said += message;
  };
  expect(() => parseArguments(argv, say)).toThrow(CommanderError);
  expect(said.startsWith(sentence)).toBe(true);
  expect(said.trim().split('\n').length).toBeLessThanOrEqual(2);
});

test('a fault that takes another value is refused in one sentence', () => {
  expect(() => startOperationsService({ faults: ['abort-at=1.5'] })).toThrow(
    /^Fault abort-at takes a number from 0 to 1, as abort-at=SHARE \(got 1\.5\)$/,
  );
});

test.concurrent.for<[argv: string[], sentence: string]>([
  [['--port', 'abc'], "option '--port <number>' argument 'abc' is invalid. It must be a whole number from 0 to 65535."],
  [['--engine', 'http://127.0.0.1:9'], 'No search engine answers at 127.0.0.1:9'],
])('%j: one sentence, status 2', async ([argv, sentence], { onTestFinished: finished }) => {
  const { ended, output, errors } = run(finished, ...argv);
  expect(await ended).toBe(2);
  expect(errors().startsWith(sentence)).toBe(true);
  expect(errors().trim().split('\n').length).toBeLessThanOrEqual(2);
  expect(output()).toBe('');
});

test.each([
  ['0.13', '0.13.2-1.1'],
  ['1.2', '1.2-1.5'],
])('--profile %s is short for %s', (short, profile) => {
  expect(parseArguments(['--profile', short])).toMatchObject({ profile });
});

test.concurrent('a port that is taken: one sentence, status 2', async ({ onTestFinished: finished }) => {
  const other = await startOperationsService({ indices: [] });
  finished(() => other.close());
  const { ended, errors } = run(finished, '--port', new URL(other.url).port);
  expect(await ended).toBe(2);
  expect(errors()).toBe('The port cannot be used (EADDRINUSE): choose another with --port, or leave it out.\n');
});

test.concurrent('--help lists profiles and faults', async ({ onTestFinished: finished }) => {
  const { ended, output } = run(finished, '--help');
  expect(await ended).toBe(0);
  for (const name of ['postgres', '1.2-1.5', 'abort-at=SHARE', 'reset[=SCOPE]']) expect(output()).toContain(name);
});
