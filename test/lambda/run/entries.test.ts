import { describe, expect, test } from 'vitest';
import type { DecidedFacts } from '../../../lambda/facts/report-schema.ts';
import { abandonAfterMillis, ownership } from '../../../lambda/ledger/ownership.ts';
import { parseRecord, type StoredRecord } from '../../../lambda/ledger/record.ts';
import { attemptFacts, entryOf, settledEntry, takenEntry, watchedEntry } from '../../../lambda/run/entries.ts';
import type { Entry, RunState } from '../../../lambda/run/state.ts';
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
const elsewhere = { server: 'http://elsewhere:1' };
const enforcing = aRunState([], { ...aRun, server: aServer });
const preview: RunState = { ...enforcing, mode: 'preview' };
const from = { index: anIndex, entry: { entityType: 'dataset', aspect: 'operation', owner: 'team-a' } };
const mine = aLastVerdict(aRun);
const unreadable = (record: object = {}) => parseRecord(anIndex, { ...record, lastSender: 5 });
const mark = { index: anIndex, revision: 1, decidedAtMillis: 900_000 };

/** Outcome, cause and mark of a decided entry; its phase otherwise. */
function shown(entry: Entry | undefined) {
  if (entry?.phase !== 'done') return entry?.phase;
  const { outcome, cause, server } = entry.entry;
  return { outcome, cause, server, mark: entry.mark };
}

describe('the entry of an index', () => {
  const entry = (record: StoredRecord, { state = enforcing, at = now, watches = true } = {}) =>
    shown(entryOf(from, ownership(record, state), state, at, watches));

  test.each<[string, StoredRecord]>([
    ['that is free', anIdle()],
    ['whose release is unreported, which a note reports', aReleased()],
  ])('%s has none', (_, record) => {
    expect(entry(record)).toBeUndefined();
  });

  test.each<[string, StoredRecord, object]>([
    [
      'with a verdict that is unreported',
      anIdle({ unreported: true, lastVerdict: aLastVerdict() }),
      { outcome: 'truncated', cause: { kind: 'verified' }, mark },
    ],
    [
      'with a loss that is unreported, as decided',
      aQuarantined({ unreported: true }),
      { outcome: 'rows-missing', cause: { kind: 'missing' }, mark },
    ],
    [
      'with that of another address',
      aQuarantined({ unreported: true, ...elsewhere }),
      { outcome: 'rows-missing', server: elsewhere.server, mark },
    ],
    [
      'that is quarantined',
      aQuarantined(),
      {
        outcome: 'quarantined',
        cause: { kind: 'quarantined', since: 900_000, outcome: 'rows-missing', rowsMissing: 30 },
        mark: undefined,
      },
    ],
    [
      'that is quarantined, of another address',
      aQuarantined(elsewhere),
      { outcome: 'quarantined', server: elsewhere.server },
    ],
    [
      'with a truncation of another address',
      aRunning({ ...elsewhere, attempt: others }),
      {
        outcome: 'still-running',
        cause: { kind: 'left-alone', why: 'address', address: elsewhere.server, since: 1_200_000 },
      },
    ],
    [
      'that cannot be read',
      unreadable(aRunning()),
      {
        outcome: 'unknown',
        cause: {
          kind: 'left-alone',
          why: 'unreadable',
          fields: ['lastSender'],
          releasableAt: judgeableAt + abandonAfterMillis,
        },
      },
    ],
    [
      'of which nothing can be read',
      unreadable(),
      { outcome: 'unknown', cause: { kind: 'left-alone', why: 'unreadable', releasableAt: undefined } },
    ],
  ])('%s says so', (_, record, expected) => {
    expect(entry(record)).toMatchObject(expected);
    expect(entry(record, { state: preview, watches: false })).toMatchObject(expected);
  });

  const open = { outcome: 'still-running', cause: { kind: 'open', since: 1_200_000, runId: 'run-0' } };
  test.each<[string, StoredRecord, object, unknown]>([
    ['of another run is watched', aRunning({ attempt: others }), {}, 'watched'],
    [
      'of another run is watched once it can no longer be sent',
      aSending({ attempt: others }),
      { at: judgeableAt },
      'watched',
    ],
    [
      'of another run is left alone while it may still be sent',
      aSending({ attempt: others }),
      { at: judgeableAt - 1 },
      { ...open, cause: { ...open.cause, why: 'another-run', judgeableAt } },
    ],
    ['of this run is watched, although it may still be sent', aSending(), { at: judgeableAt - 1 }, 'watched'],
    [
      'is left alone where the server cannot be asked',
      aRunning({ attempt: others }),
      { watches: false },
      { ...open, cause: { ...open.cause, why: 'another-run', releasableAt: undefined } },
    ],
    [
      'is left alone by a preview, which says from when on it may be released',
      aRunning({ attempt: others }),
      { state: preview, watches: false },
      { ...open, cause: { ...open.cause, why: 'preview', releasableAt: judgeableAt + abandonAfterMillis } },
    ],
  ])('with a truncation that %s', (_, record, how, expected) => {
    const found = entry(record, how);
    if (typeof expected === 'string') expect(found).toBe(expected);
    else expect(found).toMatchObject(expected as object);
  });

  test('says what was sent, counted and decided, and by which run', () => {
    const record = aQuarantined({
      unreported: true,
      attempt: anAttempt({ ...other, policyCutoffMillis: 600_000 }),
      taskId: 'n:7',
    });
    const found = entryOf(from, ownership(record, enforcing), enforcing, now, true);
    expect(found?.entry).toMatchObject({
      ...{ owner: 'team-a', cutoffMillis: 500_000, policyCutoffMillis: 600_000, taskId: 'n:7', rowsToDelete: 60 },
      ...{ rowsMissing: 30, rowsDeleted: 60, decidedBy: 'run-0', decidedAt: '1970-01-01T00:15:00.000Z', resumed: true },
    });
  });

  test('says nothing of a later truncation’s attempt', () => {
    const record = anIdle({ unreported: true, lastVerdict: aLastVerdict(), attempt: anAttempt({ runId: 'run-5' }) });
    expect(entryOf(from, ownership(record, enforcing), enforcing, now, true)?.entry).not.toHaveProperty('cutoffMillis');
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

  test.each<[string, StoredRecord | undefined]>([
    ['has no record', undefined],
    ['was last sent to by an earlier run', anIdle({ lastSender: other })],
  ])('%s goes on', (_, record) => {
    expect(taken(record)).toBeUndefined();
  });

  test.each<[string, StoredRecord, unknown]>([
    ['has its own truncation is watched', aRunning(), 'watched'],
    ['has its own verdict reports it', anIdle({ lastVerdict: mine }), { outcome: 'truncated', mark: undefined }],
    [
      'has its own verdict, unreported, marks it',
      anIdle({ unreported: true, lastVerdict: mine }),
      { outcome: 'truncated', mark },
    ],
    [
      'has a truncation of another run leaves it alone',
      aRunning({ attempt: others }),
      { outcome: 'still-running', cause: { why: 'another-run' } },
    ],
    [
      'was sent to by a later run is not started',
      anIdle({ lastSender: { runId: 'run-2', runStartMillis: 1_000_001 } }),
      { outcome: 'not-started', cause: { kind: 'gone', what: 'fenced', runId: 'run-2' } },
    ],
    [
      'was sent to by itself is not started',
      anIdle({ lastSender: aRun }),
      { outcome: 'not-started', cause: { what: 'fenced' } },
    ],
    [
      'has an unreported release waits for that',
      aReleased(),
      { outcome: 'not-started', cause: { kind: 'stopped', by: 'release' } },
    ],
    ['is quarantined says so', aQuarantined(), { outcome: 'quarantined' }],
    ['cannot be read is left alone', unreadable(), { outcome: 'unknown' }],
  ])('%s', (_, record, expected) => {
    if (typeof expected === 'string') expect(taken(record)).toBe(expected);
    else expect(taken(record)).toMatchObject(expected as object);
  });
});

describe('a truncation that a run has watched, and whose record', () => {
  const watched = watchedEntry(from, aRunning({ attempt: aReindex() }), now);
  const settled = (record: StoredRecord | undefined) => settledEntry(watched, record, enforcing, now);
  const later = { ...other, atMillis: 1_200_000 };

  test.each<[string, StoredRecord | undefined, object]>([
    [
      'has its verdict, whichever run gave it',
      anIdle({ lastVerdict: mine }),
      { outcome: 'truncated', mark: undefined },
    ],
    [
      'has its verdict, unreported',
      aQuarantined({ unreported: true, lastVerdict: { ...aQuarantined().lastVerdict, ...aRun } }),
      { outcome: 'rows-missing', mark },
    ],
    ['has been deleted', undefined, { outcome: 'unknown', cause: { kind: 'gone', what: 'deleted' } }],
    [
      'has been released since',
      aReleased({ lastRelease: { decided: later, release: {} } }),
      { outcome: 'unknown', cause: { kind: 'gone', what: 'released', at: 1_200_000 } },
    ],
    [
      'has the verdict of another',
      anIdle({ lastSender: other, lastVerdict: aLastVerdict() }),
      { outcome: 'unknown', cause: { kind: 'gone', what: 'superseded', runId: 'run-0' } },
    ],
    [
      'holds another by now, after an older release',
      aRunning({ attempt: others, lastRelease: { decided: { ...later, atMillis: 5 }, release: {} } }),
      { outcome: 'unknown', cause: { kind: 'gone', what: 'superseded' } },
    ],
    [
      'is of another address by now',
      aRunning(elsewhere),
      { outcome: 'still-running', cause: { kind: 'left-alone', why: 'address' } },
    ],
    [
      'can no longer be read',
      unreadable(aRunning()),
      { outcome: 'unknown', cause: { kind: 'left-alone', why: 'unreadable' } },
    ],
  ])('%s', (_, record, expected) => {
    expect(shown(settled(record))).toMatchObject(expected);
  });

  test('is gone still says that it reindexes, which opens the breaker', () => {
    expect(settled(undefined).entry.reindexes).toBe(true);
  });
});

test('an attempt is shown as it was announced, and as what it turned out to be', () => {
  const baseline = { ...anAttempt().baseline, indexName: 'operation_1', sizeMb: 7 };
  expect(attemptFacts(anAttempt({ announcesReindex: true, baseline }))).toEqual({
    ...{ entityType: 'dataset', aspect: 'operation', retentionDays: 30, cutoffMillis: 500_000 },
    ...{ policyCutoffMillis: undefined, strategy: 'reindex', reindexes: false, rowsTotal: 100, rowsToDelete: 60 },
    ...{ indexName: 'operation_1', sizeBeforeMb: 7 },
  });
});
