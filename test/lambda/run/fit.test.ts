import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Cause } from '../../../lambda/facts/cause.ts';
import { maxEntries, maxStateBytes } from '../../../lambda/facts/limits.ts';
import { type Outcome, outcomes, resultOf } from '../../../lambda/facts/outcome.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import { maxNameLength } from '../../../lambda/policy/schema.ts';
import { bytesOf, fitState } from '../../../lambda/run/fit.ts';
import { composeReport } from '../../../lambda/run/report.ts';
import type { DoneEntry, Entry, RunState } from '../../../lambda/run/state.ts';
import { aPolicy } from '../../support/policies.ts';
import { aRunState } from '../../support/states.ts';

const long = (letter: string, length: number) => letter.repeat(length);
const anError = (letter: string) =>
  ({
    kind: 'server-error',
    operation: 'truncate',
    status: 500,
    text: long(letter, 240),
    host: long('h', 250),
    tries: 4,
  }) as const;

/** A cause with every field of its kind as long as the core lets it become. @param letter of what others wrote */
const largest = (letter: string): Cause[] => [
  { kind: 'policy', problem: long(letter, 600) },
  { kind: 'server', error: anError(letter), sent: 'maybe' },
  { kind: 'unchanged', error: anError(letter) },
  { kind: 'changed', what: 'policy-unreadable', now: long(letter, 600) },
  { kind: 'paused', problem: long(letter, 600) },
  {
    kind: 'rows-missing',
    expected: 10 ** 12,
    found: 10 ** 12,
    cancelled: true,
    conflicts: 10 ** 12,
    done: 10 ** 12,
    total: 10 ** 12,
    indexBefore: long('i', 255),
    indexNow: long('i', 255),
    movedBy: 'us',
    rowsIn: long('i', 255),
    deadline: 10 ** 13,
  },
  {
    kind: 'unsettled',
    why: 'uncountable',
    copied: true,
    vanished: true,
    cancelled: true,
    error: anError(letter),
    lastMovedAt: 10 ** 13,
    indexBefore: long('i', 255),
    indexNow: long('i', 255),
    movedBy: 'others',
    closed: 'quarantined',
  },
];

function decided(at: number, outcome: Outcome, cause: Cause): DoneEntry {
  const aspect = `${long('a', maxNameLength - 4)}${String(at).padStart(4, '0')}`;
  return {
    index: `${long('e', maxNameLength)}_${aspect}aspect_v1`,
    phase: 'done',
    entry: {
      entityType: long('e', maxNameLength),
      aspect,
      retentionDays: 365,
      cutoffMillis: 10 ** 13,
      strategy: 'delete-by-query',
      rowsTotal: 10 ** 12,
      rowsToDelete: 10 ** 12,
      taskId: `${long('t', 22)}:123456789`,
      rowsDeleted: 10 ** 12,
      rowsRemaining: 10 ** 12,
      rowsMissing: 10 ** 12,
      durationSeconds: 10 ** 6,
      sizeBeforeMb: 123_456.789,
      indexName: long('i', 255),
      owner: long('o', 80),
      note: long('n', 200),
      outcome,
      cause,
    },
  };
}
const approved = (at: number): Entry => {
  const { entry, index } = decided(at, 'failed', { kind: 'run-error' });
  const { outcome: _, cause: __, ...facts } = entry;
  const policy = aPolicy({ entityType: entry.entityType, aspect: entry.aspect, note: long('n', 200) });
  return { index, phase: 'approved', entry: facts, policy, plan: { rowsToDelete: 5, strategy: 'delete-by-query' } };
};
const watched = (at: number): Entry => {
  const { entry, index } = decided(at, 'failed', { kind: 'run-error' });
  const { outcome: _, cause: __, ...facts } = entry;
  const times = { startedAt: 10 ** 13, succeededAt: 10 ** 13, lastLookAt: 10 ** 13, nextLookAt: 10 ** 13 };
  return { index, phase: 'watched', entry: facts, watch: { attemptId: 'a', ...times, looks: 5, error: anError('x') } };
};
const many = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));
const namesOf = ({ entries }: RunState) => entries.map(({ entry }) => entry.aspect);

describe('a run state', () => {
  test('that is small enough stays as it is', () => {
    const state = aRunState(many(20, (at) => decided(at, 'failed', { kind: 'run-error' })));
    expect(fitState(state)).toBe(state);
  });

  test.each(['x', '數'])(
    'of 600 entries, each with the largest cause (%s), stays below 200 KiB and loses none',
    (letter) => {
      for (const cause of largest(letter)) {
        const outcome = cause.kind === 'rows-missing' ? 'rows-missing' : 'failed';
        const state = aRunState(many(maxEntries + 1, (at) => decided(at, outcome, cause)));
        const fitted = fitState(state);
        expect(bytesOf(fitted)).toBeLessThan(maxStateBytes);
        expect(namesOf(fitted)).toEqual(namesOf(state));
        const isTold = ({ phase, entry }: Entry) => phase === 'done' && 'outcome' in entry && entry.outcome === outcome;
        expect(fitted.entries.every(isTold)).toBe(true);
      }
    },
  );

  test('of any mixture fits, and never loses what is unresolved, failed or quarantined', () => {
    const entry = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          outcome: fc.constantFrom(...outcomes),
          cause: fc.constantFrom(...largest('x'), ...largest('數')),
        }),
      },
      { weight: 2, arbitrary: fc.constant('approved' as const) },
      { weight: 1, arbitrary: fc.constant('watched' as const) },
    );
    fc.assert(
      fc.property(fc.array(entry, { minLength: 300, maxLength: maxEntries }), fc.nat(100), (drawn, notes) => {
        const entries = drawn.map(
          (one, at): Entry =>
            one === 'approved' ? approved(at) : one === 'watched' ? watched(at) : decided(at, one.outcome, one.cause),
        );
        const state = aRunState(entries, {
          notes: many(notes, (at) => ({ kind: 'nothing-to-clear', index: `dataset.a${at}` })),
          unmanagedIndices: many(100, (at) => ({ indexName: `${long('i', 200)}${at}` })),
        });
        const fitted = fitState(state);
        expect(bytesOf(fitted)).toBeLessThan(maxStateBytes);
        const kept = new Set(namesOf(fitted));
        const fine = entries.filter((one) => one.phase === 'done' && resultOf[one.entry.outcome] === 'ok');
        for (const one of fine) kept.add(one.entry.aspect);
        expect(kept.size).toBe(entries.length);
        const folded = fitted.notes.flatMap((note) => (note.kind === 'folded' ? [note.policies] : []));
        const counted = folded.reduce((sum, policies) => sum + policies, 0);
        expect(counted === 0 || counted === fine.length).toBe(true);
      }),
      { numRuns: 4 },
    );
  });

  test('that has no room for all that is approved leaves the last to the next run', () => {
    const state = aRunState(many(maxEntries, approved));
    const fitted = fitState(state);
    expect(bytesOf(fitted)).toBeLessThan(maxStateBytes);
    const phases = fitted.entries.map(({ phase }) => phase);
    const first = phases.indexOf('done');
    expect(first).toBeGreaterThan(0);
    expect(phases.slice(first).every((phase) => phase === 'done')).toBe(true);
    expect(fitted.entries.at(-1)?.entry).toMatchObject({
      outcome: 'not-started',
      cause: { kind: 'no-time', what: 'state' },
    });
    expect(fitted.entries[0]).toMatchObject({ policy: { aspect: state.entries[0]?.entry.aspect } });
  });

  test('has room for more than 300 ordinary policies that are approved', () => {
    const entries = many(maxEntries, (at): Entry => {
      const names = { entityType: 'dataset', aspect: `someAspectOfOurs${at}` };
      const index = searchIndex(names);
      const indexName = `prod_${index}_1753500600000`;
      const facts = { ...names, retentionDays: 90, cutoffMillis: 1_769_743_800_000, indexName, sizeBeforeMb: 1234.5 };
      const counts = { rowsTotal: 12_345_678, rowsToDelete: 2_345_678, strategy: 'delete-by-query' };
      const plan = { rowsToDelete: 2_345_678, strategy: 'delete-by-query' } as const;
      return { index, phase: 'approved', entry: { ...facts, ...counts }, policy: aPolicy(names), plan };
    });
    const approved = fitState(aRunState(entries)).entries.filter(({ phase }) => phase === 'approved');
    expect(approved.length).toBeGreaterThan(300);
  });

  test('that has no room for all that is watched leaves the last to the next run, as still running', () => {
    const fitted = fitState(aRunState(many(maxEntries, watched)));
    expect(bytesOf(fitted)).toBeLessThan(maxStateBytes);
    expect(fitted.entries[0]?.phase).toBe('watched');
    expect(fitted.entries.at(-1)?.entry).toMatchObject({ outcome: 'still-running', cause: { why: 'state' } });
  });

  test('gives away what is fine first, and how rows come back last', () => {
    const missing = largest('x').find(({ kind }) => kind === 'rows-missing')!;
    const fitted = fitState(
      aRunState([
        decided(0, 'rows-missing', missing),
        ...many(500, (at) => decided(at + 1, 'failed', { kind: 'policy', problem: long('p', 600) })),
        ...many(50, (at) => decided(at + 501, 'truncated', { kind: 'verified', by: 'counts' })),
      ]),
    );
    expect(fitted.entries[0]?.entry).toMatchObject({ cause: missing });
    expect(fitted.entries).toHaveLength(501);
    expect(fitted.notes).toContainEqual({ kind: 'folded', outcome: 'truncated', policies: 50 });
  });

  test('never ends a text between the halves of a character', () => {
    const cause: Cause = { kind: 'policy', problem: `${long('x', 38)}😀${long('y', 600)}` };
    const fitted = fitState(aRunState(many(600, (at) => decided(at, 'failed', cause))));
    expect(JSON.stringify(fitted)).not.toMatch(/\\ud[89a-f]/);
  });

  test('of any size makes a report', () => {
    const state = fitState(aRunState(many(maxEntries, (at) => decided(at, 'unknown', largest('數')[6]!))));
    const clock = { now: () => 0, realNow: () => 0, monotonic: () => 0 };
    const settings = {
      stage: 's',
      gmsUrl: 'https://gms',
      mode: 'enforce',
      minRetentionDays: 7,
      maxRunHours: 12,
    } as const;
    const execution = { name: state.runId, startTime: state.startedAt };
    const report = composeReport({ input: { ...state, server: 'https://gms' }, execution }, { settings, clock });
    expect(report.policies).toHaveLength(maxEntries);
    expect(report.policies[0]?.reason).toMatch(/\S/);
  });
});
