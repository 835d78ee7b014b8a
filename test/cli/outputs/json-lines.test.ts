import { expect, test } from 'vitest';
import { jsonLines } from '../../../cli/outputs/json-lines.ts';
import type { Entry } from '../../../lambda/run/state.ts';
import { startWatch } from '../../../lambda/truncation/watch.ts';
import { anIndex, aRunning } from '../../support/records.ts';
import { aRunState } from '../../support/states.ts';

/** `--log json`, as far as whole runs do not show it. */

function events() {
  const lines: Array<Record<string, unknown>> = [];
  const output = jsonLines((line) => lines.push(JSON.parse(line)));
  return { output, told: () => lines.map(({ time: _, ...line }) => line) };
}

test('Counting many indices is not an event for each', () => {
  const { output, told } = events();
  for (let done = 0; done <= 48; done++) output.counted(done, 48);
  expect(told().length).toBeLessThan(10);
  expect(told().at(-1)).toEqual({ event: 'counting', done: 48, of: 48 });
});

test('A check that finds nothing new is no event', () => {
  const { output, told } = events();
  const names = { entityType: 'dataset', aspect: 'operation' };
  const record = aRunning();
  const watched: Entry = { index: anIndex, phase: 'watched', names, record, watch: startWatch(record, 0, 0) };
  const state = aRunState([watched], { notes: [{ kind: 'paused' }] });
  for (const step of ['plan', 'poll', 'poll'] as const) output.state(step, state);
  expect(told().map(({ event }) => event)).toEqual(['planned', 'started', 'progress', 'note']);
});

test('What a person should look at is said: a doubtful receipt, a survey that stopped', () => {
  const { output, told } = events();
  output.posted({ kind: 'posted', host: 'chat.example', status: 200, doubt: 'it answered 200 ("no")' });
  const stopped = { kind: 'timeout', operation: 'dry-run' } as const;
  output.survey({
    ...{ checks: [], damage: [], damaged: [], hints: [], suggestions: [], now: 0 },
    ...{ survey: { indices: [], unnamed: [], stopped }, gain: { rows: 0, of: 0, mb: 0, isMost: false } },
  });
  expect(told()).toEqual([
    { event: 'posted', host: 'chat.example', status: 200, doubt: 'it answered 200 ("no")' },
    { event: 'problem', text: expect.stringContaining('no response came') },
  ]);
});
