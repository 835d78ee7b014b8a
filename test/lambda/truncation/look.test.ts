import { describe, expect, test } from 'vitest';
import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import type { ServerError } from '../../../lambda/facts/server-error.ts';
import type { Judged, LedgerRecord, Unresolved } from '../../../lambda/ledger/record.ts';
import { type Operations, OperationsError, type TaskStatus } from '../../../lambda/operations/operations.ts';
import { look } from '../../../lambda/truncation/look.ts';
import { optionalReads } from '../../../lambda/truncation/optional-reads.ts';
import { startWatch, type Watch } from '../../../lambda/truncation/watch.ts';
import { aJudged, aLastVerdict, anAttempt, anIdle, anIndex, aRun, aRunning } from '../../support/records.ts';

/** One look at the end of a run: what closes a truncation that is too old to wait for (rule 10). */

const hour = 3_600_000;
const sent = anAttempt().sendingSince;
const end = sent + 20 * hour;

interface Given {
  record?: Unresolved;
  watch?: Partial<Watch>;
  status?: TaskStatus;
  /** Rows to delete that are left, or why nothing is counted. */
  left?: number | ServerError;
  /** Rows that stay, as this look counts them. */
  kept?: number;
  runStart?: number;
  now?: number;
  isOver?: boolean;
  /** What the record is by the time of the verdict. */
  meanwhile?: LedgerRecord;
}

const running: TaskStatus = { kind: 'found', completed: false, counters: { deleted: 5, total: 60 } };
const unreadable: ServerError = { kind: 'unreadable', operation: 'dry-run' };

async function looked({ record = aRunning(), watch, status = running, left = 60, kept = 40, ...given }: Given) {
  const { runStart = sent + 1, now = end, isOver = true, meanwhile } = given;
  const ledger = memoryLedger();
  ledger.stored.set(anIndex, record);
  const operations: Partial<Operations> = {
    async dryRun({ cutoffMillis }) {
      if (meanwhile) ledger.stored.set(anIndex, meanwhile);
      if (typeof left !== 'number') throw new OperationsError(left);
      const isEnd = cutoffMillis !== record.attempt.fields.cutoffMillis;
      return { rowsToDelete: isEnd ? left + kept : left, rowsTotal: left + kept, deletesInPlace: true };
    },
    taskStatus: async () => status,
    indexSizes: async () => [],
  };
  const clock = { now: () => now, monotonic: () => now };
  const { signal } = new AbortController();
  const services = {
    operations: operations as Operations,
    reads: optionalReads(operations as Operations, {}, signal),
    ledger,
    clock,
    signal,
    run: { runId: 'run-9', runStartMillis: runStart },
    isOver: () => isOver,
  };
  const looked = await look(record, { ...startWatch(record, 0, 0), ...watch }, services);
  if (looked.kind !== 'settled') return looked.kind;
  const stored = ledger.stored.get(anIndex) as LedgerRecord;
  const { decision, lastVerdict } = stored as Judged;
  return lastVerdict && decision
    ? `${lastVerdict.verdict.outcome} ${lastVerdict.verdict.cause.kind}, to become ${decision.becomes}`
    : `${stored.state}${lastVerdict ? `, ${lastVerdict.runId}` : ''}`;
}

/** Looks before this one have shown the same for half an hour. */
const stuck = { rowsToDelete: 60, rowsKept: 40, counter: 5, stillSince: end - hour / 2, stuckSince: end - hour / 2 };

describe('At the end of a run, what has hung for 20 hours', () => {
  test.each<[string, Given, string]>([
    ['is closed by what is counted', { watch: stuck }, 'incomplete remains, to become idle'],
    ['is watched on where the run has begun before it', { watch: stuck, runStart: sent }, 'watching'],
    ['is watched on where the run ends sooner', { watch: stuck, now: end - 1 }, 'watching'],
    ['is watched on in the middle of the run', { watch: stuck, isOver: false }, 'watching'],
    ['is watched on where its clock was set back before the call', { watch: stuck, now: sent }, 'watching'],
    ['is watched on where its counter is higher', { watch: { ...stuck, counter: 4 } }, 'watching'],
    ['is watched on where fewer rows are left', { watch: stuck, left: 59 }, 'watching'],
    [
      'is watched on where it has moved less than ten minutes ago',
      { watch: { ...stuck, stuckSince: end - hour / 6 + 1 } },
      'watching',
    ],
    ['is watched on at the first look of a run', {}, 'watching'],
    ['accuses nobody where only its last look misses rows', { watch: stuck, kept: 20 }, 'watching'],
    [
      'accuses where the looks before it have missed them, too',
      { watch: { ...stuck, rowsKept: 20 }, kept: 20 },
      'rows-missing missing, to become quarantined',
    ],
  ])('%s', async (_, given, expected) => {
    expect(await looked(given)).toBe(expected);
  });

  test.each<[string, Given, string]>([
    ['is closed as unknown where this run has never counted it', {}, 'unknown unsettled, to become idle'],
    [
      'is closed as unknown where it was stuck before',
      { watch: { ...stuck, isStuck: true } },
      'unknown unsettled, to become idle',
    ],
    [
      'as a copy waits for a person',
      { record: aRunning({ attempt: anAttempt({ copies: true }) }) },
      'unknown unsettled, to become quarantined',
    ],
    ['is watched on where it may have moved', { watch: stuck }, 'watching'],
    ['is watched on where its status shows more', { watch: { ...stuck, isStuck: true, counter: 4 } }, 'watching'],
    ['is watched on in the middle of the run', { isOver: false }, 'watching'],
    ['is watched on where it is younger', { now: end - 1 }, 'watching'],
    ['is watched on where the server is away', { left: { kind: 'connect', operation: 'dry-run' } }, 'watching'],
    [
      'is watched on where the function had no time left',
      { left: { kind: 'aborted', operation: 'dry-run' } },
      'watching',
    ],
    [
      'is watched on where only its status cannot be read',
      { left: { kind: 'unreadable', operation: 'task-status' } },
      'watching',
    ],
  ])('and cannot be counted %s', async (_, given, expected) => {
    expect(await looked({ left: unreadable, ...given })).toBe(expected);
  });
});

describe('A verdict', () => {
  const ended: Given = {
    status: { kind: 'found', completed: true, runTimeMillis: 7000, counters: { deleted: 60 } },
    left: 0,
  };

  test('that another run has given meanwhile is the one that counts', async () => {
    const theirs = aJudged({ revision: 2, lastVerdict: aLastVerdict(aRun) });
    expect(await looked({ ...ended, meanwhile: theirs })).toBe('truncated verified, to become quarantined');
  });

  test.each<[string, LedgerRecord]>([
    ['of another truncation has taken its place', anIdle({ revision: 2, lastVerdict: aLastVerdict() })],
    ['is not there any more', anIdle({ revision: 2 })],
  ])('%s: the record is left as it is', async (_, meanwhile) => {
    expect(await looked({ ...ended, meanwhile })).toMatch(/^idle/);
  });
});
