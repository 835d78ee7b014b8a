import { describe, expect, test } from 'vitest';
import type { TaskCounters } from '../../../lambda/gms/operations.ts';
import { capped, maxSentenceBytes, maxTextBytes } from '../../../lambda/gms/text.ts';
import type { Attempt, LedgerRecord, Verdict } from '../../../lambda/ledger/record.ts';
import { type Cause, causeSchema } from '../../../lambda/model/cause.ts';
import type { Note, NoteOf } from '../../../lambda/model/note.ts';
import { maxNameLength, maxPolicies } from '../../../lambda/model/policy-fields.ts';
import type { ServerError } from '../../../lambda/model/server-error.ts';
import type { Policy } from '../../../lambda/policy/schema.ts';
import { decisionOf, doneEntry, markOf } from '../../../lambda/run/entries.ts';
import { nextStep } from '../../../lambda/run/next.ts';
import type { RunSettings } from '../../../lambda/run/services.ts';
import {
  bytesOf,
  type DoneEntry,
  type Entry,
  type JudgedEntry,
  maxEntries,
  maxStateBytes,
  type RunState,
} from '../../../lambda/run/state.ts';
import type { Watch } from '../../../lambda/truncation/watch.ts';
import { longestOf, membersOf } from '../../support/arbitrary.ts';
import { aPolicy } from '../../support/policies.ts';
import { anAttempt, anIndex, aQuarantined, aReindex, aReleased, aRunning } from '../../support/records.ts';
import { aRunState } from '../../support/states.ts';
import { server, worlds } from '../../support/world.ts';

const open = worlds();

/** The largest run state: Step Functions ends an execution at 256 KiB, without any Catch. */

const huge = Number.MAX_SAFE_INTEGER;
/** As long as a text may be, made of the characters that take the most room in JSON. */
const text = capped('\u0001é"\\'.repeat(500));
const sentence = capped('é'.repeat(2000), maxSentenceBytes);
const error: ServerError = {
  kind: 'unauthorized',
  sent: ['token', 'headers', 'certificate'],
  certificate: 'expired',
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

const names = { entityType: name, aspect: name };
const run = { runId: 'r'.repeat(80), runStartMillis: huge };
/** Every field, at its longest: the compiler asks for a new one. */
const policy: Required<Policy> = {
  ...aPolicy(),
  ...names,
  timeoutSeconds: huge,
  maxRowsPerRun: huge,
  maxDeletePercent: 99.99,
  owner: capped('é'.repeat(80)),
  note: text,
};
const plan = {
  cutoffMillis: huge,
  indexName,
  counts: { rowsToDelete: huge, rowsTotal: huge, method: 'reindex' as const },
  limited: { policyCutoffMillis: huge, rowsPastRetention: huge, rest: huge },
};

/** The longest causes, by their schema. */
const causes = membersOf(causeSchema)
  .map(([, member]) => longestOf(member, text))
  .sort((one, other) => bytesOf(other) - bytesOf(one))
  .slice(0, 7);

const index = `${name}_${name}aspect_v1`;
const end: Required<TaskCounters> = {
  ...{ total: huge, updated: huge, created: huge, deleted: huge, noops: huge, versionConflicts: huge },
  cancelled: true,
};
const attempt: Required<Attempt> = {
  ...run,
  retentionDays: 5000,
  policyCutoffMillis: huge,
  fields: { ...names, cutoffMillis: huge, batchSize: 10_000, timeoutSeconds: huge, forceDeleteByQuery: true },
  announced: 'reindex',
  method: 'reindex',
  baseline: { rowsToDelete: huge, rowsTotal: huge, rowsToKeep: huge, countedAtMillis: huge, indexName },
  ...{ rest: huge, sendingSince: huge, sendBy: huge, judgeableAt: huge, approvedRows: huge },
  callError: error,
  by: text,
  maxMissingPercent: 0.123456789,
  end,
};
const verdictOf = (at: number): Required<Omit<Verdict, 'ofLaterVersion'>> => ({
  outcome: 'unknown',
  cause: causes[at % causes.length] as Cause,
  ...{ rowsDeleted: huge, rowsLeftBehind: huge, rowsRemaining: huge, rowsMissing: huge, rowsNotVisible: huge },
  method: 'reindex',
  noIndex: true,
  indexNow: indexName,
  durationSeconds: huge,
});
const common = { index, ...names, server: address, revision: huge, unreported: true, lastSender: run };
const recordOf = (at: number): LedgerRecord => ({
  ...common,
  state: 'quarantined',
  attempt,
  taskId,
  lastVerdict: { ...run, decided: { ...run, atMillis: 8.64e15 }, verdict: verdictOf(at) },
});
const base = { index, names, policy, plan, resumed: true as const };
const judgedEntry = (at: number): Entry => ({ ...base, phase: 'done', record: recordOf(at) as JudgedEntry['record'] });
const decidedEntry = (at: number): Entry =>
  doneEntry(
    { ...base, record: { ...common, state: 'running', attempt, taskId } },
    'unknown',
    causes[at % causes.length] as Cause,
  );
const watch: Required<Watch> = {
  ...{ run, sentAt: huge, lastCheckAt: huge, nextCheckAt: huge, observedAt: huge, lastProgressAt: huge },
  ...{ rowsLeft: huge, rowsToKeep: huge, counter: huge, noProgressSince: huge, noOwnProgressSince: huge },
  ...{ isStuck: false, hasStatus: false, hasWritten: false, vanished: false },
  task: { completed: false, done: huge, total: huge, runs: false },
  end,
  progress: { done: huge, total: huge, at: huge, before: { done: huge, at: huge } },
  pending: { verdict: 'rows-missing', since: huge },
  statusError: error,
  error,
};
const watchedEntry: Entry = {
  ...base,
  phase: 'watched',
  record: { ...common, state: 'running', attempt, taskId },
  watch,
};
/** As a reindex of an index with a name of DataHub's leaves it. */
const anOrdinary = aQuarantined({
  unreported: true,
  attempt: { ...aReindex(), baseline: { ...anAttempt().baseline, indexName: `${anIndex}_1693050512123` } },
}) as JudgedEntry['record'];
const withUnknown = (entry: Entry, more: string): Entry =>
  ({ ...entry, record: { ...entry.record, attempt: Object.assign({ more }, attempt) } }) as Entry;
const approvedEntry: Entry = { ...base, phase: 'approved' };

const released: Note = {
  ...{ kind: 'released', index: `${name}.${name}`, unknown: 'address', accepted: huge, address, method: 'reindex' },
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
        { kind: 'token-expires', at: huge },
        { kind: 'certificate-expires', at: huge, expired: true },
        { kind: 'truncate-failed', index: `${name}.${name}`, error: sentence },
      ],
      unmanagedIndices: Array.from({ length: 20 }, () => ({ indexName, entityType: name, aspect: name, sizeMb: 1e15 })),
      failure: { step: 'truncate', error: text },
      ...more,
    },
  );

const settings = { maxRunHours: 24 } as RunSettings;

/** As a step returns it. */
const returned = (state: RunState): RunState => nextStep(state, settings, 0);

describe('the largest run state takes at most 220 KiB', () => {
  test.each<[string, (at: number) => Entry]>([
    ['if every entry has been decided, with the longest causes', decidedEntry],
    ['if every entry has its verdict in its record', judgedEntry],
    ['if a record holds whatever a later version has added', (at) => withUnknown(judgedEntry(at), 'x'.repeat(300_000))],
    [
      'if every policy waits for its turn, and what an earlier run has sent is watched',
      (at) => (at < maxPolicies ? approvedEntry : watchedEntry),
    ],
  ])('%s, and every entry is in it', (_, entryOf) => {
    const state = returned(worst(entryOf));
    expect(bytesOf(state)).toBeLessThanOrEqual(maxStateBytes);
    expect(state.entries).toHaveLength(maxEntries);
  });

  test('whose entries keep outcome and cause, whatever else has no room', () => {
    const entries = returned(worst(judgedEntry)).entries as DoneEntry[];
    expect(entries.map(decisionOf)).toEqual(worst(judgedEntry).entries.map((entry) => decisionOf(entry as DoneEntry)));
    expect(entries.filter(({ record }) => record === undefined).length).toBeGreaterThan(0);
  });

  test('and records as ledgers have them fit, all 64', () => {
    const entries = Array.from({ length: maxEntries }, (): Entry => ({ ...base, phase: 'done', record: anOrdinary }));
    expect(returned(aRunState(entries)).entries).toEqual(entries);
  });

  test('so that what was caught of two functions, a message and ten long frames each, still fits', () => {
    const Cause = JSON.stringify({ errorType: 'Error', errorMessage: text, trace: Array(10).fill('f'.repeat(1000)) });
    const failed = <Step>(step: Step) => ({ step, error: text, caught: { Error: text, Cause } });
    const state = worst(decidedEntry);
    const caught = { ...state, failure: failed('truncate'), pollFailure: failed('poll') };
    // Beside a state of any size that a step may return.
    expect(maxStateBytes + bytesOf(caught) - bytesOf(state)).toBeLessThan(256 * 1024);
  });

  test('if a release of every index is unreported, whose policies wait for that', () => {
    const all = Array.from({ length: maxEntries });
    const entryOf = () =>
      doneEntry({ index, names, policy }, 'not-started', {
        kind: 'stopped',
        by: 'release',
      });
    const state = worst(entryOf, {
      notes: all.map(() => released),
      releases: all.map(() => ({ index, revision: huge, decidedAtMillis: huge })),
    });
    expect(bytesOf(returned(state))).toBeLessThanOrEqual(maxStateBytes);
  });
});

test('texts are capped in bytes of JSON, where they come in', async () => {
  expect(bytesOf(text) - 2).toBeLessThanOrEqual(maxTextBytes);
  expect(bytesOf(sentence) - 2).toBeLessThanOrEqual(maxSentenceBytes);
  const { by } = await (await open()).plan({ by: '😀'.repeat(200), scheduledTime: undefined });
  expect([by?.slice(0, 2), bytesOf(by) - 2 <= maxTextBytes]).toEqual(['😀', true]);
});

describe('of more records than a run carries', () => {
  const namesAt = (at: number) => ({ index: `team_a${at}aspect_v1`, entityType: 'team', aspect: `a${at}`, server });

  /** Plan, with records of indices without a policy. */
  async function planned(records: LedgerRecord[]) {
    const world = await open({ policies: [] });
    for (const record of records) world.ledger.stored.set(record.index, record);
    return world.plan();
  }
  const all = <Made>(count: number, make: (at: number) => Made) => Array.from({ length: count }, (_, at) => make(at));

  test('what is unreported and what is under way are kept, and one note names the others', async () => {
    const { entries, notes } = await planned([
      ...all(maxEntries, (at) => aQuarantined(namesAt(at))),
      aRunning(namesAt(100)),
      aQuarantined({ ...namesAt(101), unreported: true }),
    ]);
    expect(entries).toHaveLength(maxEntries);
    const kept = entries.map((entry) => entry.index);
    expect([namesAt(100).index, namesAt(101).index].map((one) => kept.includes(one))).toEqual([true, true]);
    expect(notes).toMatchObject([
      { kind: 'beyond', entries: 2, names: ['team.a8', 'team.a9'], quarantined: ['team.a8', 'team.a9'] },
    ]);
  });

  test('what is watched has its share of the room, and what is beyond it waits for the next run', async () => {
    const long = anAttempt({ baseline: { ...anAttempt().baseline, indexName: 'i'.repeat(8000) } });
    const state = await planned(all(30, (at) => aRunning({ ...namesAt(at), attempt: long })));
    expect(bytesOf(state)).toBeLessThanOrEqual(maxStateBytes);
    expect(state.notes).toMatchObject([{ kind: 'beyond', entries: 30 - state.entries.length }]);
    expect(state.entries.length).toBeGreaterThan(10);
  });

  test('a thousand quarantined ones with long names leave room, and the note says how many there are', async () => {
    const long = { entityType: 'x'.repeat(5000), aspect: 'y' };
    const state = await planned(
      all(1000, (at) => aQuarantined({ ...namesAt(at), ...long, index: `team_${'n'.repeat(200)}${at}aspect_v1` })),
    );
    expect(bytesOf(state)).toBeLessThanOrEqual(maxStateBytes);
    const [note] = state.notes as [NoteOf<'beyond'>];
    expect(note).toMatchObject({ entries: 1000 - maxEntries, quarantinedInAll: 1000 - maxEntries });
    expect([note.names.length, note.quarantined.length]).toEqual([20, 20]);
  });

  test('an unreported verdict that has no room is not marked, and no more releases than a state has room for', async () => {
    const { entries } = await planned(all(maxEntries + 6, (at) => aQuarantined({ ...namesAt(at), unreported: true })));
    expect(entries.filter((entry) => entry.phase === 'done' && markOf(entry) !== undefined)).toHaveLength(maxEntries);
    const { notes, releases } = await planned(all(maxEntries + 6, (at) => aReleased(namesAt(at))));
    expect([notes.length, releases.length]).toEqual([maxEntries, maxEntries]);
  });
});
