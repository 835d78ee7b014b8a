import { describe, expect, test } from 'vitest';
import { LEDGER_VERSION } from '../../../../lambda/ledger/record.ts';
import { anAttempt, anIdle, anIndex, aQuarantined, aRunning } from '../../../support/records.ts';
import { aPolicyFor, server, worlds } from '../../../support/world.ts';

/** A run that releases: which indices it means, however they are written, and what it does to them. */

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
    expect(state.notes).toMatchObject([{ kind: 'released', index: 'dataset.operation', rowsMissing: 0 }]);
    expect(state).toMatchObject({ mode: 'enforce', next: 'report', entries: [] });
    expect(world.ledger.stored.get(anIndex)).toMatchObject({
      state: 'judged',
      entityType: 'dataset',
      aspect: 'operation',
      server,
    });
  });

  test.each<[string, object, string]>([
    [
      'by the names in its record',
      { ...aQuarantined({ server, attempt: undefined }), entityType: 'Team', aspect: 'Event' },
      'Team.Event',
    ],
    [
      'as it was written, if the record has no names',
      { revision: 1, version: LEDGER_VERSION + 1, state: 'quarantined' },
      'TEAM.EVENT',
    ],
    [
      'as it was written, if the record has only one of them',
      { revision: 1, version: LEDGER_VERSION + 1, state: 'quarantined', entityType: 'Team' },
      'TEAM.EVENT',
    ],
  ])('calls an index without a policy %s', async (_, record, name) => {
    const world = await open();
    world.ledger.stored.set(unknownIndex, { ...record, index: unknownIndex });
    const { notes } = await world.plan({ release: ['TEAM.EVENT'] });
    expect(notes).toMatchObject([{ kind: 'not-released', index: name, why: 'uncounted' }]);
  });

  test('ends a record of another index that somebody has put in its place: by the name of its own, and for good', async () => {
    const world = await open({ policies: [] });
    const { index: _, ...operation } = whole(world.clock.time);
    world.ledger.stored.set(unknownIndex, { ...operation, index: anIndex });
    const [entry] = (await world.plan()).entries;
    expect(entry?.entry).toMatchObject({ entityType: 'team', aspect: 'event', outcome: 'quarantined' });
    await world.run({ input: { release: ['team.event'], acceptMissing: 0 } });
    expect(world.ledger.stored.get(unknownIndex)).toMatchObject({
      state: 'idle',
      index: unknownIndex,
      aspect: 'event',
    });
  });

  test('calls each of several indices without a policy by the name that was given for it', async () => {
    const world = await open();
    const named = ['team.one', 'TEAM.EVENT'];
    for (const index of ['team_oneaspect_v1', unknownIndex]) {
      world.ledger.stored.set(index, { revision: 1, version: LEDGER_VERSION + 1, state: 'quarantined', index });
    }
    const { notes } = await world.plan({ release: named });
    expect(notes.map((note) => 'index' in note && note.index)).toEqual(named);
  });

  test('of several indices says something of each, in the order in which they were named', async () => {
    const policies = [aPolicyFor('operation'), aPolicyFor('datasetProfile')];
    const world = await open({ policies });
    world.ledger.stored.set(anIndex, whole(world.clock.time));
    const { notes } = await world.plan({ release: ['dataset.datasetProfile', 'dataset.operation'] });
    expect(notes).toMatchObject([
      { kind: 'nothing-to-release', index: 'dataset.datasetProfile' },
      { kind: 'released', index: 'dataset.operation' },
    ]);
  });

  test('accepts as many missing rows as its input says', async () => {
    const world = await open();
    world.ledger.stored.set(anIndex, whole(world.clock.time));
    world.standIn.removeRows('dataset.operation', ({ id }) => id > 990);
    const { notes } = await world.plan({ release: ['dataset.operation'], acceptMissing: 10 });
    expect(notes).toMatchObject([{ kind: 'released', rowsMissing: 10 }]);
  });

  test('that its time does not suffice for is refused: nothing was counted', async () => {
    const world = await open();
    world.ledger.stored.set(anIndex, whole(world.clock.time));
    const deadline = () => world.clock.time + 30_000;
    const input = { release: ['dataset.operation'] };
    const { notes } = await world.plan(input, { ...world.during('plan'), deadline });
    expect(notes).toMatchObject([{ kind: 'not-released', why: 'server', error: { kind: 'aborted' } }]);
    expect(world.ledger.stored.get(anIndex)).toMatchObject({ state: 'quarantined' });
  });

  test('truncates and watches nothing', async () => {
    const world = await open();
    const attempt = anAttempt({ runId: 'run-0', judgeableAt: Number.MAX_SAFE_INTEGER });
    world.ledger.stored.set(anIndex, aRunning({ server, attempt }));
    world.ledger.stored.set(unknownIndex, anIdle({ index: unknownIndex, server }));
    const { entries, notes, next } = await world.plan({ release: ['dataset.operation'] });
    expect([entries, next]).toEqual([[], 'report']);
    expect(notes).toMatchObject([{ kind: 'not-released', why: 'unresolved' }]);
    expect(world.realTruncates()).toEqual([]);
  });
});
