import { expect, test } from 'vitest';
import type { Cause } from '../../../../lambda/facts/cause.ts';
import { maxEntries, maxPolicies, maxSentenceBytes, maxTextBytes } from '../../../../lambda/facts/limits.ts';
import type { Note } from '../../../../lambda/facts/note.ts';
import type { EntryFacts } from '../../../../lambda/facts/report-schema.ts';
import { maxNameLength } from '../../../../lambda/policy/schema.ts';
import { carried } from '../../../../lambda/run/plan/carried.ts';
import type { ApprovedEntry, DoneEntry, Entry, WatchedEntry } from '../../../../lambda/run/state.ts';
import { aPolicy } from '../../../support/policies.ts';
import { aRunState, bytesOf, maxStateBytes } from '../../../support/states.ts';

const text = 'x'.repeat(maxTextBytes);
const sentence = 'x'.repeat(maxSentenceBytes);
/** The search engines allow 255 bytes. */
const physical = 'i'.repeat(255);
const rows = 10 ** 12;
const millis = 10 ** 13;
const name = (at: number) => `${'a'.repeat(maxNameLength - 2)}${String(at).padStart(2, '0')}`;
const error = {
  kind: 'server-error',
  operation: 'index-sizes',
  status: 500,
  text,
  host: 'h'.repeat(253),
  tries: 4,
  page: true,
} as const;

const facts = (at: number): EntryFacts => ({
  entityType: name(at),
  aspect: name(at),
  retentionDays: 5000,
  cutoffMillis: millis,
  policyCutoffMillis: millis,
  strategy: 'delete-by-query',
  rowsTotal: rows,
  rowsToDelete: rows,
  rowsPastRetention: rows,
  rowsPerDay: 123_456_789.12,
  mbPerDay: 123_456.789,
  indexName: physical,
  sizeBeforeMb: 123_456.789,
  since: '2026-03-01T03:30:00.000Z',
  ...(at < maxPolicies ? { owner: text, note: text } : { adopted: true }),
});
const verdict = { taskId: `${'t'.repeat(22)}:1234567890`, rowsDeleted: rows, rowsRemaining: rows, rowsMissing: rows };
const base = (at: number) => ({ index: `${name(at)}_${name(at)}aspect_v1`, entry: facts(at) });

/** The kinds with the most content. */
const causes: Cause[] = [
  { kind: 'policy', problem: text },
  { kind: 'paused', problem: sentence },
  { kind: 'server', error, sent: 'maybe', meant: text },
  // Why there is no token.
  { kind: 'server', error: { kind: 'token', operation: 'truncate', text: sentence }, sent: 'no' },
  {
    kind: 'missing',
    expected: rows,
    found: rows,
    cancelled: true,
    conflicts: rows,
    done: rows,
    total: rows,
    indexBefore: physical,
    indexNow: physical,
    movedBy: 'others',
    rowsIn: physical,
    deadline: millis,
    indexGone: true,
  },
  {
    kind: 'unsettled',
    why: 'uncountable',
    copied: true,
    error,
    lastMovedAt: millis,
    indexBefore: physical,
    indexNow: physical,
    movedBy: 'others',
    closed: 'quarantined',
  },
];
const done =
  (cause: Cause) =>
  (at: number): DoneEntry => ({
    ...base(at),
    phase: 'done',
    entry: {
      ...facts(at),
      ...verdict,
      durationSeconds: 10 ** 6,
      sizeAfterMb: 123_456.789,
      outcome: 'rows-missing',
      cause,
    },
  });
const approved = (at: number): ApprovedEntry => ({
  ...base(at),
  phase: 'approved',
  policy: aPolicy({
    entityType: name(at),
    aspect: name(at),
    strategy: 'delete-by-query-only',
    maxDeletePercent: 99.999,
    timeoutSeconds: 10 ** 9,
    maxRowsPerRun: rows,
  }),
  plan: {
    rowsToDelete: rows,
    strategy: 'delete-by-query',
    bite: { cutoffMillis: millis, rows, nights: 400 },
    seconds: 10 ** 6,
  },
});
const watched = (at: number): WatchedEntry => ({
  ...base(at),
  phase: 'watched',
  entry: { ...facts(at), ...verdict },
  watch: {
    attemptId: '00000000-0000-4000-8000-000000000000',
    startedAt: millis,
    succeededAt: millis,
    lastLookAt: millis,
    nextLookAt: millis,
    looks: 10_000,
    earlyLooks: 10_000,
    progress: { done: rows, total: rows, at: millis, previous: { done: rows, at: millis } },
    lowestToDelete: rows,
    highestKept: rows,
    highestCounter: rows,
    movedAt: millis,
    aliveAt: millis,
    completedAt: millis,
    completedRealAt: millis,
    rose: { kept: true, counter: true },
    does: 'delete',
    error,
  },
});
const all = (make: (at: number) => Entry): Entry[] => Array.from({ length: maxEntries }, (_, at) => make(at));
/** Only a policy is approved. */
const mixed = (at: number): Entry => (at < maxPolicies ? approved(at) : watched(at));

const index = `${name(0)}.${name(0)}`;
const notes: Note[] = [
  { kind: 'token-expires', at: millis },
  { kind: 'no-date-header' },
  { kind: 'no-sizes', error },
  { kind: 'memory-unavailable', problem: text },
  {
    kind: 'beyond',
    entries: maxEntries,
    quarantined: Array.from({ length: maxEntries }, (_, at) => `${name(at)}.${name(at)}`),
  },
  ...Array.from({ length: maxPolicies }, (): Note => ({ kind: 'longer-than-run', index, seconds: 10 ** 6, hours: 47 })),
];

test.each<[string, Entry[]]>([
  ['approved, and watched without a policy', all(mixed)],
  ['watched', all(watched)],
  ...causes.map((cause): [string, Entry[]] => [cause.kind, all(done(cause))]),
])('a run state whose texts are all as long as they may be stays below 200 KiB: %s', (_, entries) => {
  const state = aRunState(entries, {
    runId: 'r'.repeat(80),
    server: text,
    notes,
    unmanagedIndices: Array.from({ length: 20 }, () => ({
      indexName: physical,
      sizeMb: 123_456.789,
      mbPerDay: 123_456.789,
    })),
    breaker: { kind: 'paused', problem: sentence },
    error: { kind: 'server', error, sent: 'no' },
    failure: { step: 'truncate', error: sentence, sendsUntil: millis },
  });
  expect(bytesOf(state)).toBeGreaterThan(100 * 1024);
  expect(bytesOf(state)).toBeLessThan(maxStateBytes);
});

const quarantined = (at: number): DoneEntry => {
  const entry = done({ kind: 'quarantined', since: millis, outcome: 'unknown' })(at);
  return { ...entry, entry: { ...entry.entry, outcome: 'quarantined' } };
};
const fine = (at: number): DoneEntry => {
  const entry = done({ kind: 'run-error' })(at);
  return { ...entry, entry: { ...entry.entry, outcome: 'disabled' } };
};

test('a run carries at most 64 entries, lost rows and unresolved truncations first, and reports the number left out', () => {
  const lost = done({ kind: 'run-error' })(0);
  const entries = [
    fine(1),
    quarantined(2),
    approved(3),
    quarantined(4),
    lost,
    ...Array.from({ length: 62 }, (_, at) => watched(at + 10)),
  ];
  const state = carried(aRunState(entries, { notes: [{ kind: 'no-date-header' }] }));
  expect(state.entries).toEqual([quarantined(2), ...entries.slice(4)]);
  expect(state.notes).toEqual([
    { kind: 'beyond', entries: 3, quarantined: [`${name(4)}.${name(4)}`] },
    { kind: 'no-date-header' },
  ]);
  const few = aRunState(entries.slice(3));
  expect(carried(few)).toBe(few);
});

test('lost rows are carried even if a run finds 64 truncations to watch', () => {
  const lost = done({ kind: 'run-error' })(0);
  const entries = all(watched);
  expect(carried(aRunState([...entries, lost])).entries).toEqual([...entries.slice(0, -1), lost]);
});
