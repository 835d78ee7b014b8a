import { spawn } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { folder } from '../cli/processes.ts';
import { programs } from '../programs.ts';

/** `npm run test:engine` where there is no engine to test against. */

function testEngine(path: string, options: string[]): Promise<{ status: number | null; said: string }> {
  const args = [programs['test-engine'], ...options];
  const child = spawn(process.execPath, args, { env: { HOME: tmpdir(), PATH: path } });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += part));
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, said })));
}

test('without Java it says in one line that it is skipped, and ends with status 0', async () => {
  const { at } = folder();
  symlinkSync(process.execPath, at('node'));
  expect(await testEngine(at('.'), ['--engine', 'elasticsearch-7'])).toEqual({
    status: 0,
    said: 'The tests against a real search engine are skipped: there is no Java here.\n',
  });
});
