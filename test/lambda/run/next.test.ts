import { describe, expect, test } from 'vitest';
import { maxPolls } from '../../../lambda/facts/limits.ts';
import { breakerOf, withBreaker } from '../../../lambda/run/breaker.ts';
import { done } from '../../../lambda/run/entries.ts';
import { proceed } from '../../../lambda/run/next.ts';
import type { RunSettings } from '../../../lambda/run/services.ts';
import type { ApprovedEntry, Entry, WatchedEntry } from '../../../lambda/run/state.ts';
import { startWatch, type Watch } from '../../../lambda/truncation/watch.ts';
import { aPolicy } from '../../support/policies.ts';
import { anIndex, aRunning } from '../../support/records.ts';
import { aRunState } from '../../support/states.ts';

/** What the workflow does next. */

const settings = { maxRunHours: 12 } as RunSettings;
const start = Date.parse('2026-03-01T03:30:00.000Z');
const hour = 3_600_000;
const names = { entityType: 'dataset', aspect: 'operation' };
const from = { index: anIndex, entry: { ...names, rowsToDelete: 60 } };
const approved: ApprovedEntry = {
  ...from,
  phase: 'approved',
  policy: aPolicy(),
  plan: { rowsToDelete: 60, deletesInPlace: true },
};
const watched = (more: Partial<Watch> = {}, resumed?: boolean): WatchedEntry => ({
  ...from,
  phase: 'watched',
  entry: { ...from.entry, resumed },
  watch: { ...startWatch(aRunning(), start, start + 60_000), sentAt: start, ...more },
});
const fine = done(from, 'truncated', { kind: 'verified' });
const proceeded = (entries: Entry[], now = start, more = {}) => proceed(aRunState(entries, more), settings, now);

describe('the next step is', () => {
  test.each<[string, Entry[], 'truncate' | 'wait' | 'report', number]>([
    ['to truncate, if one is approved', [fine, approved], 'truncate', 10],
    ['to wait for the one under way', [watched(), approved], 'wait', 60],
    ['to truncate beside what an earlier run left', [watched({}, true), approved], 'truncate', 10],
    ['to wait for the earliest look', [watched(), watched({ nextCheckAt: start + 5000 }, true)], 'wait', 5],
    ['to wait at least a second', [watched({ nextCheckAt: start - 5000 })], 'wait', 1],
    ['to wait no longer than the run lasts', [watched({ nextCheckAt: start + 99 * hour })], 'wait', 12 * 3600],
    ['to report, if everything is decided', [fine], 'report', 0],
    ['to report, if there is nothing', [], 'report', 0],
  ])('%s', (_, entries, next, waitSeconds) => {
    expect(proceeded(entries)).toMatchObject({ next, waitSeconds });
  });
});

test('a breaker leaves the approved ones unstarted, and lets the others be watched', () => {
  const breaker = { kind: 'stopped', by: 'paused' } as const;
  const { entries, next } = proceeded([approved, watched()], start, { breaker });
  expect(entries[0]?.entry).toMatchObject({ outcome: 'not-started', cause: breaker });
  expect(next).toBe('wait');
});

describe('at the end', () => {
  const end = start + 12 * hour;
  const outcomeAt = (more: Partial<Watch>, now = end, looks = 0) => {
    const { next, entries } = proceeded([watched(more), approved], now, { polls: looks });
    const [entry, other] = entries.map(
      (one) => one.entry as { outcome?: string; cause?: { kind: string; why?: string } },
    );
    return [next, entry?.outcome, entry?.cause?.kind, entry?.cause?.why, other?.outcome].join(' ');
  };
  const task = { completed: false, done: 5, runs: true };

  test.each<[string, Partial<Watch>, string]>([
    ['what has moved is still running', { lastMovedAt: start }, 'report still-running watching run-time not-started'],
    ['what a status says runs, too', { task }, 'report still-running watching run-time not-started'],
    [
      'what has ended and is not verified, too',
      { task: { ...task, completed: true, runs: false } },
      'report still-running watching run-time not-started',
    ],
    ['what has not moved is unknown', { stillSince: start }, 'report unknown unsettled unseen not-started'],
    ['what nobody could look at, too', {}, 'report unknown unsettled unseen not-started'],
  ])('of its time %s', (_, more, expected) => {
    expect(outcomeAt(more)).toBe(expected);
  });

  test('of its looks a run ends as at the end of its time', () => {
    expect(outcomeAt({ task }, start, maxPolls)).toBe('report still-running watching run-time not-started');
    expect(outcomeAt({ task }, start, maxPolls - 1)).toBe('wait    ');
  });

  test('what was not started says why: the hours of the run, or its looks', () => {
    const causeOf = (now: number, looks: number) => {
      const entry = proceeded([approved], now, { polls: looks }).entries[0]?.entry;
      return (entry as { cause?: unknown })?.cause;
    };
    expect(causeOf(end, 0)).toEqual({ kind: 'stopped', by: 'run-time', hours: 12 });
    expect(causeOf(start, maxPolls)).toEqual({ kind: 'stopped', by: 'run-time' });
  });

  test('the entry says how far it has come, by counts', () => {
    const factsAt = (entry: WatchedEntry) => proceeded([entry], end).entries[0]?.entry;
    expect(factsAt(watched({ rowsToDelete: 20 }))).toMatchObject({ rowsDeleted: 40, rowsRemaining: 20 });
    expect(factsAt(watched({ rowsToDelete: 70 }))).toMatchObject({ rowsDeleted: 0, rowsRemaining: 70 });
    expect(factsAt(watched())).not.toHaveProperty('rowsDeleted');
    const unknown = watched({ rowsToDelete: 20 });
    expect(factsAt({ ...unknown, entry: names })).not.toHaveProperty('rowsDeleted');
  });

  test('the entry says that its task has vanished, or nothing of it', () => {
    const toldOf = (more: Partial<Watch>) => proceeded([watched(more)], end).entries.map(({ entry }) => entry);
    expect(toldOf({ vanished: true })).toMatchObject([{ cause: { why: 'unseen', vanished: true } }]);
    expect(toldOf({ vanished: false })).toMatchObject([{ cause: { why: 'unseen', vanished: undefined } }]);
  });
});

describe('the breaker', () => {
  const missing = { kind: 'missing', expected: 40, found: 10 } as const;
  const unsettled = { kind: 'unsettled', why: 'copy' } as const;
  test.each([
    ['is opened by rows that are missing', done(from, 'rows-missing', missing), true],
    [
      'not by rows that went between two runs',
      done(from, 'rows-missing', { ...missing, kind: 'lost-between-runs', since: 1 }),
      false,
    ],
    ['is opened by a copy whose end nobody saw', done(from, 'unknown', unsettled, { reindexes: true }), true],
    ['not by a delete whose end nobody saw', done(from, 'unknown', unsettled, { reindexes: false }), false],
    ['not by what is quarantined since another run', done(from, 'quarantined', missing), false],
    ['not by what is fine', fine, false],
  ])('%s', (_, entry, expected) => {
    expect(breakerOf(entry.entry) !== undefined).toBe(expected);
    expect(withBreaker(aRunState([entry])).breaker !== undefined).toBe(expected);
  });

  test('stays what it was', () => {
    const breaker = { kind: 'stopped', by: 'paused' } as const;
    const state = aRunState([done(from, 'rows-missing', missing)], { breaker });
    expect(withBreaker(state).breaker).toEqual(breaker);
  });
});
