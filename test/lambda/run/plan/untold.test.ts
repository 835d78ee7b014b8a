import { expect, test } from 'vitest';
import { maxEntries } from '../../../../lambda/facts/limits.ts';
import { untoldIn } from '../../../../lambda/run/plan/untold.ts';
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
