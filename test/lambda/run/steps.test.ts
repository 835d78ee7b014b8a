import { expect, test } from 'vitest';
import { OperationsError } from '../../../lambda/gms/operations.ts';
import { poll } from '../../../lambda/run/poll.ts';
import type { WatchedEntry } from '../../../lambda/run/state.ts';
import { startWatch } from '../../../lambda/truncation/watch.ts';
import { anIndex, aQuarantined, aRunning } from '../../support/records.ts';
import { aRunState } from '../../support/states.ts';
import { server, worlds } from '../../support/world.ts';

/** Plan and Poll, called by themselves, where no transcript comes. */

const open = worlds();

/** A run that watches one truncation, whose next check is due after this many milliseconds. */
async function watching(dueAfter: number, more: object = {}) {
  const world = await open();
  const now = world.clock.time;
  const running = aRunning({ server });
  world.ledger.stored.set(anIndex, running);
  const watch = startWatch(running, now, now + dueAfter);
  const names = { entityType: 'dataset', aspect: 'operation' };
  const entry: WatchedEntry = { index: anIndex, phase: 'watched', names, record: running, watch };
  return { world, entry, state: aRunState([entry], { server, runStartMillis: now, ...more }) };
}

test('A check is not begun half a minute before the function’s end: the entry stays as it is', async () => {
  const { world, entry, state } = await watching(0);
  const { entries } = await poll(state, { ...world.during('poll'), deadline: () => world.clock.time + 30_000 });
  expect(entries).toEqual([entry]);
  expect(world.standIn.asked()).toEqual([]);
});

test('After a failed Truncate of which nothing is approved any more, only the failure is dropped', async () => {
  const failure = { step: 'truncate', error: 'Sandbox.Timedout' };
  const { world, entry, state } = await watching(60_000, { failure });
  const after = await poll(state, world.during('poll'));
  expect([after.failure, after.notes, after.entries]).toEqual([undefined, [], [entry]]);
});

test('A server that stops answering while Plan’s time ends leaves its policy to the next run', async () => {
  const world = await open();
  const aborted = new OperationsError({ kind: 'aborted', operation: 'dry-run' });
  const services = world.during('plan', () => ({ dryRun: () => Promise.reject(aborted) }));
  const { entries } = await world.plan({}, services);
  expect(entries).toMatchObject([{ decision: { outcome: 'failed', cause: { kind: 'stopped', by: 'plan-time' } } }]);
});

test('A release that its time does not suffice for is refused: nothing was counted', async () => {
  const world = await open();
  world.ledger.stored.set(anIndex, aQuarantined({ server }));
  const deadline = () => world.clock.time + 30_000;
  const { notes } = await world.plan({ release: ['dataset.operation'] }, { ...world.during('plan'), deadline });
  expect(notes).toMatchObject([{ kind: 'not-released', why: 'unknown', error: { kind: 'aborted' } }]);
  expect(world.ledger.stored.get(anIndex)).toMatchObject({ state: 'quarantined' });
});
