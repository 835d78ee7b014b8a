import { expect, test } from 'vitest';
import { maxPolls, nextStep } from '../../../lambda/run/next.ts';
import type { RunSettings } from '../../../lambda/run/services.ts';
import type { ApprovedEntry, Entry, WatchedEntry } from '../../../lambda/run/state.ts';
import { view } from '../../../lambda/run/view.ts';
import { startWatch, type Watch } from '../../../lambda/truncation/watch.ts';
import { aPolicy } from '../../support/policies.ts';
import { anIndex, aRunning } from '../../support/records.ts';
import { aRunState } from '../../support/states.ts';

/** What the workflow does next, where no transcript comes: watching/run-ends.txt has the end of a run's time. */

const settings = { maxRunHours: 12 } as RunSettings;
const start = Date.parse('2026-03-01T03:30:00.000Z');
const names = { entityType: 'dataset', aspect: 'operation' };
const from = { index: anIndex, names };
const approved: ApprovedEntry = {
  ...from,
  phase: 'approved',
  policy: aPolicy(),
  plan: { cutoffMillis: 0, counts: { rowsToDelete: 60, rowsTotal: 100, method: 'delete' } },
};
const watched = (more: Partial<Watch>): WatchedEntry => ({
  ...from,
  phase: 'watched',
  record: aRunning(),
  watch: { ...startWatch(aRunning(), start, start + 60_000), sentAt: start, ...more },
});
const proceeded = (entries: Entry[], polls: number) => nextStep(aRunState(entries, { polls }), settings, start);

test('At the end of its polls a run ends as at the end of its time, and names no hours', () => {
  const entries = [watched({ task: { completed: false, done: 5, runs: true } }), approved];
  expect(proceeded(entries, maxPolls - 1)).toMatchObject({ next: 'wait', entries });
  const stopped = { kind: 'stopped', by: 'run-time' };
  const { next, entries: ended } = proceeded(entries, maxPolls);
  const decided = ended.map((entry) => entry.phase === 'done' && entry.decision);
  expect([next, ...decided]).toMatchObject([
    'report',
    { outcome: 'still-running', cause: { kind: 'unresolved', why: 'run-time' } },
    { outcome: 'not-started', cause: stopped },
  ]);
  expect(decided[1]).toHaveProperty('cause', stopped);
});

test('Without the number of rows that are left, an entry does not say how many were deleted', () => {
  const shownAtEnd = (entry: WatchedEntry) => {
    const state = proceeded([entry], maxPolls);
    return view(state.entries[0] as Entry, state).rowsDeleted;
  };
  expect([shownAtEnd(watched({ rowsLeft: 20 })), shownAtEnd(watched({}))]).toEqual([40, undefined]);
});

test('An entry does not say of its task what nobody has seen', () => {
  const [entry] = proceeded([watched({ vanished: false })], maxPolls).entries;
  expect(entry).toMatchObject({ decision: { cause: { vanished: undefined, ended: undefined } } });
});
