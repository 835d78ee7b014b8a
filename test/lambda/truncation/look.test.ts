import { describe, expect, test } from 'vitest';
import type { ServerError } from '../../../lambda/facts/server-error.ts';
import type { Judged, LedgerRecord } from '../../../lambda/ledger/record.ts';
import { OperationsError } from '../../../lambda/operations/operations.ts';
import { aJudged, aLastVerdict, anAttempt, anIdle, aRun, aRunning } from '../../support/records.ts';
import { type Found, lookedAt } from './looking.ts';

/** One look at the end of a run: what closes a truncation that is too old to wait for (rule 10). */

const hour = 3_600_000;
const sent = anAttempt().sendingSince;
const end = sent + 20 * hour;

type Given = Partial<Found>;
const running = { kind: 'found', completed: false, counters: { deleted: 5, total: 60 } } as const;
const failing =
  (kind: ServerError['kind'], operation: ServerError['operation'] = 'dry-run') =>
  () => {
    throw new OperationsError({ kind, operation });
  };

async function looked(given: Given) {
  const usual = { status: running, left: 60, now: end, runStart: sent + 1, isOver: true };
  const { looked, stored } = await lookedAt({ ...usual, ...given });
  if (looked.kind !== 'settled') return looked.kind;
  const { decision, lastVerdict } = stored as Judged;
  return lastVerdict && decision
    ? `${lastVerdict.verdict.outcome} ${lastVerdict.verdict.cause.kind}, to become ${decision.becomes}`
    : `${stored.state}${lastVerdict ? `, ${lastVerdict.runId}` : ''}`;
}

/** Looks before this one have shown the same for half an hour. */
const stuck = { rowsToDelete: 60, rowsToKeep: 40, counter: 5, stillSince: end - hour / 2, stuckSince: end - hour / 2 };

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
      { watch: { ...stuck, rowsToKeep: 20 }, kept: 20 },
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
      { record: aRunning({ attempt: anAttempt({ reindexes: true }) }) },
      'unknown unsettled, to become quarantined',
    ],
    ['is watched on where it may have moved', { watch: stuck }, 'watching'],
    ['is watched on where its status shows more', { watch: { ...stuck, isStuck: true, counter: 4 } }, 'watching'],
    ['is watched on in the middle of the run', { isOver: false }, 'watching'],
    ['is watched on where it is younger', { now: end - 1 }, 'watching'],
    ['is watched on where the server is away', { left: failing('connect') }, 'watching'],
    ['is watched on where the function had no time left', { left: failing('aborted') }, 'watching'],
    ['is watched on where only its status cannot be read', { left: failing('unreadable', 'task-status') }, 'watching'],
  ])('and cannot be counted %s', async (_, given, expected) => {
    expect(await looked({ left: failing('unreadable'), ...given })).toBe(expected);
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
