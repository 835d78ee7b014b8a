import { describe, expect, test } from 'vitest';
import type { Cause } from '../../../lambda/facts/cause.ts';
import { maxEntries, maxPolicies, maxSentenceBytes, maxTextBytes } from '../../../lambda/facts/limits.ts';
import { maxNameLength } from '../../../lambda/facts/policy-fields.ts';
import type { EntryFacts } from '../../../lambda/facts/report-schema.ts';
import type { ServerError } from '../../../lambda/facts/server-error.ts';
import { done } from '../../../lambda/run/entries.ts';
import { withinLimit } from '../../../lambda/run/plan/limit.ts';
import type { Entry } from '../../../lambda/run/state.ts';
import { capped } from '../../../lambda/text/text.ts';
import { startWatch } from '../../../lambda/truncation/watch.ts';
import { aPolicy } from '../../support/policies.ts';
import { aRunning } from '../../support/records.ts';
import { aRunState, bytesOf, maxStateBytes } from '../../support/states.ts';

/** The largest run state: Step Functions ends an execution at 256 KiB, without any Catch. */

const huge = Number.MAX_SAFE_INTEGER;
/** As long as a text may be, made of the characters that take the most room in JSON. */
const text = capped('\u0001é"\\'.repeat(500));
const sentence = capped('é'.repeat(2000), maxSentenceBytes);
const error: ServerError = {
  kind: 'server-error',
  operation: 'index-sizes',
  status: 599,
  text,
  page: true,
  tries: 4,
};
const name = 'n'.repeat(maxNameLength);
const indexName = 'i'.repeat(255);
const taskId = `${'N'.repeat(200)}:${huge}`;

const facts: EntryFacts = {
  entityType: name,
  aspect: name,
  retentionDays: 5000,
  cutoffMillis: huge,
  policyCutoffMillis: huge,
  strategy: 'delete-by-query',
  reindexes: true,
  reindexGoesWhole: true,
  rowsTotal: huge,
  rowsToDelete: huge,
  rowsPastRetention: huge,
  taskId,
  sizeBeforeMb: 1e15,
  indexName,
  resumed: true,
  owner: capped('é'.repeat(80)),
  note: text,
};

/** What only a verdict adds. */
const verdictFacts: EntryFacts = {
  ...facts,
  rowsDeleted: huge,
  rowsRemaining: huge,
  rowsMissing: huge,
  durationSeconds: huge,
  sizeAfterMb: 1e15,
  indexNow: indexName,
};

/** The causes that hold the longest texts. */
const causes: Cause[] = [
  { kind: 'policy', problem: text },
  { kind: 'server', error, sent: 'maybe' },
  {
    kind: 'quarantined',
    since: huge,
    outcome: 'rows-missing',
    rowsMissing: huge,
    indexBefore: indexName,
    indexNow: indexName,
  },
  { kind: 'changed', what: 'policy-unreadable', now: text },
  { kind: 'unsettled', why: 'unseen', vanished: true, error, lastMovedAt: huge, done: huge, total: huge },
  { kind: 'watching', why: 'run-time', hours: 24, since: huge, lastMovedAt: huge, error, done: huge, total: huge },
];

const index = `${name}_${name}aspect_v1`;
const decidedEntry = (at: number): Entry =>
  done({ index, entry: verdictFacts }, 'unknown', causes[at % causes.length] as Cause);
const watchedEntry: Entry = {
  index,
  phase: 'watched',
  entry: facts,
  watch: {
    ...startWatch(aRunning(), huge, huge),
    run: { runId: 'r'.repeat(80), runStartMillis: huge },
    rowsToDelete: huge,
    rowsToKeep: huge,
    counter: huge,
    stillSince: huge,
    stuckSince: huge,
    lastMovedAt: huge,
    hasStatus: true,
    task: { completed: false, done: huge, total: huge, runs: true },
    end: { total: huge, updated: huge, created: huge, deleted: huge, versionConflicts: huge, cancelled: true },
    vanished: true,
    progress: { done: huge, total: huge, at: huge, before: { done: huge, at: huge } },
    pending: { verdict: 'rows-missing missing', since: huge },
    error,
  },
};
const approvedEntry: Entry = {
  index,
  phase: 'approved',
  entry: facts,
  policy: aPolicy({ entityType: name, aspect: name, timeoutSeconds: huge, maxRowsPerRun: huge }),
  plan: { rowsToDelete: huge, deletesInPlace: true, bite: { cutoffMillis: huge, rest: huge } },
};

const worst = (entryOf: (at: number) => Entry) =>
  aRunState(
    Array.from({ length: maxEntries }, (_, at) => entryOf(at)),
    {
      stage: 's'.repeat(60),
      runId: 'r'.repeat(80),
      server: `https://${'h'.repeat(200)}`,
      breaker: causes[1],
      error: { kind: 'setup', what: 'parameters', problem: sentence },
      notes: [
        { kind: 'rights', what: 'sizes', error },
        { kind: 'rights', what: 'task-status', error },
        { kind: 'token-expires', at: huge },
        { kind: 'truncate-failed', index: `${name}.${name}`, error: text },
      ],
      unmanagedIndices: Array.from({ length: 20 }, () => ({ indexName, entityType: name, aspect: name, sizeMb: 1e15 })),
      failure: { step: 'truncate', error: text },
    },
  );

describe('the largest run state takes less than 200 KiB', () => {
  test.each<[string, (at: number) => Entry]>([
    ['if every entry has been decided, with the longest causes', decidedEntry],
    ['if every entry is watched', () => watchedEntry],
    [
      'if every policy waits for its turn, and the others are watched',
      (at) => (at < maxPolicies ? approvedEntry : watchedEntry),
    ],
  ])('%s', (_, entryOf) => {
    expect(bytesOf(worst(entryOf))).toBeLessThan(maxStateBytes);
  });
});

test('texts are capped in bytes of JSON, where they come in', () => {
  expect(bytesOf(text) - 2).toBeLessThanOrEqual(maxTextBytes);
  expect(bytesOf(sentence) - 2).toBeLessThanOrEqual(maxSentenceBytes);
});

describe('of more entries than a run carries', () => {
  const named = (at: number, outcome: 'truncated' | 'rows-missing' | 'quarantined' | 'failed') =>
    done({ index: `i${at}`, entry: { entityType: 'e', aspect: `a${at}` } }, outcome, { kind: 'verified' });

  test('lost rows and unresolved truncations are kept, and one note names the others', () => {
    const fine = Array.from({ length: maxEntries }, (_, at) => named(at, 'truncated'));
    const lost = named(100, 'rows-missing');
    const { entries, notes } = withinLimit(aRunState([...fine, watchedEntry, lost]));
    expect(entries).toHaveLength(maxEntries);
    expect(entries).toContain(watchedEntry);
    expect(entries).toContain(lost);
    expect(notes).toEqual([{ kind: 'beyond', entries: 2, names: ['e.a62', 'e.a63'], quarantined: [] }]);
  });

  test('quarantined ones among the others are named', () => {
    const all = Array.from({ length: maxEntries + 1 }, (_, at) =>
      named(at, at === maxEntries ? 'quarantined' : 'failed'),
    );
    expect(withinLimit(aRunState(all)).notes).toMatchObject([{ kind: 'beyond', quarantined: ['e.a64'] }]);
  });

  test('what goes first is what is fine, then what is approved, then what needs attention, then what failed', () => {
    const filled = (first: Entry, more: Entry[]) => {
      const failed = Array.from({ length: maxEntries - 1 }, (_, at) => named(at, 'failed'));
      return withinLimit(aRunState([first, ...failed, ...more])).entries.includes(first);
    };
    const approved = { ...approvedEntry, index: 'i' };
    const failed = named(200, 'failed');
    expect(filled(named(100, 'truncated'), [approved])).toBe(false);
    expect(filled(approved, [named(100, 'truncated')])).toBe(true);
    expect(filled(approved, [named(100, 'quarantined')])).toBe(false);
    expect(filled(named(100, 'quarantined'), [approved])).toBe(true);
    expect(filled(named(100, 'quarantined'), [failed])).toBe(false);
    const lost = named(100, 'rows-missing');
    const all = Array.from({ length: maxEntries }, (_, at) => named(at, 'failed'));
    expect(withinLimit(aRunState([...all, lost])).entries).toContain(lost);
  });

  test('an approved one among the others is not called quarantined', () => {
    const all = Array.from({ length: maxEntries }, (_, at) => named(at, 'failed'));
    const approved = { ...approvedEntry, entry: { ...facts, outcome: 'quarantined' } } as Entry;
    expect(withinLimit(aRunState([...all, approved])).notes).toMatchObject([{ kind: 'beyond', quarantined: [] }]);
  });

  test.each([1, maxEntries])('nothing changes up to that number: %d', (count) => {
    const state = aRunState(Array.from({ length: count }, (_, at) => named(at, 'truncated')));
    expect(withinLimit(state)).toBe(state);
  });
});
