import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { folderLedger } from '../../../cli/ledgers/folder-ledger.ts';
import { programs } from '../../programs.ts';
import { anIdle } from '../../support/records.ts';
import { operation } from '../here.ts';
import { folder } from '../processes.ts';

/** What stands in the place of a file and would be waited for without an end, or is not there at all. */

const instead: Array<[what: string, make: (path: string) => void]> = [
  ['a pipe', (path) => spawnSync('mkfifo', [path])],
  ['a device', (path) => symlinkSync('/dev/zero', path)],
  ['a folder', (path) => mkdirSync(path)],
  ['itself', (path) => symlinkSync(path, path)],
];

/** As a process of its own, which may take some seconds. */
const run = (args: readonly string[], { cwd, home }: { cwd?: string; home?: string } = {}) =>
  spawnSync(process.execPath, [programs.start, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: home ?? '/nonexistent' },
    encoding: 'utf8',
    timeout: 15_000,
  });

const checkout = new URL('../../../cli/start.mjs', import.meta.url).pathname;
const sentence = /^[^\n]+\.\n$/;

describe.each(instead)('%s in the place of', (_, make) => {
  test('the last run: status shows the records', async () => {
    const { at } = folder();
    const ledger = folderLedger(at('ledger'));
    await ledger.prepare();
    await ledger.replace(anIdle());
    make(at('ledger/.last-run.json'));
    const { stdout, stderr } = run(['status', '--ledger', at('ledger')]);
    expect([stderr, stdout]).toEqual(['', expect.stringMatching(/none is known[\s\S]*dataset\.operation/)]);
    // Not even that no run is known, where that cannot be read.
    expect(run(['status', '--runs', '--ledger', at('ledger')]).status).toBe(/cannot be read/.test(stdout) ? 2 : 0);
  });

  test('~/.datahubenv: one sentence', () => {
    const { at, write } = folder();
    make(at('.datahubenv'));
    const args = ['preview', '--policies', write('policies.json', [operation])];
    const { status, stderr } = run(args, { home: at('.') });
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^~\/\.datahubenv cannot be read[^\n]+\.\n$/)]);
  });

  test('a record: its index is left alone', async () => {
    const { at } = folder();
    const ledger = folderLedger(at('ledger'));
    await ledger.prepare();
    make(at('ledger/dataset_operationaspect_v1@1.json'));
    const { status, stdout, stderr } = run(['status', '--ledger', at('ledger')]);
    if (status === 0) expect(stdout).toContain('not readable');
    else expect([status, stderr]).toEqual([2, expect.stringMatching(sentence)]);
  });
});

describe('A program that is started', () => {
  test.each([checkout, programs.start])('in a folder that is gone says so: %s', (program) => {
    const { at } = folder();
    mkdirSync(at('gone'));
    const script = `cd "${at('gone')}" && rmdir "${at('gone')}" && exec "${process.execPath}" "${program}" status`;
    const { status, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^The folder in which .* is gone: [^\n]+\n$/)]);
    rmSync(at('gone'), { recursive: true, force: true });
  });

  test.each([checkout, programs.start])('in an older Node says so: %s', (program) => {
    const older = 'data:text/javascript,Object.defineProperty(process.versions, "node", { value: "18.19.1" })';
    const { status, stderr } = spawnSync(process.execPath, ['--import', older, program, 'status'], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([2, 'This program needs Node 20.6 or newer, and this is Node 18.19.1.\n']);
  });

  test.each([24, 40, 64])('with %i open files says so', (files) => {
    const script = `ulimit -n ${files}; exec "${process.execPath}" "${checkout}" --version`;
    const { status, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^The system lets .*: raise the limit [^\n]+\n$/)]);
  });
});
