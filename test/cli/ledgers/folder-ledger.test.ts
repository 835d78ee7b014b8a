import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { folderLedger } from '../../../cli/ledgers/folder-ledger.ts';
import { programs } from '../../programs.ts';
import { type LedgerStore, ledgerContract, runsContract } from '../../support/ledger-contract.ts';
import { anIdle, aSending } from '../../support/records.ts';

const root = mkdtempSync(join(tmpdir(), 'folder-ledger-'));
let folders = 0;
const freshFolder = () => join(root, `${++folders}`);

afterAll(() => {
  chmodSync(root, 0o700);
  rmSync(root, { recursive: true });
});

const idle = (index: string, revision: number) => anIdle({ index, revision });

/** As another process would open it. */
function open(folder: string) {
  const ledger = folderLedger(folder);
  ledger.prepare();
  return ledger;
}

function fresh() {
  const folder = freshFolder();
  return { folder, ledger: open(folder) };
}

const emptyStore = async (): Promise<LedgerStore> => {
  const folder = freshFolder();
  return {
    ledger: () => open(folder),
    async plant(index, record) {
      open(folder);
      const { revision = 0 } = record as { revision?: number };
      writeFileSync(join(folder, `${index}@${revision}.json`), JSON.stringify(record));
    },
  };
};
ledgerContract('the folder', emptyStore);
runsContract('the folder', emptyStore);

it('keeps the names of the last hundred revisions, and removes the others', async () => {
  const { folder, ledger } = fresh();
  for (let revision = 1; revision <= 130; revision++) expect(await ledger.replace(idle('a', revision))).toBe(true);
  expect(readdirSync(folder)).toHaveLength(100);
  expect(await ledger.read('a')).toEqual(idle('a', 130));
  expect(await ledger.replace(aSending({ index: 'a', revision: 40 }))).toBe(false);
});

it.skipIf(process.getuid?.() !== 0)('gives what root writes to the owner of the folder around it', async () => {
  const around = freshFolder();
  mkdirSync(around);
  execFileSync('chown', ['12345', around]);
  const folder = join(around, 'ledger');
  const ledger = open(folder);
  await ledger.replace(idle('a', 1));
  await ledger.runs.replaceRuns('{}', undefined);
  const owners = ['', ...readdirSync(folder)].map((name) => statSync(join(folder, name)).uid);
  expect(owners).toEqual([12_345, 12_345, 12_345]);
});

it('does not wait for a pipe with the name of a record, and leaves that index alone', async () => {
  const { folder, ledger } = fresh();
  await ledger.replace(idle('a', 1));
  execFileSync('mkfifo', [join(folder, 'a@2.json')]);
  mkdirSync(join(folder, 'b@1.json'));
  await ledger.replace(idle('c', 1));
  const records = await ledger.list();
  expect(records.map(({ index, state }) => [index, state])).toEqual([
    ['a', 'unreadable'],
    ['b', 'unreadable'],
    ['c', 'idle'],
  ]);
  expect(await ledger.replace(idle('a', 2))).toBe(false);
});

it('passes over what other programs leave in it', async () => {
  const { folder, ledger } = fresh();
  mkdirSync(join(folder, 'lost+found'));
  expect(await ledger.list()).toEqual([]);
  await ledger.replace(idle('a', 1));
  for (const name of ['Thumbs.db', 'a@2 (1).json', 'a@02.json', 'a.b@2.json', '%zz@2.json', 'notes.txt'])
    writeFileSync(join(folder, name), '{}');
  expect(await open(folder).list()).toEqual([idle('a', 1)]);
});

it('reads names that a file system could not hold as they are', async () => {
  const { ledger } = fresh();
  await ledger.replace(idle('../a/b@7.json', 1));
  expect((await ledger.list()).map(({ index }) => index)).toEqual(['../a/b@7.json']);
});

it('takes only a folder that does not exist for an empty ledger', async () => {
  const folder = freshFolder();
  expect(folderLedger(folder).exists()).toBe(false);
  expect(await folderLedger(folder).list()).toEqual([]);
  writeFileSync(folder, '');
  await expect(folderLedger(folder).list()).rejects.toThrow('it is a file, and a ledger is a folder');
  const link = `${folder}-link`;
  symlinkSync(join(folder, '..', 'nowhere'), link);
  await expect(folderLedger(link).list()).rejects.toThrow('the target of its link, does not exist');
  expect(() => folderLedger(link).prepare()).toThrow('or the target of its link, does not exist');
});

it('that goes in the middle of a run is no empty ledger', async () => {
  const { folder, ledger } = fresh();
  await ledger.replace(idle('a', 1));
  rmSync(folder, { recursive: true });
  await expect(ledger.list()).rejects.toThrow(/^The ledger \S+ has disappeared: is its volume still mounted\?$/);
  await expect(ledger.replace(idle('a', 1))).rejects.toThrow('has disappeared');
});

it('that a person named is made only where its parent is; its default place is made with all of them', async () => {
  const deep = join(freshFolder(), 'state', 'ledger');
  const named = folderLedger(deep, true);
  await expect(named.list()).rejects.toThrow(`The ledger ${deep} cannot be read: its parent folder`);
  expect(() => named.prepare()).toThrow('mount the volume, or make that folder.');
  folderLedger(deep).prepare();
  named.prepare();
  expect(named.exists()).toBe(true);
  await named.replace(idle('a', 1));
  expect([deep, join(deep, 'a@1.json')].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
});

const processes: ChildProcess[] = [];
afterAll(() => {
  for (const one of processes) one.kill('SIGKILL');
});

/** A process that increments one counter in the ledger `times` times, and reports each write that it won. */
function writer(folder: string, times: number): { child: ChildProcess; won: number[]; ended: Promise<void> } {
  const child = fork(programs['ledger-writer'], [`${times}`, folder]);
  processes.push(child);
  const won: number[] = [];
  child.on('message', (revision) => won.push(revision as number));
  return { child, won, ended: new Promise((resolve) => child.on('exit', () => resolve())) };
}

it('gives every revision to exactly one of six processes, of which some are killed and some stopped', async () => {
  const folder = freshFolder();
  folderLedger(folder).prepare();
  const writers = Array.from({ length: 6 }, () => writer(folder, 20));
  // Whenever it happens: each is somewhere between reading and writing.
  await new Promise((resolve) => setTimeout(resolve, 1200));
  const [killed, stopped, ...others] = writers as [(typeof writers)[0], (typeof writers)[0], ...typeof writers];
  killed.child.kill('SIGKILL');
  stopped.child.kill('SIGSTOP');
  await Promise.all(others.map(({ ended }) => ended));
  stopped.child.kill('SIGCONT');
  await Promise.all(writers.map(({ ended }) => ended));
  const won = writers.flatMap(({ won: revisions }) => revisions);
  expect(new Set(won).size).toBe(won.length);
  for (const one of [stopped, ...others]) expect(one.won).toHaveLength(20);
  // What the killed one had stored without being able to say so is all that is missing.
  const { revision = 0 } = ((await folderLedger(folder).read('counter')) ?? {}) as { revision?: number };
  expect(revision - won.length).toBeGreaterThanOrEqual(0);
  expect(revision - won.length).toBeLessThanOrEqual(1);
}, 60_000);
