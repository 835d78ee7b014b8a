import { expect, test } from 'vitest';
import { OperationsError } from '../../../../lambda/gms/operations.ts';
import { anIndex, aQuarantined } from '../../../support/records.ts';
import { server, worlds } from '../../../support/world.ts';

const open = worlds();

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
