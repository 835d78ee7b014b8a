import { describe, expect, test } from 'vitest';
import type { DecidedFacts } from '../../../lambda/facts/report-schema.ts';
import { type Ownership, ownership } from '../../../lambda/ledger/ownership.ts';
import { parseRecord, type StoredRecord } from '../../../lambda/ledger/record.ts';
import { attemptFacts, entryOf, resolvedEntry, takenEntry, watchedEntry } from '../../../lambda/run/entries.ts';
import type { Entry } from '../../../lambda/run/state.ts';
import {
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
  aServer,
  aVerdict,
} from '../../support/records.ts';
import { aRunState } from '../../support/states.ts';

/** Entries, made from what a record says, for `run-1`. */

const now = 3_000_000;
const { judgeableAt } = anAttempt();
const other = { runId: 'run-0', runStartMillis: 800_000 };
const others = anAttempt(other);
const enforcing = aRunState([], { ...aRun, server: aServer });
const from = { index: anIndex, facts: { entityType: 'dataset', aspect: 'operation', owner: 'team-a' } };
const mine = aLastVerdict(aRun);
const unreadable = (record: object = {}) => parseRecord(anIndex, { ...record, lastSender: 5 });
const mark = { index: anIndex, revision: 1, decidedAtMillis: 900_000 };

/** The entry of an index that is not free. */
const ofRecord = (record: StoredRecord, at = now) =>
  entryOf(from, ownership(record, enforcing) as Exclude<Ownership, { kind: 'free' }>, enforcing, at, true);

/** Outcome, cause and mark of a decided entry; its phase otherwise. */
function shown(entry: Entry | undefined) {
  if (entry?.phase !== 'done') return entry?.phase;
  const { outcome, cause, server } = entry.facts;
  return { outcome, cause, server, mark: entry.mark };
}

describe('the entry of an index', () => {
  const entry = (record: StoredRecord, at = now) => shown(ofRecord(record, at));

  test('if nothing can be read, may be released at once', () => {
    const leftAlone = { kind: 'left-alone', why: 'unreadable', releasableAt: undefined };
    expect(entry(unreadable())).toMatchObject({ outcome: 'unknown', cause: leftAlone });
  });

  test('with a call of another run is watched from the moment at which that can no longer be sent', () => {
    const sending = aSending({ attempt: others });
    expect(entry(sending, judgeableAt)).toBe('watched');
    expect(entry(sending, judgeableAt - 1)).toMatchObject({
      outcome: 'still-running',
      cause: { kind: 'open', since: 1_200_000, runId: 'run-0', why: 'another-run', judgeableAt },
    });
  });

  test('says what was sent, counted and decided, and by which run', () => {
    const record = aQuarantined({
      unreported: true,
      attempt: anAttempt({ ...other, policyCutoffMillis: 600_000 }),
      taskId: 'n:7',
    });
    expect(ofRecord(record).facts).toMatchObject({
      ...{ owner: 'team-a', cutoffMillis: 500_000, policyCutoffMillis: 600_000, taskId: 'n:7', rowsToDelete: 60 },
      ...{ rowsMissing: 30, rowsDeleted: 60, decidedBy: 'run-0', decidedAt: '1970-01-01T00:15:00.000Z', resumed: true },
    });
  });

  test('says nothing of a later truncation’s attempt', () => {
    const record = anIdle({ unreported: true, lastVerdict: aLastVerdict(), attempt: anAttempt({ runId: 'run-5' }) });
    expect(ofRecord(record).facts).not.toHaveProperty('cutoffMillis');
  });

  test.each<[DecidedFacts['outcome'], object]>([
    ['truncated', { kind: 'verified' }],
    ['incomplete', { kind: 'remains' }],
    ['rows-missing', { kind: 'missing', expected: 40, found: 10 }],
    ['unknown', { kind: 'unproven' }],
    ['failed', { kind: 'unchanged' }],
    ['not-started', { kind: 'stopped', by: 'run-time' }],
  ])('whose cause cannot be read has that of its outcome: %s', (outcome, cause) => {
    const verdict = aVerdict({ outcome: outcome as 'unknown', cause: undefined, rowsMissing: 30 });
    const record = aQuarantined({ unreported: true, lastVerdict: aLastVerdict({ verdict }) });
    expect(entry(record)).toMatchObject({ outcome, cause });
  });
});

describe('an approved truncation whose index', () => {
  const taken = (record: StoredRecord | undefined) =>
    shown(takenEntry(from, ownership(record, enforcing), enforcing, now));

  test.each<[string, StoredRecord, object]>([
    ['has its own verdict reports it', anIdle({ lastVerdict: mine }), { outcome: 'truncated', mark: undefined }],
    [
      'has its own verdict, unreported, marks it',
      anIdle({ unreported: true, lastVerdict: mine }),
      { outcome: 'truncated', mark },
    ],
    [
      'has an unreported release waits for that',
      aReleased(),
      { outcome: 'not-started', cause: { kind: 'stopped', by: 'release' } },
    ],
  ])('%s', (_, record, expected) => {
    expect(taken(record)).toMatchObject(expected);
  });
});

describe('a truncation that a run has watched, and whose record', () => {
  const watched = watchedEntry(from, aRunning({ attempt: aReindex() }), now);
  const resolved = (record: StoredRecord | undefined) => resolvedEntry(watched, watched.watch, record, enforcing, now);
  const releasedAt = (atMillis: number) => ({ lastRelease: { decided: { ...other, atMillis }, release: {} } });
  const gone = (what: string, more = {}) => ({ outcome: 'unknown', cause: { kind: 'gone', what, ...more } });

  test.each<[string, StoredRecord | undefined, object]>([
    ['has been released since', aReleased(releasedAt(1_200_000)), gone('released', { at: 1_200_000 })],
    [
      'has the verdict of another',
      anIdle({ lastSender: other, lastVerdict: aLastVerdict() }),
      gone('superseded', { runId: 'run-0' }),
    ],
    [
      'holds another by now, after an older release',
      aRunning({ attempt: others, ...releasedAt(5) }),
      gone('superseded'),
    ],
    [
      'can no longer be read',
      unreadable(aRunning()),
      { outcome: 'unknown', cause: { kind: 'left-alone', why: 'unreadable' } },
    ],
  ])('%s', (_, record, expected) => {
    expect(shown(resolved(record))).toMatchObject(expected);
  });

  test('is gone still says that it reindexes, which opens the breaker', () => {
    expect(resolved(undefined).facts.reindexes).toBe(true);
  });
});

test('an attempt is shown as it was announced, and as what it turned out to be', () => {
  const baseline = { ...anAttempt().baseline, indexName: 'operation_1' };
  expect(attemptFacts(anAttempt({ announcesReindex: true, baseline }))).toEqual({
    ...{ entityType: 'dataset', aspect: 'operation', retentionDays: 30, cutoffMillis: 500_000 },
    ...{ policyCutoffMillis: undefined, strategy: 'reindex', reindexes: false, rowsTotal: 100, rowsToDelete: 60 },
    ...{ indexName: 'operation_1' },
  });
});
