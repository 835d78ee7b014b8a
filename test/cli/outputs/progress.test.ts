import { expect, test } from 'vitest';
import { createProgress } from '../../../cli/outputs/screen/progress.ts';
import type { Entry } from '../../../lambda/run/state.ts';
import { startWatch } from '../../../lambda/truncation/watch.ts';
import { aPolicy } from '../../support/policies.ts';
import { anIndex, aRunning } from '../../support/records.ts';
import { aRunState } from '../../support/states.ts';

const watched: Entry = {
  index: anIndex,
  phase: 'watched',
  names: { entityType: 'dataset', aspect: 'operation' },
  resumed: true,
  record: aRunning(),
  watch: startWatch(aRunning(), 0, 0),
};
const approved: Entry = {
  index: 'dataset_datasetprofileaspect_v1',
  phase: 'approved',
  names: { entityType: 'dataset', aspect: 'datasetProfile' },
  policy: aPolicy(),
  plan: { cutoffMillis: 0, counts: { rowsToDelete: 9, rowsTotal: 10, method: 'delete' } },
};

/** The lines of a plan, and of the state after it. */
function linesOf(...entries: Entry[]) {
  const lines: string[] = [];
  const { state } = createProgress(
    (line) => lines.push(line),
    (_, text) => text,
    () => 80,
  );
  state('plan', aRunState(entries));
  const atPlan = lines.splice(0);
  state('poll', aRunState(entries));
  return { atPlan, later: lines };
}

test('What an earlier run has started stands below the question about the plan, not above it', () => {
  const { atPlan, later } = linesOf(approved, watched);
  expect(atPlan).toHaveLength(1);
  expect(later.join('\n')).toMatch(/^Truncating one index after another.*\n {2}dataset\.operation/);
});

test('Without a question it is shown at once', () => {
  expect(linesOf(watched).atPlan.join('\n')).toMatch(/\n {2}dataset\.operation/);
});
