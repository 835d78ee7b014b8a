import { expect, test } from 'vitest';
import { jsonLines } from '../../../cli/outputs/json-lines.ts';
import { createProgress } from '../../../cli/outputs/screen/progress.ts';
import type { Entry } from '../../../lambda/run/state.ts';
import { startWatch } from '../../../lambda/truncation/watch.ts';
import { aPolicy } from '../../support/policies.ts';
import { anIndex, aReindex, aRunning } from '../../support/records.ts';
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

/** The lines of a plan, and of the state after it, on a terminal. */
function linesOf(entries: Entry[], columns = 80) {
  const lines: string[] = [];
  const width = () => columns;
  const { state } = createProgress(
    (...more) => lines.push(...more),
    (_, text) => text,
    { width, room: width },
  );
  state('plan', aRunState(entries));
  const atPlan = lines.splice(0);
  // The second check finds nothing new.
  for (let polls = 1; polls <= 2; polls++) state('poll', aRunState(entries, { polls }));
  return { atPlan, later: lines };
}

test('What an earlier run has started stands below the question about the plan, not above it', () => {
  const { atPlan, later } = linesOf([approved, watched]);
  expect(atPlan).toHaveLength(1);
  expect(later.join('\n')).toMatch(/^Truncating one index after another[^:]*:\n {2}dataset\.operation[^\n]*$/);
});

test('Without a question it is shown at once, also where nothing says how far it is', () => {
  const unknown: Entry = { ...watched, record: aRunning({ attempt: aReindex() }) };
  for (const entry of [watched, unknown]) {
    expect(linesOf([entry]).atPlan.join('\n')).toMatch(/\n {2}dataset\.operation/);
  }
});

test.each([40, 60, 80])('on a terminal of %i columns no line is wider, and no word is torn apart', (columns) => {
  const whole = linesOf([approved, watched], 500).later.join(' ').split(/\s+/);
  const { later } = linesOf([approved, watched], columns);
  expect(later.filter(({ length }) => length > columns)).toEqual([]);
  expect(later.join(' ').split(/\s+/)).toEqual(whole);
});

test('--log json: counting an index, or a check that finds nothing new, is no event; what a person should look at is', () => {
  const lines: string[] = [];
  const output = jsonLines((line) => lines.push(line));
  for (let done = 0; done <= 48; done++) output.counted(done, 48);
  const state = aRunState([watched], { notes: [{ kind: 'paused' }] });
  for (const step of ['plan', 'poll', 'poll'] as const) output.state(step, state);
  output.posted({ kind: 'posted', host: 'chat.example', status: 200, doubt: 'it answered 200' });
  const stopped = { kind: 'timeout', operation: 'dry-run' } as const;
  const nothing = { checks: [], damage: [], damaged: [], hints: [], suggestions: [], now: 0 };
  const gain = { rows: 0, of: 0, mb: 0, isMost: false };
  output.survey({ ...nothing, gain, survey: { indices: [], unnamed: [], stopped } });
  const events = ['counting', 'counting', 'planned', 'started', 'progress', 'note', 'posted', 'problem'];
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(events);
  expect(lines.join()).toMatch(/"doubt":"it answered 200".*no response came/s);
});
