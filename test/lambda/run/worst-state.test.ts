import { describe, expect, test } from 'vitest';
import { capped, maxSentenceBytes, maxTextBytes } from '../../../lambda/gms/text.ts';
import type { LedgerRecord } from '../../../lambda/ledger/record.ts';
import type { Cause } from '../../../lambda/model/cause.ts';
import type { Note } from '../../../lambda/model/note.ts';
import { maxNameLength, maxPolicies } from '../../../lambda/model/policy-fields.ts';
import type { IndexData } from '../../../lambda/model/report-schema.ts';
import type { ServerError } from '../../../lambda/model/server-error.ts';
import { doneEntry } from '../../../lambda/run/entries.ts';
import type { Entry, RunState } from '../../../lambda/run/state.ts';
import { maxEntries } from '../../../lambda/run/state.ts';
import { startWatch } from '../../../lambda/truncation/watch.ts';
import { aPolicy } from '../../support/policies.ts';
import { aQuarantined, aReleased, aRunning } from '../../support/records.ts';
import { aRunState, bytesOf, maxStateBytes } from '../../support/states.ts';
import { server, worlds } from '../../support/world.ts';

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
const address = `https://${'h'.repeat(200)}`;
const taskId = `${'N'.repeat(200)}:${huge}`;

const facts: IndexData = {
  entityType: name,
  aspect: name,
  retentionDays: 5000,
  cutoffMillis: huge,
  policyCutoffMillis: huge,
  strategy: 'delete-by-query',
  reindexes: true,
  wholeReindex: true,
  rowsTotal: huge,
  rowsToDelete: huge,
  rowsPastRetention: huge,
  taskId,
  indexName,
  resumed: true,
  owner: capped('é'.repeat(80)),
  note: text,
};

/** What only a verdict adds. */
const verdictFacts: IndexData = {
  ...facts,
  rowsDeleted: huge,
  rowsLeftBehind: huge,
  rowsRemaining: huge,
  rowsMissing: huge,
  durationSeconds: huge,
  indexNow: indexName,
  decidedAt: new Date(0).toISOString(),
  decidedBy: 'r'.repeat(80),
  server: address,
};

/** The causes that hold the longest texts. */
const causes: Cause[] = [
  { kind: 'policy', what: 'unreadable', problem: text },
  { kind: 'server', error, sent: 'maybe' },
  {
    ...{ kind: 'quarantined', since: huge, outcome: 'rows-missing', rowsMissing: huge, reindexed: true },
    ...{ indexBefore: indexName, indexNow: indexName, cutoffMillis: huge, today: { error } },
  } as Cause,
  { kind: 'policy', what: 'entityType', was: name, now: name } as Cause,
  {
    ...{ kind: 'open', why: 'run-time', hours: 24, since: huge, runId: 'r'.repeat(80), judgeableAt: huge, error },
    ...{ releasableAt: huge, lastMovedAt: huge, done: huge, total: huge, work: 'deleted', ended: true, vanished: true },
  } as Cause,
  {
    kind: 'left-alone',
    why: 'unreadable',
    fields: Array(5).fill('attempt.baseline.countedAtMillis'),
    releasableAt: huge,
  },
  {
    kind: 'unproven',
    error,
    inPlace: false,
    vanished: true,
    done: huge,
    total: huge,
    conflicts: huge,
    cancelled: true,
  },
];

const index = `${name}_${name}aspect_v1`;
const decidedEntry = (at: number): Entry => ({
  ...doneEntry({ index, facts: verdictFacts }, 'unknown', causes[at % causes.length] as Cause),
  mark: { index, revision: huge, decidedAtMillis: huge },
});
const watchedEntry: Entry = {
  index,
  phase: 'watched',
  facts,
  watch: {
    ...startWatch(aRunning(), huge, huge),
    run: { runId: 'r'.repeat(80), runStartMillis: huge },
    rowsLeft: huge,
    rowsToKeep: huge,
    counter: huge,
    seenAt: huge,
    stillSince: huge,
    noProgressSince: huge,
    lastMovedAt: huge,
    hasStatus: true,
    task: { completed: false, done: huge, total: huge, runs: true },
    end: { total: huge, updated: huge, created: huge, deleted: huge, versionConflicts: huge, cancelled: true },
    vanished: true,
    progress: { done: huge, total: huge, at: huge, before: { done: huge, at: huge } },
    pending: { verdict: 'rows-missing', since: huge },
    error,
  },
};
const approvedEntry: Entry = {
  index,
  phase: 'approved',
  facts,
  policy: aPolicy({ entityType: name, aspect: name, timeoutSeconds: huge, maxRowsPerRun: huge }),
  plan: { rowsToDelete: huge, deletesInPlace: true, limited: { cutoffMillis: huge, rest: huge } },
};

const released: Note = {
  ...{ kind: 'released', index: `${name}.${name}`, unknown: 'address', accepted: huge, address, reindexed: true },
  ...{ indexBefore: indexName, indexNow: indexName, cutoffMillis: huge, decidedBy: 'r'.repeat(80) },
  decidedAt: new Date(0).toISOString(),
} as Note;

const worst = (entryOf: (at: number) => Entry, more: Partial<RunState> = {}) =>
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
        { kind: 'truncate-failed', index: `${name}.${name}`, error: sentence },
      ],
      unmanagedIndices: Array.from({ length: 20 }, () => ({ indexName, entityType: name, aspect: name, sizeMb: 1e15 })),
      failure: { step: 'truncate', error: text },
      ...more,
    },
  );

describe('the largest run state takes less than 208 KiB', () => {
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

  test('so that what was caught of two functions, a message and ten long frames each, still fits', () => {
    const Cause = JSON.stringify({ errorType: 'Error', errorMessage: text, trace: Array(10).fill('f'.repeat(1000)) });
    const failed = <Step>(step: Step) => ({ step, error: text, caught: { Error: text, Cause } });
    const state = worst(decidedEntry, { failure: failed('truncate'), pollFailure: failed('poll') });
    expect(bytesOf(state)).toBeLessThan(256 * 1024);
  });

  test('if a release of every index is unreported, whose policies wait for that', () => {
    const all = Array.from({ length: maxEntries });
    const entryOf = () =>
      doneEntry({ index, facts: { ...facts, taskId: undefined, indexName: undefined } }, 'not-started', {
        kind: 'stopped',
        by: 'release',
      });
    const state = worst(entryOf, {
      notes: all.map(() => released),
      releases: all.map(() => ({ index, revision: huge, decidedAtMillis: huge })),
    });
    expect(bytesOf(state)).toBeLessThan(maxStateBytes);
  });
});

test('texts are capped in bytes of JSON, where they come in', () => {
  expect(bytesOf(text) - 2).toBeLessThanOrEqual(maxTextBytes);
  expect(bytesOf(sentence) - 2).toBeLessThanOrEqual(maxSentenceBytes);
});

describe('of more records than a run carries', () => {
  const open = worlds();
  const names = (at: number) => ({ index: `team_a${at}aspect_v1`, entityType: 'team', aspect: `a${at}`, server });

  /** Plan, with records of indices without a policy. */
  async function planned(records: LedgerRecord[]) {
    const world = await open({ policies: [] });
    for (const record of records) world.ledger.stored.set(record.index, record);
    return world.plan();
  }
  const all = <Made>(count: number, make: (at: number) => Made) => Array.from({ length: count }, (_, at) => make(at));

  test('what is unreported and what is under way are kept, and one note names the others', async () => {
    const { entries, notes } = await planned([
      ...all(maxEntries, (at) => aQuarantined(names(at))),
      aRunning(names(100)),
      aQuarantined({ ...names(101), unreported: true }),
    ]);
    expect(entries).toHaveLength(maxEntries);
    const kept = entries.map((entry) => entry.index);
    expect([names(100).index, names(101).index].map((one) => kept.includes(one))).toEqual([true, true]);
    expect(notes).toMatchObject([
      { kind: 'beyond', entries: 2, names: ['team.a8', 'team.a9'], quarantined: ['team.a8', 'team.a9'] },
    ]);
  });

  test('an unreported verdict that has no room is not marked, and no more releases than a state has room for', async () => {
    const { entries } = await planned(all(maxEntries + 6, (at) => aQuarantined({ ...names(at), unreported: true })));
    expect(entries.filter((entry) => entry.phase === 'done' && entry.mark !== undefined)).toHaveLength(maxEntries);
    const { notes, releases } = await planned(all(maxEntries + 6, (at) => aReleased(names(at))));
    expect([notes.length, releases.length]).toEqual([maxEntries, maxEntries]);
  });
});
