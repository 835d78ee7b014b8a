import { describe, expect, test } from 'vitest';
import type { Cause } from '../../../../lambda/facts/cause.ts';
import type { DecidedFacts } from '../../../../lambda/facts/report-schema.ts';
import {
  attemptFacts,
  done,
  endOf,
  foreignEntry,
  held,
  keyOf,
  policyFacts,
  quarantinedCause,
  watched,
  whereRowsAre,
} from '../../../../lambda/run/entries.ts';
import { resumeOwn } from '../../../../lambda/run/resume.ts';
import type { ApprovedEntry } from '../../../../lambda/run/state.ts';
import { aPolicy } from '../../../support/policies.ts';
import {
  anIdle,
  aQuarantined,
  aReserved,
  aRunning,
  aSending,
  aSentAttempt,
  aVerdict,
} from '../../../support/records.ts';
import { aRunState } from '../../../support/states.ts';

const now = 1_300_000;
const from = { index: 'i', entry: { entityType: 'dataset', aspect: 'operation', retentionDays: 90, owner: 'we' } };
const target: ApprovedEntry = {
  ...from,
  phase: 'approved',
  policy: aPolicy(),
  plan: { rowsToDelete: 1, strategy: 'reindex' },
};
const before = 'dataset_operationaspect_v1_1600000000000';
const after = 'dataset_operationaspect_v1_1700000000000';

describe('an entry', () => {
  test('that is decided again keeps its cause and facts', () => {
    expect(done(target, 'failed', { kind: 'run-error' }, { rowsTotal: 3 })).toStrictEqual({
      index: 'i',
      phase: 'done',
      entry: { ...from.entry, rowsTotal: 3, outcome: 'failed', cause: { kind: 'run-error' } },
    });
  });

  test('that is watched has the facts of its record and the time of its next look', () => {
    expect(watched(from, aRunning(), now, now + 5)).toStrictEqual({
      index: 'i',
      phase: 'watched',
      entry: { ...from.entry, ...attemptFacts(aRunning()) },
      watch: {
        attemptId: 'attempt-1',
        startedAt: 1_200_000,
        succeededAt: now,
        lastLookAt: now,
        nextLookAt: now + 5,
        looks: 0,
      },
    });
  });

  test('of a truncation has the facts of its record', () => {
    const baseline = { ...aSentAttempt().baseline, sizeMb: 7 };
    const known = aRunning({ attempt: { ...aRunning().attempt, policyCutoffMillis: 600_000, baseline } });
    expect(attemptFacts(known)).toStrictEqual({
      entityType: 'dataset',
      aspect: 'operation',
      retentionDays: 30,
      cutoffMillis: 500_000,
      policyCutoffMillis: 600_000,
      strategy: 'delete-by-query',
      rowsTotal: 100,
      rowsToDelete: 60,
      indexName: baseline.indexName,
      sizeBeforeMb: 7,
      taskId: 'node:1',
    });
    const { retentionDays: _, ...attempt } = aSentAttempt({ baseline: { rowsTotal: 100, rowsToDelete: 60 } });
    expect(attemptFacts(aSending({ attempt }))).toStrictEqual({
      entityType: 'dataset',
      aspect: 'operation',
      cutoffMillis: 500_000,
      strategy: 'delete-by-query',
      rowsTotal: 100,
      rowsToDelete: 60,
    });
  });

  test('of a policy has its owner if there is one', () => {
    const names = { entityType: 'dataset', aspect: 'operation', retentionDays: 30 };
    expect(policyFacts(aPolicy())).toStrictEqual(names);
    expect(policyFacts(aPolicy({ owner: 'we', note: 'why' }))).toStrictEqual({ ...names, owner: 'we', note: 'why' });
  });

  test('has its key in the ledger, and the run its end', () => {
    const state = aRunState([]);
    expect(keyOf(target, state)).toStrictEqual({
      index: 'i',
      entityType: 'dataset',
      aspect: 'operation',
      server: state.server,
    });
    expect(endOf(state, { maxRunHours: 2 } as never)).toBe(Date.parse(state.startedAt) + 7_200_000);
  });
});

describe('an index that is not free', () => {
  test('has the run that holds it, and until when', () => {
    expect(held(aSending(), now)).toStrictEqual({
      kind: 'held',
      state: 'sending',
      runId: 'run-1',
      until: 2_000_000,
    });
    expect(held(aReserved(), 2_000_000)).toStrictEqual({ kind: 'held', state: 'reserved', runId: 'run-1' });
  });

  test('has a run whose name is cut where a record holds a longer one than a run has', () => {
    const { attempt, ...record } = aSending();
    const cause = held({ ...record, attempt: { ...attempt, runId: 'r'.repeat(5000) } }, now);
    expect(cause).toHaveProperty('runId', `${'r'.repeat(237)}…`);
  });

  test.each(['in-flight', 'quarantined'] as const)('because its record is foreign is %s', (outcome) => {
    const cause = { kind: 'foreign', why: 'version', version: 9 } as const;
    const from = { index: 'i', entry: { entityType: 'e', aspect: 'a' } };
    expect(foreignEntry(from, { kind: 'foreign', outcome, cause })).toStrictEqual({
      index: 'i',
      phase: 'done',
      entry: { entityType: 'e', aspect: 'a', outcome, cause },
    });
  });

  const closedBy = (entry: object) =>
    aQuarantined({ lastVerdict: aVerdict({ entry: { ...aVerdict().entry, ...entry } as DecidedFacts }) });
  const closed = { kind: 'quarantined', since: 900_000, outcome: 'rows-missing' } as const;

  test('because rows are missing has their number and place', () => {
    const cause: Cause = { kind: 'missing', expected: 40, found: 10, rowsIn: before };
    const entry = { outcome: 'rows-missing', cause, rowsMissing: 30, indexName: after };
    expect(quarantinedCause(closedBy(entry))).toStrictEqual({
      ...closed,
      rowsMissing: 30,
      rowsIn: before,
      deadline: 1_600_000_000_000 + 60 * 86_400_000,
      indexNow: after,
    });
  });

  test.each<[string, Cause, string | undefined, object]>([
    [
      'in the index that the verdict names',
      { kind: 'missing', expected: 4, found: 1, since: 1, rowsIn: before },
      after,
      { rowsIn: before, deadline: 1_605_184_000_000, indexNow: after },
    ],
    [
      'in the index before our reindex',
      { kind: 'unsettled', why: 'status', movedBy: 'us', indexBefore: before },
      after,
      { rowsIn: before, deadline: 1_605_184_000_000, indexNow: after },
    ],
    [
      'nowhere else if others moved the alias',
      { kind: 'unsettled', why: 'status', movedBy: 'others', indexBefore: before },
      after,
      {},
    ],
    ['nowhere else if nothing was moved', { kind: 'unsettled', why: 'hung' }, after, {}],
    ['unknown without a name', { kind: 'missing', expected: 4, found: 1, since: 1, rowsIn: before }, undefined, {}],
    ['in the same index, invisible to searches', { kind: 'not-refreshed' }, after, { indexNow: after, unseen: true }],
    ['in an unknown place, invisible to searches', { kind: 'not-refreshed' }, undefined, { unseen: true }],
  ])('holds its rows %s', (_, cause, indexName, expected) => {
    const entry = { ...aVerdict().entry, cause, ...(indexName !== undefined && { indexName }) };
    expect(whereRowsAre(entry)).toStrictEqual(expected);
  });
});

describe('this run’s own attempt', () => {
  const resumed = (stands: Parameters<typeof resumeOwn>[1]) =>
    resumeOwn(target, stands, aRunState([], { failure: { step: 'truncate', error: 'X' } }), now);

  test('that has its verdict reports it', () => {
    expect(resumed({ kind: 'decided', verdict: aVerdict() })).toStrictEqual({
      index: 'i',
      phase: 'done',
      entry: aVerdict().entry,
    });
  });

  test('that may be under way is watched, soon', () => {
    expect(resumed({ kind: 'mine', record: aSending() })).toStrictEqual(watched(target, aSending(), now, now + 10_000));
  });

  test('that another run has closed is reported as taken', () => {
    const stands = { kind: 'spent', record: anIdle(), fenced: false } as const;
    expect(resumed(stands)).toMatchObject({
      entry: { outcome: 'in-flight', cause: { kind: 'held', state: 'closed' } },
    });
  });

  test('that was fenced off without a failure of its own is spent', () => {
    const stands = { kind: 'spent', record: anIdle(), fenced: true } as const;
    expect(resumeOwn(target, stands, aRunState([]), now)).toMatchObject({
      phase: 'done',
      entry: { outcome: 'failed', cause: { kind: 'stopped', by: 'spent' } },
    });
  });

  test.each([
    ['fenced off', { kind: 'spent', record: anIdle(), fenced: true }],
    ['only reserved', { kind: 'mine', record: aReserved() }],
  ] as const)('that was %s was never sent', (_, stands) => {
    expect(resumed(stands)).toMatchObject({
      entry: { outcome: 'failed', cause: { kind: 'step-failed', step: 'truncate', error: 'X', sent: 'no' } },
    });
  });
});
