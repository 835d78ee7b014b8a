import { expect, test } from 'vitest';
import type { Cause } from '../../../../lambda/facts/cause.ts';
import { maxStateBytes } from '../../../../lambda/facts/limits.ts';
import type { Outcome } from '../../../../lambda/facts/outcome.ts';
import { bytesOf, fitState } from '../../../../lambda/run/fit.ts';
import type { DoneEntry, Entry, RunState } from '../../../../lambda/run/state.ts';
import { aPolicy } from '../../../support/policies.ts';
import { aRunState } from '../../../support/states.ts';

/** What a run state gives away, in which order: each thing only when all before it was not enough. */

const figures = {
  retentionDays: 30,
  cutoffMillis: 5,
  strategy: 'delete-by-query',
  rowsTotal: 100,
  rowsToDelete: 60,
  rowsMissing: 7,
  sizeBeforeMb: 1.5,
  taskId: 'n:1',
  owner: 'we',
  note: 'why',
  adopted: true,
} as const;
const facts = (aspect: string) => ({ entityType: 'dataset', aspect, ...figures });
const decided = (aspect: string, outcome: Outcome, cause: Cause): DoneEntry => ({
  index: aspect,
  phase: 'done',
  entry: { ...facts(aspect), outcome, cause },
});
const text = 'x'.repeat(200);
const error = { kind: 'server-error', operation: 'dry-run', text } as const;
const brief = 'y'.repeat(40);
const watch = { attemptId: 'a', startedAt: 0, succeededAt: 0, lastLookAt: 0, nextLookAt: 0, looks: 0 };
const twelve = <Item>(make: (at: number) => Item): Item[] => Array.from({ length: 12 }, (_, at) => make(at));
const whereRows: Cause = { kind: 'rows-missing', expected: 9, found: 2, rowsIn: 'the old index' };

const whole = aRunState(
  [
    decided('fine', 'truncated', { kind: 'verified', by: 'counts' }),
    decided('well', 'disabled', { kind: 'switched-off' }),
    decided('also-fine', 'truncated', { kind: 'verified', by: 'counts' }),
    decided('unread', 'failed', { kind: 'policy', problem: text }),
    decided('paused', 'not-started', { kind: 'paused', problem: text }),
    decided('switched', 'not-started', { kind: 'paused' }),
    decided('refused', 'failed', { kind: 'server', error, sent: 'no' }),
    decided('silent', 'failed', { kind: 'server', error: { kind: 'timeout', operation: 'dry-run' }, sent: 'no' }),
    decided('step', 'failed', { kind: 'step-failed', step: 'truncate', error: 'short', sent: 'no' }),
    decided('brief', 'failed', { kind: 'server', error: { ...error, text: brief }, sent: 'no' }),
    decided('smiling', 'failed', { kind: 'policy', problem: `😀${'x'.repeat(36)}😀${text}` }),
    {
      index: 'lean',
      phase: 'done',
      entry: { entityType: 'dataset', aspect: 'lean', outcome: 'failed', cause: { kind: 'run-error' } },
    },
    decided('missing', 'rows-missing', whereRows),
    ...twelve((at): Entry => {
      const aspect = `approved-${at}`;
      const plan = { rowsToDelete: 60, strategy: 'delete-by-query' } as const;
      return { index: aspect, phase: 'approved', entry: facts(aspect), policy: aPolicy({ aspect }), plan };
    }),
    ...twelve((at): Entry => ({ index: `watched-${at}`, phase: 'watched', entry: facts(`watched-${at}`), watch })),
  ],
  {
    runId: '',
    notes: Array.from({ length: 120 }, (_, at) => ({ kind: 'nothing-to-clear', index: `${at}` })),
    unmanagedIndices: Array.from({ length: 30 }, (_, at) => ({ indexName: `${at}` })),
    preflight: [{ name: 'DNS', state: 'ok', cause: { kind: 'unasked' } } as never],
  },
);

/** With this many bytes more than it has room for. */
const squeezed = (bytes: number): RunState => ({ ...fitState({ ...whole, runId: 'x'.repeat(bytes) }), runId: '' });
/** The state as it is, and after each further thing that it gave away. */
function stagesOf(): RunState[] {
  const stages: RunState[] = [whole];
  for (let last = whole; ; ) {
    const next = squeezed(maxStateBytes - bytesOf(last));
    if (bytesOf(next) >= bytesOf(last)) return stages;
    stages.push(next);
    last = next;
  }
}

const entryOf = ({ entries }: RunState, aspect: string) => entries.find(({ entry }) => entry.aspect === aspect);
const causeOf = (state: RunState, aspect: string) =>
  (entryOf(state, aspect)?.entry as { cause?: Cause } | undefined)?.cause;
/** The state before, with these changes. */
const changed = (before: RunState, change: (entry: Entry) => Entry, more: Partial<RunState> = {}): RunState => ({
  ...before,
  entries: before.entries.map(change),
  ...more,
});
const { retentionDays, strategy, rowsTotal, rowsToDelete, rowsMissing, adopted } = figures;
const bare = { rowsTotal, rowsToDelete, rowsMissing, adopted };
const isFine = ({ entry }: Entry) => ['fine', 'well', 'also-fine'].includes(entry.aspect);
const withoutFigures = (entry: Entry): Entry =>
  entry.phase === 'done'
    ? {
        ...entry,
        entry: {
          entityType: 'dataset',
          aspect: entry.entry.aspect,
          ...(entry.entry.aspect === 'lean' ? {} : bare),
          outcome: entry.entry.outcome,
          cause: entry.entry.cause,
        },
      }
    : entry;
const cutTo =
  (length: number) =>
  (entry: Entry): Entry => {
    if (entry.phase !== 'done') return entry;
    const short = `${text.slice(0, length - 1)}…`;
    const causes: Record<string, Cause> = {
      unread: { kind: 'policy', problem: short },
      paused: { kind: 'paused', problem: short },
      // Half a character is none.
      smiling: {
        kind: 'policy',
        problem: length === 40 ? `😀${'x'.repeat(36)}…` : `😀${'x'.repeat(36)}😀${text.slice(0, length - 41)}…`,
      },
      refused: { kind: 'server', error: { ...error, text: short }, sent: 'no' },
    };
    return { ...entry, entry: { ...entry.entry, cause: causes[entry.entry.aspect] ?? entry.entry.cause } };
  };
const left = (entry: Entry, outcome: Outcome, cause: Cause): Entry => ({
  index: '',
  phase: 'done',
  entry: {
    entityType: 'dataset',
    aspect: entry.entry.aspect,
    ...(entry.entry.aspect === 'lean' ? {} : { rowsMissing }),
    outcome,
    cause,
  },
});
const numberOf = ({ entry }: Entry) => Number(entry.aspect.split('-')[1]);
const leaving =
  (phase: 'approved' | 'watched', from: number) =>
  (entry: Entry): Entry => {
    if (entry.phase !== phase || numberOf(entry) < from) return entry;
    return phase === 'approved'
      ? left(entry, 'not-started', { kind: 'no-time', what: 'state' })
      : left(entry, 'still-running', { kind: 'watching', why: 'state' });
  };

const given: [string, (before: RunState) => RunState][] = [
  ['as it is', () => whole],
  [
    'indices without a policy beyond twenty, and notes beyond a hundred',
    (before) =>
      changed(before, (entry) => entry, {
        unmanagedIndices: whole.unmanagedIndices.slice(0, 20),
        notes: whole.notes.slice(0, 100),
      }),
  ],
  ['figures of what is fine', (before) => changed(before, (entry) => (isFine(entry) ? withoutFigures(entry) : entry))],
  ['texts beyond 120 characters', (before) => changed(before, cutTo(120))],
  [
    'whom to ask, and sizes',
    (before) =>
      changed(
        before,
        ({ entry: { owner: _, note: __, sizeBeforeMb: ___, ...entry }, ...rest }: Entry) =>
          ({ ...rest, entry }) as Entry,
      ),
  ],
  [
    'what is fine, but for how many',
    (before) => ({
      ...before,
      entries: before.entries.filter((entry) => !isFine(entry)),
      notes: [
        { kind: 'folded', outcome: 'truncated', policies: 2 },
        { kind: 'folded', outcome: 'disabled', policies: 1 },
        ...before.notes,
      ],
    }),
  ],
  ['texts beyond 40 characters', (before) => changed(before, cutTo(40))],
  ['figures of what is decided', (before) => changed(before, withoutFigures)],
  [
    'the preflight, indices without a policy, and notes beyond twenty',
    ({ preflight: _, ...before }) => ({ ...before, unmanagedIndices: [], notes: before.notes.slice(0, 20) }),
  ],
  [
    'what Truncate learns anew',
    (before) =>
      changed(before, (entry) =>
        entry.phase === 'approved'
          ? { ...entry, entry: { entityType: 'dataset', aspect: entry.entry.aspect, ...bare, retentionDays, strategy } }
          : entry,
      ),
  ],
  ['the last ten that are approved', (before) => changed(before, leaving('approved', 2))],
  ['all that are approved', (before) => changed(before, leaving('approved', 0))],
  ['the last ten that are watched', (before) => changed(before, leaving('watched', 2))],
  ['all that are watched', (before) => changed(before, leaving('watched', 0))],
  [
    'why, but not where missing rows are',
    (before) =>
      changed(before, (entry) =>
        entry.phase === 'done' && entry.entry.outcome !== 'rows-missing'
          ? left(entry, entry.entry.outcome, { kind: 'cut' })
          : entry,
      ),
  ],
  [
    'even that',
    (before) =>
      changed(before, (entry) => (entry.phase === 'done' ? left(entry, entry.entry.outcome, { kind: 'cut' }) : entry)),
  ],
];

test('a run state gives away what is missed least, each thing only when all before it was not enough', () => {
  const stages = stagesOf();
  for (const [stage, [what, expected]] of given.entries()) {
    expect([what, stages[stage]]).toStrictEqual([what, expected(stages[Math.max(0, stage - 1)]!)]);
  }
  expect(stages).toHaveLength(given.length);
  expect(causeOf(stages.at(-2)!, 'missing')).toStrictEqual(whereRows);
  // A byte less, and nothing is given away.
  for (const stage of stages) expect(squeezed(maxStateBytes - bytesOf(stage) - 1)).toStrictEqual(stage);
});
