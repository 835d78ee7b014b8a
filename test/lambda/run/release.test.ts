import { describe, expect, test } from 'vitest';
import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import { type LedgerRecord, parseRecord, type StoredRecord } from '../../../lambda/ledger/record.ts';
import { release } from '../../../lambda/ledger/transitions.ts';
import { type Operations, OperationsError, type TaskStatus } from '../../../lambda/operations/operations.ts';
import { releaseIndex } from '../../../lambda/run/release.ts';
import {
  aKey,
  aLastVerdict,
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aReindex,
  aReleased,
  aRun,
  aRunning,
  aSending,
} from '../../support/records.ts';

/** One release: the record counted 60 rows to delete and 40 to keep, and may be judged from 2,000 s on. */

const in20h = anAttempt().judgeableAt + 20 * 3_600_000;

interface Given {
  record?: StoredRecord;
  /** Rows to delete that are left. */
  left?: number;
  /** Rows to keep that are there, or why nothing is counted. */
  kept?: number | 'unreadable' | 'connect';
  /** Old rows that arrive between the counts. */
  arrive?: number;
  status?: TaskStatus;
  now?: number;
  acceptMissing?: number;
  /** `written, not heard`: the write took place, and its answer was lost. */
  ledger?: 'taken' | 'away' | 'written, not heard';
}

async function released(given: Given) {
  const { record, left = 0, kept = 40, arrive = 0, status, now = in20h, acceptMissing, ledger: mood } = given;
  const ledger = memoryLedger();
  if (record) ledger.stored.set(anIndex, record.state === 'unreadable' ? record.stored : record);
  const replace = async (next: StoredRecord) => {
    if (mood === 'away') throw new LedgerError('the table is away');
    if (mood !== 'taken') await ledger.replace(next);
    return mood === undefined;
  };
  let counts = 0;
  const operations: Partial<Operations> = {
    async dryRun({ cutoffMillis }) {
      if (typeof kept !== 'number') throw new OperationsError({ kind: kept, operation: 'dry-run' });
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
  const asked = { key: aKey, record, run: aRun, acceptMissing };
  const result = await releaseIndex(asked, services, new AbortController().signal);
  const stored = await ledger.read(anIndex);
  if (result.kind === 'refused') return { ...result.note, stored: stored?.state };
  // What its note says is in the record.
  return { kind: 'granted', ...(result.record as LedgerRecord).lastRelease?.release, stored: stored?.state };
}

const refused = (why: string, more: object = {}) => ({ kind: 'not-released', why, ...more });
const granted = (more: object) => ({ kind: 'granted', stored: 'idle', ...more });
const reindexed = aQuarantined({ attempt: aReindex(), taskId: 'node:1' });
const elsewhere = { server: 'http://elsewhere:1' };
const running: TaskStatus = { kind: 'found', completed: false, counters: {} };
const completed: TaskStatus = { kind: 'found', completed: true, counters: {} };
const unreadable = (record: object) => parseRecord(anIndex, { ...record, lastSender: 5 });

describe('A release is refused', () => {
  test.each<[string, Given, object]>([
    ['of nothing', {}, refused('idle')],
    ['of an idle index', { record: anIdle({ lastVerdict: aLastVerdict() }) }, refused('idle')],
    [
      'of a verdict that is unreported, whatever is accepted',
      { record: aQuarantined({ unreported: true }), acceptMissing: 99 },
      refused('unreported'),
    ],
    [
      'of an idle index whose verdict is unreported',
      { record: anIdle({ unreported: true, lastVerdict: aLastVerdict() }) },
      refused('unreported'),
    ],
    ['of another run’s release that is unreported', { record: aReleased() }, refused('unreported')],
    [
      'of what is unresolved and younger than 20 hours',
      { record: aRunning(), now: in20h - 1, acceptMissing: 99 },
      refused('unresolved', { until: in20h }),
    ],
    [
      'of what cannot be read and is younger',
      { record: unreadable(aRunning()), now: in20h - 1, acceptMissing: 99 },
      refused('unresolved', { until: in20h }),
    ],
    ['where a row is missing', { record: aQuarantined(), kept: 39 }, refused('missing', { missing: 1 })],
    [
      'where one more is missing than accepted',
      { record: aQuarantined(), kept: 38, acceptMissing: 1 },
      refused('missing', { missing: 2, accepted: 1 }),
    ],
    [
      'where old rows that arrive fill the count: the greater number at the lower end counts',
      { record: aQuarantined(), arrive: 3 },
      refused('missing', { missing: 3 }),
    ],
    [
      'where it cannot be counted',
      { record: aQuarantined(), kept: 'unreadable' },
      refused('unknown', { unknown: 'uncounted', error: { kind: 'unreadable' } }),
    ],
    [
      'where the server is away',
      { record: aQuarantined(), kept: 'connect' },
      refused('unknown', { unknown: 'uncounted', error: { kind: 'connect' } }),
    ],
    ['of what cannot be read', { record: unreadable(aQuarantined()) }, refused('unknown', { unknown: 'unreadable' })],
    [
      'of a record of another address',
      { record: aQuarantined(elsewhere) },
      refused('unknown', { unknown: 'address', address: elsewhere.server }),
    ],
    [
      'of a reindex that is not in place',
      { record: reindexed, left: 30 },
      refused('unknown', { unknown: 'reindex', reindexed: true }),
    ],
    [
      'of a reindex that is not in place, although its task has ended',
      { record: reindexed, left: 30, status: completed },
      refused('unknown', { unknown: 'reindex' }),
    ],
    ['of a reindex that runs', { record: reindexed, status: running }, refused('unknown', { unknown: 'reindex' })],
    [
      'of a call without a task id that is not in place',
      { record: aSending({ attempt: aReindex() }), left: 60 },
      refused('unknown', { unknown: 'reindex' }),
    ],
    [
      'where another run was first',
      { record: aQuarantined(), ledger: 'taken' },
      refused('taken', { stored: 'quarantined' }),
    ],
    [
      'where the ledger is away',
      { record: aQuarantined(), ledger: 'away' },
      refused('ledger', { problem: 'the table is away' }),
    ],
  ])('%s', async (_, given, expected) => {
    const { stored, ...note } = await released(given);
    expect({ ...note, stored }).toMatchObject(expected);
    expect(stored).toBe(given.record?.state);
  });
});

describe('A release is granted', () => {
  test.each<[string, Given, object]>([
    ['of a quarantined index that is whole', { record: aQuarantined() }, granted({ missing: 0 })],
    [
      'of a quarantined index that is whole, at once',
      { record: aQuarantined(), now: 1_300_000 },
      granted({ missing: 0 }),
    ],
    [
      'where as many rows are missing as were accepted',
      { record: aQuarantined(), kept: 39, acceptMissing: 1 },
      granted({ missing: 1, accepted: 1 }),
    ],
    [
      'of a reindex that is in place and whole',
      { record: reindexed, left: 29, status: completed },
      granted({ missing: 0, reindexed: true }),
    ],
    ['of a reindex in place whose status is gone', { record: reindexed }, granted({ missing: 0, reindexed: true })],
    ['of a delete that is unresolved, after 20 hours', { record: aRunning(), left: 60 }, granted({ missing: 0 })],
    ['of a call without a task id, after 20 hours', { record: aSending() }, granted({ missing: 0 })],
    [
      'of what cannot be counted, where that was accepted',
      { record: aQuarantined(), kept: 'connect', acceptMissing: 0 },
      granted({ unknown: 'uncounted', accepted: 0 }),
    ],
    [
      'of a reindex that runs, where that was accepted',
      { record: reindexed, status: running, acceptMissing: 0 },
      granted({ unknown: 'reindex' }),
    ],
    [
      'of another address, where that was accepted',
      { record: aQuarantined(elsewhere), acceptMissing: 0 },
      granted({ unknown: 'address', address: elsewhere.server }),
    ],
    [
      'of what cannot be read, where that was accepted',
      { record: unreadable(aRunning()), acceptMissing: 0 },
      granted({ unknown: 'unreadable' }),
    ],
    [
      'of what cannot be read and has no age, at once',
      { record: unreadable({}), now: 1, acceptMissing: 0 },
      granted({ unknown: 'unreadable' }),
    ],
    [
      'where its write was not answered',
      { record: aQuarantined(), ledger: 'written, not heard' },
      granted({ missing: 0 }),
    ],
    [
      'once, where Plan is retried',
      { record: release(aQuarantined(), aKey, { missing: 7 }, { ...aRun, atMillis: 1 }), kept: 'connect' },
      granted({ missing: 7 }),
    ],
  ])('%s', async (_, given, expected) => {
    expect(await released(given)).toMatchObject(expected);
  });
});
