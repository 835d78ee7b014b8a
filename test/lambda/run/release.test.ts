import { describe, expect, test } from 'vitest';
import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import type { Judged, LedgerRecord } from '../../../lambda/ledger/record.ts';
import { release } from '../../../lambda/ledger/transitions.ts';
import { type Operations, OperationsError, type TaskStatus } from '../../../lambda/operations/operations.ts';
import { releaseIndex } from '../../../lambda/run/release.ts';
import {
  aJudged,
  aKey,
  aLastVerdict,
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aRun,
  aRunning,
  aSending,
} from '../../support/records.ts';

/** A release, state by state (design §4): the record counted 40 rows to keep, and may be judged from 2,000 s on. */

const day20h = 2_000_000 + 20 * 3_600_000;
const window = { afterMillis: 1, untilMillis: 2, rows: 10, countedAtMillis: 3 };

interface Given {
  record?: LedgerRecord;
  /** Rows below its window, at the second count of its lower end. */
  below?: number;
  /** Rows in its window now. */
  rows?: number | 'uncountable' | 'away';
  status?: TaskStatus;
  now?: number;
  acceptMissing?: number;
  /** `written, not heard`: the write took place, its answer was lost, and another writer's mark follows. */
  ledger?: 'taken' | 'away' | 'written, not heard';
}

async function released({ record, rows = 40, below = 0, status, now = day20h, acceptMissing, ledger: mood }: Given) {
  let counts = 0;
  const ledger = memoryLedger();
  if (record) ledger.stored.set(anIndex, record);
  const replace =
    mood === 'taken'
      ? async () => false
      : mood === 'away'
        ? async () => {
            throw new LedgerError('the table is away');
          }
        : mood === 'written, not heard'
          ? async (next: LedgerRecord) => {
              await ledger.replace(next);
              return false;
            }
          : ledger.replace;
  const operations: Partial<Operations> = {
    async dryRun({ cutoffMillis }) {
      if (typeof rows !== 'number') {
        throw new OperationsError({ kind: rows === 'away' ? 'connect' : 'unreadable', operation: 'dry-run' });
      }
      const isEnd = cutoffMillis === 1_000_000 || cutoffMillis === window.untilMillis;
      counts++;
      return { rowsToDelete: isEnd ? rows : counts > 1 ? below : 0, rowsTotal: rows, deletesInPlace: true };
    },
    async taskStatus() {
      return status ?? { kind: 'vanished' };
    },
  };
  const services = {
    ledger: { ...ledger, replace },
    operations: operations as Operations,
    clock: { now: () => now, monotonic: () => now, sleep: async () => {} },
    log: { info: () => {}, warn: () => {}, error: () => {} },
  };
  const asked = { key: aKey, record, run: aRun, acceptMissing };
  const result = await releaseIndex(asked, services, new AbortController().signal);
  const stored = (await ledger.read(anIndex)) as LedgerRecord | undefined;
  const more = { state: stored?.state, window: stored?.lastVerdict?.window };
  if (result.kind === 'note') return { ...result.note, ...more };
  // What its note says is in the record.
  return { kind: 'released', ...(result.record as Judged).lastRelease?.release, ...more };
}

const aCopy = anAttempt({ reindexes: true });
const completed: TaskStatus = { kind: 'found', completed: true, counters: {} };
const running: TaskStatus = { kind: 'found', completed: false, counters: {} };

describe('A release', () => {
  test.each<[string, Given, object]>([
    ['of nothing has nothing to release', {}, { kind: 'nothing-to-release' }],
    [
      'of an idle index drops its window',
      { record: anIdle({ lastVerdict: aLastVerdict({ window }) }) },
      { kind: 'nothing-to-release', state: 'idle', window: undefined },
    ],
    [
      'of an idle index that another run has just written is told',
      { record: anIdle({ lastVerdict: aLastVerdict({ window }) }), ledger: 'taken' },
      { kind: 'not-released', why: 'taken' },
    ],
    [
      'of an idle index reads again where its write was not answered',
      { record: anIdle({ lastVerdict: aLastVerdict({ window }) }), ledger: 'written, not heard' },
      { kind: 'nothing-to-release', state: 'idle', window: undefined },
    ],
    [
      'of a quarantined index reads again where its write was not answered',
      { record: aQuarantined(), ledger: 'written, not heard' },
      { kind: 'released', rowsMissing: 0, state: 'judged' },
    ],
    // Quarantined
    [
      'opens a quarantined index that is whole',
      { record: aQuarantined() },
      { kind: 'released', rowsMissing: 0, state: 'judged' },
    ],
    [
      'opens no index of which a row is missing',
      { record: aQuarantined(), rows: 39 },
      { kind: 'not-released', why: 'rows-missing', rowsMissing: 1, state: 'quarantined' },
    ],
    [
      'opens none while old rows come in: the lower end of its window is counted twice, and the greater number counts',
      { record: aQuarantined(), below: 3 },
      { kind: 'not-released', why: 'rows-missing', rowsMissing: 3 },
    ],
    [
      'opens an index of which as many rows are missing as were accepted',
      { record: aQuarantined(), rows: 39, acceptMissing: 1 },
      { kind: 'released', rowsMissing: 1 },
    ],
    [
      'opens none of which one more is missing',
      { record: aQuarantined(), rows: 38, acceptMissing: 1 },
      { kind: 'not-released', why: 'rows-missing', rowsMissing: 2 },
    ],
    [
      'of a judged index does what it would do to what that is to become',
      { record: aJudged(), rows: 39, acceptMissing: 1 },
      { kind: 'released', rowsMissing: 1, state: 'judged' },
    ],
    [
      'of a judged index that is to become idle has nothing to release',
      { record: aJudged({ decision: { ...aJudged().decision, becomes: 'idle' } }) },
      { kind: 'nothing-to-release', state: 'judged' },
    ],
    [
      'finds its own release there, where Plan is retried',
      { record: release(aQuarantined(), aKey, { rowsMissing: 7 }, { ...aRun, atMillis: 1 }), rows: 'away' },
      { kind: 'released', rowsMissing: 7, state: 'judged' },
    ],
    [
      'of a record of another address counts here, says so, and needs that somebody accepts it',
      { record: aQuarantined({ server: 'http://elsewhere:1' }) },
      { kind: 'not-released', why: 'elsewhere', rowsMissing: 0, address: 'http://elsewhere:1', state: 'quarantined' },
    ],
    [
      'of a record of another address is granted where somebody accepts it',
      { record: aQuarantined({ server: 'http://elsewhere:1' }), acceptMissing: 0 },
      { kind: 'released', rowsMissing: 0, address: 'http://elsewhere:1', state: 'judged' },
    ],
    [
      'says where there was no truncation before the count',
      { record: aQuarantined({ attempt: undefined, counted: window }) },
      { kind: 'released', betweenRuns: true },
    ],
    [
      'counts the window of a loss between runs',
      { record: aQuarantined({ attempt: undefined, counted: window }), rows: 9 },
      { kind: 'not-released', rowsMissing: 1 },
    ],
    [
      'opens without a window only what somebody accepts',
      { record: aQuarantined({ attempt: undefined }) },
      { kind: 'not-released', why: 'uncounted' },
    ],
    [
      'of an unresolved copy that cannot be counted says that its task may still be copying',
      { record: aRunning({ attempt: aCopy }), rows: 'uncountable', status: running, acceptMissing: 1 },
      { kind: 'released', uncounted: true, running: true },
    ],
    [
      'says that it opened what could not be counted',
      { record: aQuarantined({ attempt: undefined }), acceptMissing: 1 },
      { kind: 'released', uncounted: true },
    ],
    [
      'of a record of another address that cannot be counted names that address',
      { record: aQuarantined({ server: 'http://elsewhere:1' }), rows: 'uncountable', acceptMissing: 1 },
      { kind: 'released', uncounted: true, address: 'http://elsewhere:1' },
    ],
    [
      'of a copy that lost rows is told, also where it is whole',
      {
        record: aQuarantined({
          attempt: aCopy,
          lastVerdict: aLastVerdict({
            verdict: { outcome: 'rows-missing', cause: { kind: 'missing', expected: 40, found: 1 }, reindexes: true },
          }),
        }),
        status: completed,
      },
      { kind: 'released', copied: true },
    ],
    [
      'opens no copy whose status says that it runs',
      { record: aQuarantined({ attempt: aCopy, taskId: 'node:1' }), status: running },
      { kind: 'not-released', why: 'copy' },
    ],
    [
      'opens that where somebody accepts it, and says that it runs',
      { record: aQuarantined({ attempt: aCopy, taskId: 'node:1' }), status: running, acceptMissing: 1 },
      { kind: 'released', running: true },
    ],
    // Unresolved
    [
      'leaves alone what is unresolved, until 20 hours after it may be judged',
      { record: aRunning(), now: day20h - 1 },
      { kind: 'not-released', why: 'unresolved', until: day20h, state: 'running' },
    ],
    ['opens a delete then', { record: aRunning() }, { kind: 'released', state: 'judged' }],
    ['opens a call without an answer then', { record: aSending() }, { kind: 'released', state: 'judged' }],
    [
      'opens no copy that nobody saw end',
      { record: aRunning({ attempt: aCopy }) },
      { kind: 'not-released', why: 'copy' },
    ],
    [
      'opens a copy that was seen to end',
      { record: aRunning({ attempt: aCopy }), status: completed },
      { kind: 'released', copied: true },
    ],
    [
      'opens a copy without a task only where somebody accepts it',
      { record: aSending({ attempt: aCopy }) },
      { kind: 'not-released', why: 'copy' },
    ],
    // What is away
    [
      'says that the server is away, whatever is accepted',
      { record: aQuarantined(), rows: 'away', acceptMissing: 9 },
      { kind: 'not-released', why: 'server', error: { kind: 'connect' }, state: 'quarantined' },
    ],
    [
      'opens what the server cannot count only where somebody accepts it',
      { record: aQuarantined(), rows: 'uncountable' },
      { kind: 'not-released', why: 'server', state: 'quarantined' },
    ],
    [
      'says so where it does',
      { record: aQuarantined(), rows: 'uncountable', acceptMissing: 9 },
      { kind: 'released', uncounted: true, state: 'judged' },
    ],
    [
      'says that the ledger is away',
      { record: aQuarantined(), ledger: 'away' },
      { kind: 'not-released', why: 'ledger', problem: 'the table is away' },
    ],
    [
      'says that another run was first',
      { record: aQuarantined(), ledger: 'taken' },
      { kind: 'not-released', why: 'taken', state: 'quarantined' },
    ],
  ])('%s', async (_, given, expected) => {
    expect(await released(given)).toMatchObject(expected);
  });
});
