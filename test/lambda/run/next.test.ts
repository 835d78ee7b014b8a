import { describe, expect, test } from 'vitest';
import { breakerOf, withBreaker } from '../../../lambda/run/breaker.ts';
import { doneEntry } from '../../../lambda/run/entries.ts';
import { maxPolls, proceed } from '../../../lambda/run/next.ts';
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
const from = { index: anIndex, facts: { ...names, rowsToDelete: 60 } };
const approved: ApprovedEntry = {
  ...from,
  phase: 'approved',
  policy: aPolicy(),
  plan: { rowsToDelete: 60, deletesInPlace: true },
};
const watched = (more: Partial<Watch> = {}, resumed?: boolean): WatchedEntry => ({
  ...from,
  phase: 'watched',
  facts: { ...from.facts, resumed },
  watch: { ...startWatch(aRunning(), start, start + 60_000), sentAt: start, ...more },
});
const fine = doneEntry(from, 'truncated', { kind: 'verified' });
const proceeded = (entries: Entry[], now = start, more = {}) => proceed(aRunState(entries, more), settings, now);

describe('the next step is', () => {
  test.each<[string, Entry[], 'truncate' | 'wait' | 'report', number]>([
    ['to truncate, if one is approved', [fine, approved], 'truncate', 10],
    ['to wait for the one under way', [watched(), approved], 'wait', 60],
    ['to truncate beside what an earlier run left', [watched({}, true), approved], 'truncate', 10],
    ['to wait for the earliest check', [watched(), watched({ nextCheckAt: start + 5000 }, true)], 'wait', 5],
    ['to wait at least a second', [watched({ nextCheckAt: start - 5000 })], 'wait', 1],
    ['to wait no longer than the run lasts', [watched({ nextCheckAt: start + 99 * hour })], 'wait', 12 * 3600],
    ['to report, if everything is decided', [fine], 'report', 0],
    ['to report, if there is nothing', [], 'report', 0],
  ])('%s', (_, entries, next, waitSeconds) => {
    expect(proceeded(entries)).toMatchObject({ next, waitSeconds });
  });
});

describe('at the end', () => {
  const end = start + 12 * hour;
  const outcomeAt = (more: Partial<Watch>, now = end, polls = 0) => {
    const { next, entries } = proceeded([watched(more), approved], now, { polls });
    const [entry, other] = entries.map(
      (one) => one.facts as { outcome?: string; cause?: { kind: string; why?: string } },
    );
    return [next, entry?.outcome, entry?.cause?.kind, entry?.cause?.why, other?.outcome].join(' ');
  };
  const task = { completed: false, done: 5, runs: true };

  test.each<[string, Partial<Watch>, string]>([
    ['what has moved is still running', { lastMovedAt: start }, 'report still-running open run-time not-started'],
    ['what a status says runs, too', { task }, 'report still-running open run-time not-started'],
    [
      'what has ended and is not verified, too',
      { task: { ...task, completed: true, runs: false } },
      'report still-running open run-time not-started',
    ],
    ['what has not moved is unknown', { stillSince: start }, 'report unknown open run-time not-started'],
    ['what could never be checked, too', {}, 'report unknown open run-time not-started'],
  ])('of its time %s', (_, more, expected) => {
    expect(outcomeAt(more)).toBe(expected);
  });

  test('of its polls a run ends as at the end of its time', () => {
    expect(outcomeAt({ task }, start, maxPolls)).toBe('report still-running open run-time not-started');
    expect(outcomeAt({ task }, start, maxPolls - 1)).toBe('wait    ');
  });

  test('what was not started says why: the hours of the run, or its polls', () => {
    const causeOf = (now: number, polls: number) => {
      const entry = proceeded([approved], now, { polls }).entries[0]?.facts;
      return (entry as { cause?: unknown })?.cause;
    };
    expect(causeOf(end, 0)).toEqual({ kind: 'stopped', by: 'run-time', hours: 12 });
    expect(causeOf(start, maxPolls)).toEqual({ kind: 'stopped', by: 'run-time' });
  });

  test('the entry says how far it has come, by counts', () => {
    const factsAt = (entry: WatchedEntry) => proceeded([entry], end).entries[0]?.facts;
    expect(factsAt(watched({ rowsToDelete: 20 }))).toMatchObject({ rowsDeleted: 40, rowsRemaining: 20 });
    expect(factsAt(watched({ rowsToDelete: 70 }))).toMatchObject({ rowsDeleted: 0, rowsRemaining: 70 });
    expect(factsAt(watched())).not.toHaveProperty('rowsDeleted');
    const unknown = watched({ rowsToDelete: 20 });
    expect(factsAt({ ...unknown, facts: names })).not.toHaveProperty('rowsDeleted');
  });

  test('the entry says what its task has said, or nothing about it', () => {
    const causeOf = (more: Partial<Watch>) => proceeded([watched(more)], end).entries.map(({ facts }) => facts);
    expect(causeOf({ vanished: true })).toMatchObject([{ cause: { vanished: true } }]);
    expect(causeOf({ task: { completed: true, done: 60, total: 60, runs: false } })).toMatchObject([
      { cause: { ended: true } },
    ]);
    expect(causeOf({ vanished: false })).toMatchObject([{ cause: { vanished: undefined, ended: undefined } }]);
  });
});

describe('the breaker', () => {
  const missing = { kind: 'missing', expected: 40, found: 10 } as const;
  const unproven = { kind: 'unproven' } as const;
  test.each([
    ['is opened by rows that are missing', doneEntry(from, 'rows-missing', missing), true],
    ['is opened by a reindex that is not proven', doneEntry(from, 'unknown', unproven, { reindexes: true }), true],
    ['not by a delete that could not be counted', doneEntry(from, 'unknown', unproven, { reindexes: false }), false],
    ['not by what is quarantined since another run', doneEntry(from, 'quarantined', missing), false],
    ['not by what is fine', fine, false],
  ])('%s', (_, entry, expected) => {
    expect(breakerOf(entry.facts) !== undefined).toBe(expected);
    expect(withBreaker(aRunState([entry])).breaker !== undefined).toBe(expected);
  });
});
