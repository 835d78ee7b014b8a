import { describe, expect, test } from 'vitest';
import { type Ownership, ownership } from '../../../lambda/ledger/ownership.ts';
import type { StoredRecord } from '../../../lambda/ledger/record.ts';
import type { DecidedIndex } from '../../../lambda/model/report-schema.ts';
import { attemptFacts, entryOf, resolvedEntry, watchedEntry } from '../../../lambda/run/entries.ts';
import {
  aLastVerdict,
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aReindex,
  aRun,
  aRunning,
  aServer,
  aVerdict,
} from '../../support/records.ts';
import { aRunState } from '../../support/states.ts';

/** Entries, made from what a record says, for `run-1`. */

const now = 3_000_000;
const other = { runId: 'run-0', runStartMillis: 800_000 };
const others = anAttempt(other);
const enforcing = aRunState([], { ...aRun, server: aServer });
const from = { index: anIndex, facts: { entityType: 'dataset', aspect: 'operation', owner: 'team-a' } };
const factsOf = (record: StoredRecord) => {
  const owned = ownership(record, enforcing) as Exclude<Ownership, { kind: 'free' }>;
  return entryOf(from, owned, enforcing, now, true).facts;
};

describe('the entry of an index', () => {
  test('says what was sent, counted and decided, and by which run', () => {
    const record = aQuarantined({
      unreported: true,
      attempt: anAttempt({ ...other, policyCutoffMillis: 600_000 }),
      taskId: 'n:7',
    });
    expect(factsOf(record)).toMatchObject({
      ...{ owner: 'team-a', cutoffMillis: 500_000, policyCutoffMillis: 600_000, taskId: 'n:7', rowsToDelete: 60 },
      ...{ rowsMissing: 30, rowsDeleted: 60, decidedBy: 'run-0', decidedAt: '1970-01-01T00:15:00.000Z', resumed: true },
    });
  });

  test('says nothing of a later truncation’s attempt', () => {
    const record = anIdle({ unreported: true, lastVerdict: aLastVerdict(), attempt: anAttempt({ runId: 'run-5' }) });
    expect(factsOf(record)).not.toHaveProperty('cutoffMillis');
  });

  test.each<[DecidedIndex['outcome'], object]>([
    ['truncated', { kind: 'verified' }],
    ['incomplete', { kind: 'remains' }],
    ['rows-missing', { kind: 'missing', expected: 40, found: 10 }],
    ['unknown', { kind: 'unproven' }],
    ['failed', { kind: 'unchanged' }],
    ['not-started', { kind: 'stopped', by: 'run-time' }],
  ])('whose cause cannot be read has that of its outcome: %s', (outcome, cause) => {
    const verdict = aVerdict({ outcome: outcome as 'unknown', cause: undefined, rowsMissing: 30 });
    const record = aQuarantined({ unreported: true, lastVerdict: aLastVerdict({ verdict }) });
    expect(factsOf(record)).toMatchObject({ outcome, cause });
  });
});

test('a truncation whose record holds another by now, after an older release, is superseded', () => {
  const { watch } = watchedEntry(from, aRunning({ attempt: aReindex() }), now);
  const lastRelease = { decided: { ...other, atMillis: 5 }, release: {} };
  const resolved = resolvedEntry(from, watch, aRunning({ attempt: others, lastRelease }), enforcing, now);
  expect(resolved.facts).toMatchObject({ outcome: 'unknown', cause: { kind: 'gone', what: 'superseded' } });
});

test('an attempt is shown as it was announced, and as what it turned out to be', () => {
  const baseline = { ...anAttempt().baseline, indexName: 'operation_1' };
  expect(attemptFacts(anAttempt({ announcesReindex: true, baseline }))).toEqual({
    ...{ entityType: 'dataset', aspect: 'operation', retentionDays: 30, cutoffMillis: 500_000 },
    ...{ policyCutoffMillis: undefined, strategy: 'reindex', reindexes: false, rowsTotal: 100, rowsToDelete: 60 },
    ...{ indexName: 'operation_1' },
  });
});
