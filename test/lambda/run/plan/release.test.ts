import { describe, expect, test } from 'vitest';
import { OperationsError } from '../../../../lambda/operations/operations.ts';
import { anAttempt, anIndex, aQuarantined } from '../../../support/records.ts';
import { aPolicyFor, server, worlds } from '../../../support/world.ts';

/** A run that releases: which indices it means, however they are written. */

const open = worlds();
const unknownIndex = 'team_eventaspect_v1';

/** A quarantined index that is whole. */
const whole = (now: number, more: object = {}) => {
  const attempt = anAttempt({
    policyCutoffMillis: now - 30 * 86_400_000,
    baseline: { rowsToDelete: 600, rowsTotal: 1000, rowsToKeep: 400, countedAtMillis: now },
  });
  return aQuarantined({ server, attempt, ...more });
};

describe('A release', () => {
  test('means an index however its name is written, once, and calls it by its policy’s', async () => {
    const world = await open();
    world.ledger.stored.set(anIndex, whole(world.clock.time, { entityType: 'DATASET', aspect: 'OPERATION' }));
    const state = await world.plan({ release: ['DATASET.operation', 'dataset.Operation'] });
    expect(state.notes).toMatchObject([{ kind: 'released', index: 'dataset.operation', missing: 0 }]);
    expect(state.releases).toEqual([{ index: anIndex, revision: 2, decidedAtMillis: world.clock.time }]);
    expect(world.ledger.stored.get(anIndex)).toMatchObject({ state: 'idle', aspect: 'operation', server });
  });

  test.each<[string, object, string]>([
    ['by the names in its record', { ...aQuarantined({ server }), entityType: 'Team', aspect: 'Event' }, 'Team.Event'],
    ['as it was written, if the record has no names', { revision: 1, state: 'quarantined' }, 'team.event'],
  ])('calls an index without a policy %s', async (_, record, name) => {
    const world = await open();
    world.ledger.stored.set(unknownIndex, { ...record, index: unknownIndex });
    const { notes } = await world.plan({ release: ['TEAM.EVENT'] });
    expect(notes).toContainEqual(expect.objectContaining({ kind: 'not-released', index: name }));
  });

  test('of several indices says something of each, in the order in which they were named', async () => {
    const world = await open({ policies: [aPolicyFor('operation'), aPolicyFor('datasetProfile')] });
    world.ledger.stored.set(anIndex, whole(world.clock.time));
    const { notes } = await world.plan({ release: ['dataset.datasetProfile', 'dataset.operation'] });
    expect(notes).toMatchObject([
      { kind: 'released', index: 'dataset.operation' },
      { kind: 'not-released', index: 'dataset.datasetProfile', why: 'idle' },
    ]);
  });

  test.each([
    [
      'cannot be read, it is refused',
      () => Promise.reject(new OperationsError({ kind: 'timeout', operation: 'task-status' })),
      false,
    ],
    ['is no longer known, it is granted', async () => ({ kind: 'vanished' }) as const, true],
  ])('of a whole reindex asks for its status: if that %s', async (_, taskStatus, isGranted) => {
    const world = await open();
    const { attempt } = whole(world.clock.time);
    const baseline = { ...attempt.baseline, rowsToDelete: 5000 };
    const record = { ...whole(world.clock.time), attempt: { ...attempt, reindexes: true, baseline }, taskId: 'node:1' };
    world.ledger.stored.set(anIndex, record);
    const services = world.during('plan');
    const operations = { ...services.operations, taskStatus };
    const { notes } = await world.plan({ release: ['dataset.operation'] }, { ...services, operations });
    expect(notes).toMatchObject([isGranted ? { kind: 'released' } : { kind: 'not-released', unknown: 'reindex' }]);
  });

  test('that its time does not suffice for is refused: nothing was counted', async () => {
    const world = await open();
    world.ledger.stored.set(anIndex, whole(world.clock.time));
    const deadline = () => world.clock.time + 30_000;
    const { notes } = await world.plan({ release: ['dataset.operation'] }, { ...world.during('plan'), deadline });
    expect(notes).toMatchObject([{ kind: 'not-released', why: 'unknown', error: { kind: 'aborted' } }]);
    expect(world.ledger.stored.get(anIndex)).toMatchObject({ state: 'quarantined' });
  });
});
