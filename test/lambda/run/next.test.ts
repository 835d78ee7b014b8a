import { describe, expect, test } from 'vitest';
import type { Cause } from '../../../lambda/facts/cause.ts';
import { endOf } from '../../../lambda/run/entries.ts';
import { holdsBack, proceed } from '../../../lambda/run/next.ts';
import type { ApprovedEntry, DoneEntry, Entry, RunState, WatchedEntry } from '../../../lambda/run/state.ts';
import type { Watch } from '../../../lambda/truncation/watch.ts';
import { aPolicy } from '../../support/policies.ts';
import { aRunState } from '../../support/states.ts';

const start = Date.parse('2026-03-01T03:30:00.000Z');
const hour = 3_600_000;
const settings = { stage: 's', gmsUrl: 'https://gms', mode: 'enforce', minRetentionDays: 7, maxRunHours: 12 } as const;

const approved = (aspect = 'a'): ApprovedEntry => ({
  index: aspect,
  phase: 'approved',
  entry: { entityType: 'dataset', aspect, rowsToDelete: 5 },
  policy: aPolicy({ aspect }),
  plan: { rowsToDelete: 5, strategy: 'delete-by-query' },
});
const watched = (fields: Partial<Watch> = {}, adopted = false): WatchedEntry => ({
  index: 'w',
  phase: 'watched',
  entry: { entityType: 'dataset', aspect: 'w', ...(adopted && { adopted }) },
  watch: {
    attemptId: 'x',
    startedAt: start,
    succeededAt: start,
    lastLookAt: start,
    nextLookAt: start + 60_000,
    looks: 3,
    ...fields,
  },
});
const done: DoneEntry = {
  index: 'd',
  phase: 'done',
  entry: { entityType: 'dataset', aspect: 'd', outcome: 'truncated', cause: { kind: 'verified', by: 'counts' } },
};
const proceeded = (entries: Entry[], more: Partial<RunState> = {}, now = start + 1000) =>
  proceed(aRunState(entries, more), settings, now);
const outcomes = ({ entries }: RunState) =>
  entries.map((entry) => (entry.phase === 'done' ? [entry.entry.outcome, entry.entry.cause] : [entry.phase]));

describe('what the workflow does next', () => {
  test('starts the next approved truncation if none is running', () => {
    expect(proceeded([done, approved()])).toMatchObject({ next: 'truncate', waitSeconds: 10 });
  });

  test('waits for the next look while one is running, rounded up to whole seconds', () => {
    expect(proceeded([approved(), watched({ nextLookAt: start + 5001 })])).toMatchObject({
      next: 'wait',
      waitSeconds: 5,
    });
    expect(proceeded([watched({ nextLookAt: start + 5000 })])).toMatchObject({ waitSeconds: 4 });
    expect(proceeded([watched({ nextLookAt: start })])).toMatchObject({ waitSeconds: 1 });
  });

  test('waits for the earliest look, and never past the end of the run', () => {
    const looks = [watched({ nextLookAt: start + 90_000 }), watched({ nextLookAt: start + 31_000 })];
    expect(proceeded(looks)).toMatchObject({ waitSeconds: 30 });
    expect(proceeded([watched({ nextLookAt: start + 99 * hour })], {}, start + 11 * hour)).toMatchObject({
      waitSeconds: 3600,
    });
  });

  test('reports when nothing is left', () => {
    expect(proceeded([done])).toMatchObject({ next: 'report', waitSeconds: 0 });
    expect(proceeded([])).toMatchObject({ next: 'report' });
  });

  test('starts nothing more once the breaker is open, and reports why', () => {
    const breaker: Cause = { kind: 'stopped', by: 'breaker', index: 'x', outcome: 'unknown' };
    const stopped = proceeded([approved(), watched(), done], { breaker });
    expect(outcomes(stopped)).toEqual([['not-started', breaker], ['watched'], outcomes(stopped)[2]]);
    expect(stopped.next).toBe('wait');
    expect(proceeded([approved()], { breaker }).next).toBe('report');
  });

  test('ends with its time: a waiting truncation is not started, a running one still running with its last look', () => {
    const error = { kind: 'timeout', operation: 'dry-run' } as const;
    const seen = watched({ progress: { done: 3, total: 9, at: 0 }, completedAt: 5, error });
    const ended = proceeded([approved(), seen, watched()], {}, endOf(aRunState([]), settings));
    expect(ended.next).toBe('report');
    expect(outcomes(ended)).toEqual([
      ['not-started', { kind: 'stopped', by: 'run-time', hours: 12 }],
      ['still-running', { kind: 'watching', why: 'run', hours: 12, done: 3, total: 9, ended: true, error }],
      ['still-running', { kind: 'watching', why: 'run', hours: 12 }],
    ]);
    expect(proceeded([approved()], {}, endOf(aRunState([]), settings) - 1).next).toBe('truncate');
  });

  test('ends with its history', () => {
    const turns = { truncate: 0, poll: 2700 };
    expect(outcomes(proceeded([approved(), watched()], { turns }))).toStrictEqual([
      ['not-started', { kind: 'stopped', by: 'history' }],
      ['still-running', { kind: 'watching', why: 'history' }],
    ]);
  });

  test('the end of its time comes before any other reason not to start', () => {
    const over = proceeded([approved()], { breaker: { kind: 'paused' } }, start + 12 * hour);
    expect(outcomes(over)).toEqual([['not-started', { kind: 'stopped', by: 'run-time', hours: 12 }]]);
  });

  test('only waits while a failed Truncate may still send', () => {
    const failure = { step: 'truncate', error: 'X', sendsUntil: start + hour } as const;
    const waits = proceeded([approved('a'), approved('b')], { failure, breaker: { kind: 'paused' } });
    expect(waits).toMatchObject({ next: 'wait', waitSeconds: 60 });
    expect(outcomes(waits)).toEqual([['approved'], ['not-started', { kind: 'paused' }]]);
    const soon = proceeded([approved('a'), watched({ nextLookAt: start + 6000 })], { failure });
    expect(soon).toMatchObject({ next: 'wait', waitSeconds: 5 });
    const late = proceeded([approved('a')], { failure }, start + 12 * hour - 5000);
    expect(late).toMatchObject({ next: 'wait', waitSeconds: 5 });
    expect(proceeded([approved()], { failure, turns: { truncate: 0, poll: 2700 } }).next).toBe('report');
    expect(proceeded([done], { failure }).next).toBe('report');
  });
});

describe('a running truncation', () => {
  /** The last successful look saw progress (`moves`), or only an earlier one did (`rests`). */
  const moves = { movedAt: start, succeededAt: start };
  const rests = { movedAt: start, succeededAt: start + 1 };
  const holds = (entry: WatchedEntry, hours: number, maxRunHours = 12) =>
    holdsBack(entry, aRunState([entry]), { ...settings, maxRunHours }, start + hours * hour);

  test('of this run holds the others back until it has ended', () => {
    expect(holds(watched({ looks: 500, ...rests }), 11)).toBe(true);
  });

  test.each([
    ['until two looks have shown whether it moves', { looks: 1, ...moves }, 0.1, true],
    ['no longer, if they did not', { looks: 2, ...rests }, 0.1, false],
    ['as long as the last look shows movement', { looks: 50, ...moves }, 1.99, true],
    ['for two hours at most', { looks: 50, ...moves }, 2, false],
    ['not even for its first looks after that', { looks: 0 }, 2, false],
    ['no longer, if no look has shown anything', { looks: 2 }, 0.1, false],
  ])('of an earlier run holds them back %s', (_, fields, hours, expected) => {
    expect(holds(watched(fields, true), hours)).toBe(expected);
  });

  test('of an earlier run holds a short run up for at most half of its time', () => {
    expect(holds(watched({ looks: 9, ...moves }, true), 0.49, 1)).toBe(true);
    expect(holds(watched({ looks: 9, ...moves }, true), 0.5, 1)).toBe(false);
  });

  test('of an earlier run lets the others start when that time is over, not at its next look', () => {
    const old = watched({ looks: 9, ...moves, nextLookAt: start + 2 * hour }, true);
    const waits = (entries: Entry[]) =>
      proceed(aRunState(entries), { ...settings, maxRunHours: 3 }, start + hour).waitSeconds;
    expect(waits([approved(), old])).toBe(1800);
    expect(waits([old])).toBe(3600);
    expect(waits([approved(), old, watched({ nextLookAt: start + 2 * hour })])).toBe(3600);
    expect(waits([approved(), old, watched({ nextLookAt: start + hour + 7000 }, true)])).toBe(7);
  });

  test('that does not hold the others back allows the next start', () => {
    expect(proceeded([approved(), watched({ looks: 9, ...rests }, true)]).next).toBe('truncate');
    expect(proceeded([approved(), watched({ looks: 9, ...moves }, true)]).next).toBe('wait');
  });
});
