import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { folderLedger } from '../../../cli/ledgers/folder-ledger.ts';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import { anIdle } from '../../support/records.ts';

/** What a disk refuses, at the calls of the file system: a test cannot fill or remount a disk. */

const refusals = vi.hoisted(() => ({
  calls: {} as Record<string, string | undefined>,
  made: [] as string[],
  beforeLink: () => {},
}));
vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>();
  type Name = 'linkSync' | 'writeFileSync' | 'fsyncSync' | 'mkdirSync' | 'readdirSync';
  const troubled = (name: Name, syscall: string) => {
    const call = real[name] as (...args: unknown[]) => unknown;
    return (...args: unknown[]) => {
      const code = refusals.calls[syscall];
      refusals.made.push(syscall);
      if (syscall === 'link') refusals.beforeLink();
      // A full disk still makes empty files; and a repeated call finds what the first one did.
      if (code === 'ENOSPC' && args[1] === '') return call(...args);
      if (code === 'EEXIST') call(...args);
      if (code) throw Object.assign(new Error(`${code}: refused`), { code, syscall });
      return call(...args);
    };
  };
  return {
    ...real,
    linkSync: troubled('linkSync', 'link'),
    writeFileSync: troubled('writeFileSync', 'write'),
    fsyncSync: troubled('fsyncSync', 'fsync'),
    mkdirSync: troubled('mkdirSync', 'mkdir'),
    readdirSync: troubled('readdirSync', 'scandir'),
  };
});
afterEach(() => {
  refusals.calls = {};
  refusals.beforeLink = () => {};
});

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'ledger');
}

test.each<[string, Record<string, string>, RegExp]>([
  ['its disk is full', { write: 'ENOSPC' }, /^The ledger \S+ cannot be used: the disk is full; free some space\.$/],
  ['its disk can only be read', { mkdir: 'EROFS' }, /^The ledger \S+ cannot be used: .*read-only.*; .*--ledger\.$/],
  ['it may not be made', { mkdir: 'EACCES' }, /^The ledger \S+ cannot be used: permission denied; .*--ledger\.$/],
  [
    'it belongs to another user',
    { write: 'EACCES' },
    /cannot be used: permission denied; run as the user of the nightly .*chown -R.*another ledger\.$/,
  ],
  ['it is locked by its administrator', { write: 'EPERM' }, /: permission denied; run as the user .*another ledger\.$/],
  ['its file system has no hard links', { link: 'EPERM' }, /cannot be used: its file system has no hard links; name a/],
  [
    'an unusual file system says that otherwise',
    { link: 'ENOTSUP' },
    /its file system has no hard links; name a folder/,
  ],
])('Before anything is sent, a ledger says in one sentence that %s', (_, calls, sentence) => {
  const path = freshFolder();
  refusals.calls = calls;
  const prepare = () => folderLedger(path).prepare();
  expect(prepare).toThrow(LedgerError);
  expect(prepare).toThrow(sentence);
});

test('A folder above it that may not be entered is no empty ledger', async () => {
  const ledger = folderLedger(freshFolder());
  refusals.calls = { scandir: 'EACCES' };
  await expect(ledger.list()).rejects.toThrow(/^The ledger \S+ cannot be read: permission denied; .*chown/);
  await expect(ledger.read('a')).rejects.toThrow(LedgerError);
});

test('A name that was taken by its own first try, whose answer was lost, is stored', async () => {
  const path = freshFolder();
  const ledger = folderLedger(path);
  refusals.calls = { link: 'EEXIST', mkdir: 'EEXIST' };
  ledger.prepare();
  expect(await ledger.replace(anIdle())).toBe(true);
  expect(await ledger.read(anIdle().index)).toEqual(anIdle());
});

test('A record is on the disk before it has its name, and so is the name before it counts as stored', async () => {
  const ledger = folderLedger(freshFolder());
  ledger.prepare();
  refusals.made = [];
  await ledger.replace(anIdle());
  expect(refusals.made.filter((call) => call !== 'scandir')).toEqual(['write', 'fsync', 'link', 'fsync']);
});

test('A process that was stopped before its write, until its name was free again, has stored nothing', async () => {
  const path = freshFolder();
  const ledger = folderLedger(path);
  ledger.prepare();
  await ledger.replace(anIdle({ revision: 1 }));
  const [first = ''] = readdirSync(path);
  const latest = first.replace('@1.', '@102.');
  // What the others have done meanwhile.
  refusals.beforeLink = () => renameSync(join(path, first), join(path, latest));
  expect(await ledger.replace(anIdle({ revision: 2 }))).toBe(false);
  expect(readdirSync(path)).toEqual([latest]);
});

test('A disk that fills up in the middle of a run leaves the record before as it was', async () => {
  const path = freshFolder();
  const ledger = folderLedger(path);
  ledger.prepare();
  expect(await ledger.replace(anIdle({ revision: 1 }))).toBe(true);
  refusals.calls = { write: 'ENOSPC' };
  await expect(ledger.replace(anIdle({ revision: 2 }))).rejects.toThrow('the disk is full; free some space.');
  expect(await ledger.read(anIdle().index)).toMatchObject({ revision: 1 });
  refusals.calls = {};
  expect(await ledger.replace(anIdle({ revision: 2 }))).toBe(true);
  expect(readdirSync(path)).toHaveLength(2);
});
