import { expect, test } from 'vitest';
import { maxPolls, nextStep } from '../../../lambda/run/next.ts';
import type { RunSettings } from '../../../lambda/run/services.ts';
import type { ApprovedEntry, Entry, WatchedEntry } from '../../../lambda/run/state.ts';
import { startWatch, type Watch } from '../../../lambda/truncation/watch.ts';
import { aPolicy } from '../../support/policies.ts';
import { anIndex, aRunning } from '../../support/records.ts';
import { aRunState } from '../../support/states.ts';

/** What the workflow does next, where no transcript comes: watching/run-ends.txt has the end of a run's time. */

const settings = { maxRunHours: 12 } as RunSettings;
const start = Date.parse('2026-03-01T03:30:00.000Z');
const names = { entityType: 'dataset', aspect: 'operation' };
const from = { index: anIndex, facts: { ...names, rowsToDelete: 60 } };
const approved: ApprovedEntry = {
  ...from,
  phase: 'approved',
  policy: aPolicy(),
  plan: { rowsToDelete: 60, deletesInPlace: true },
};
const watched = (more: Partial<Watch>): WatchedEntry => ({
  ...from,
  phase: 'watched',
  watch: { ...startWatch(aRunning(), start, start + 60_000), sentAt: start, ...more },
});
const proceeded = (entries: Entry[], polls: number) => nextStep(aRunState(entries, { polls }), settings, start);

test('At the end of its polls a run ends as at the end of its time, and names no hours', () => {
  const entries = [watched({ task: { completed: false, done: 5, runs: true } }), approved];
  expect(proceeded(entries, maxPolls - 1)).toMatchObject({ next: 'wait', entries });
  const stopped = { kind: 'stopped', by: 'run-time' };
  const { next, entries: ended } = proceeded(entries, maxPolls);
  expect([next, ...ended.map(({ facts }) => facts)]).toMatchObject([
    'report',
    { outcome: 'still-running', cause: { kind: 'open', why: 'run-time' } },
    { outcome: 'not-started', cause: stopped },
  ]);
  expect(ended[1]?.facts).toHaveProperty('cause', stopped);
});

test('Without the number of rows that were due, or of those that are left, an entry does not say how many were deleted', () => {
  const factsAtEnd = (entry: WatchedEntry) => proceeded([entry], maxPolls).entries[0]?.facts;
  expect(factsAtEnd({ ...watched({ rowsLeft: 20 }), facts: names })).not.toHaveProperty('rowsDeleted');
  expect(factsAtEnd(watched({}))).not.toHaveProperty('rowsDeleted');
});

test('An entry does not say of its task what nobody has seen', () => {
  const [entry] = proceeded([watched({ vanished: false })], maxPolls).entries;
  expect(entry?.facts).toMatchObject({ cause: { vanished: undefined, ended: undefined } });
});
