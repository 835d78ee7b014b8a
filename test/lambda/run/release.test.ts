import { expect, test } from 'vitest';
import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import type { LedgerRecord, StoredRecord } from '../../../lambda/ledger/record.ts';
import { release } from '../../../lambda/ledger/transitions.ts';
import type { Operations, TaskStatus } from '../../../lambda/operations/operations.ts';
import { releaseIndex } from '../../../lambda/run/release.ts';
import { aKey, anAttempt, anIndex, aQuarantined, aReindex, aRun, aRunning } from '../../support/records.ts';

/**
 * What the transcripts of release/ do not show of one release. The record counted 60 rows to delete and 40 to keep, and
 * may be judged from 2,000 s on.
 */

const in20h = anAttempt().judgeableAt + 20 * 3_600_000;

interface Given {
  record?: StoredRecord;
  /** Rows to delete that are left. */
  left?: number;
  /** Rows to keep that are there. */
  kept?: number;
  /** Old rows that arrive between the counts. */
  arrive?: number;
  status?: TaskStatus;
  now?: number;
  /** `written, not heard`: the write took place, and its answer was lost. */
  ledger?: 'taken' | 'away' | 'written, not heard';
}

async function released(given: Given) {
  const { record, left = 0, kept = 40, arrive = 0, status, now = in20h, ledger: mood } = given;
  const ledger = memoryLedger();
  if (record) ledger.stored.set(anIndex, record);
  const replace = async (next: StoredRecord) => {
    if (mood === 'away') throw new LedgerError('the table is away');
    if (mood !== 'taken') await ledger.replace(next);
    return mood === undefined;
  };
  let counts = 0;
  const operations: Partial<Operations> = {
    async dryRun({ cutoffMillis }) {
      const isEnd = cutoffMillis === 1_000_000;
      const rowsToDelete = left + (isEnd ? kept : counts++ > 1 ? arrive : 0);
      return { rowsToDelete, rowsTotal: left + kept, deletesInPlace: true };
    },
    taskStatus: async () => status ?? { kind: 'vanished' },
  };
  const services = {
    ledger: { ...ledger, replace },
    operations: operations as Operations,
    clock: { now: () => now, monotonic: () => now, sleep: async () => {} },
    log: { info: () => {}, warn: () => {}, error: () => {} },
  };
  const result = await releaseIndex({ key: aKey, record, run: aRun }, services, new AbortController().signal);
  const stored = await ledger.read(anIndex);
  if (result.kind === 'refused') return { ...result.note, stored: stored?.state };
  // What its note says is in the record.
  return { kind: 'granted', ...(result.record as LedgerRecord).lastRelease?.release, stored: stored?.state };
}

const refused = (why: string, more: object = {}) => ({ kind: 'not-released', why, ...more });
const granted = (more: object) => ({ kind: 'granted', stored: 'idle', ...more });
const reindexed = aQuarantined({ attempt: aReindex(), taskId: 'node:1' });
const completed: TaskStatus = { kind: 'found', completed: true, counters: {} };
const before = in20h - 1;

test.each<[string, Given, object]>([
  ['of a delete a moment before it is 20 hours old', { record: aRunning(), now: before }, refused('unresolved')],
  [
    'where old rows that arrive fill the count: the greater number at the lower end counts',
    { record: aQuarantined(), arrive: 3 },
    refused('missing', { missing: 3 }),
  ],
  [
    'of a reindex of which half is left, although its task has ended',
    { record: reindexed, left: 30, status: completed },
    refused('unknown', { unknown: 'reindex' }),
  ],
  ['where another run was first', { record: aQuarantined(), ledger: 'taken' }, refused('taken')],
  [
    'where the ledger is away',
    { record: aQuarantined(), ledger: 'away' },
    refused('ledger', { problem: 'the table is away' }),
  ],
])('A release is refused %s', async (_, given, expected) => {
  const { stored, ...note } = await released(given);
  expect(note).toMatchObject(expected);
  expect(stored).toBe(given.record?.state);
});

test.each<[string, Given, object]>([
  ['of a delete that is 20 hours old', { record: aRunning(), left: 60 }, granted({ missing: 0 })],
  [
    'of a reindex of which less than half is left',
    { record: reindexed, left: 29, status: completed },
    granted({ missing: 0, reindexed: true }),
  ],
  [
    'where its write was not answered',
    { record: aQuarantined(), ledger: 'written, not heard' },
    granted({ missing: 0 }),
  ],
  [
    'once, where Plan is retried',
    { record: release(aQuarantined(), aKey, { missing: 7 }, { ...aRun, atMillis: 1 }), kept: 0 },
    granted({ missing: 7 }),
  ],
])('A release is granted %s', async (_, given, expected) => {
  expect(await released(given)).toMatchObject(expected);
});
