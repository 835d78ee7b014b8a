import { spawn } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { folder } from '../cli/processes.ts';
import { programs } from '../programs.ts';
import { writtenBy } from '../support/written.ts';

/** `npm run test:engine` where there is no engine to test against. */

test('without Java it says in one line that it is skipped, and ends with status 0', async () => {
  const { at } = folder();
  symlinkSync(process.execPath, at('node'));
  const args = [programs['test-engine'], '--engine', 'elasticsearch-7'];
  const child = spawn(process.execPath, args, { env: { HOME: tmpdir(), PATH: at('.') } });
  expect(await writtenBy(child).ended).toEqual({
    status: 0,
    stdout: '',
    stderr: 'The tests against a real search engine are skipped: there is no Java here.\n',
  });
});
