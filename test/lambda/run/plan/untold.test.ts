import { expect, test } from 'vitest';
import { maxEntries } from '../../../../lambda/facts/limits.ts';
import { withinLimit } from '../../../../lambda/run/plan/limit.ts';
import { untoldIn } from '../../../../lambda/run/plan/untold.ts';
import type { RunState } from '../../../../lambda/run/state.ts';
import { aJudged, aServer } from '../../../support/records.ts';

test('what does not fit into a state is carried neither as a verdict nor as a release, so that nothing marks it', () => {
  const records = Array.from({ length: maxEntries + 6 }, (_, at) => {
    const { decision } = aJudged();
    const index = `dataset_a${at}aspect_v1`;
    return aJudged({ index, aspect: `a${at}`, decision: { ...decision, id: `${at}@1`, released: true } });
  });
  const run = { runId: 'run-9', runStartMillis: 9_000_000, server: aServer };
  const { verdicts, notes, releases } = untoldIn(records, [], run, 9_000_000);
  expect([verdicts.size, notes.length, releases.length]).toEqual([maxEntries, maxEntries, maxEntries]);
});

test('a verdict for which a report has no room takes its release with it: the note alone marks nothing', () => {
  const records = Array.from({ length: maxEntries + 6 }, (_, at) => {
    const { decision } = aJudged();
    const released = at >= 10 || undefined;
    return aJudged({ index: `dataset_a${at}aspect_v1`, decision: { ...decision, id: `${at}@1`, released } });
  });
  const run = { runId: 'run-9', runStartMillis: 9_000_000, server: aServer };
  const { verdicts, notes, releases } = untoldIn(records, [], run, 9_000_000);
  const all = [...verdicts.values()].map(({ entry }) => entry);
  const { entries, releases: kept } = withinLimit({ entries: all, notes, releases } as RunState);
  expect([all.length, entries.length, releases.length]).toEqual([maxEntries + 6, maxEntries, maxEntries - 4]);
  const carried = new Set(entries.map(({ index }) => index));
  expect(kept.filter(({ index }) => !carried.has(index))).toEqual([]);
  expect(kept).toHaveLength(maxEntries - 10);
});
