import { expect, test } from 'vitest';
import { OperationsError } from '../../../../lambda/gms/operations.ts';
import { worlds } from '../../../support/world.ts';

const open = worlds();

test('A server that stops answering while Plan’s time ends leaves its policy to the next run', async () => {
  const world = await open();
  const aborted = new OperationsError({ kind: 'aborted', operation: 'dry-run' });
  const services = world.during('plan', () => ({ dryRun: () => Promise.reject(aborted) }));
  const { entries } = await world.plan({}, services);
  expect(entries).toMatchObject([{ decision: { outcome: 'failed', cause: { kind: 'stopped', by: 'plan-time' } } }]);
});
