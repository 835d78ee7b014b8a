import { describe, expect, test } from 'vitest';
import { plan } from '../../../../lambda/run/plan/plan.ts';
import { aPolicyFor, worlds } from '../../../support/world.ts';

const open = worlds();

describe('The indices without a policy', () => {
  const indices = [
    { entityType: 'dataset', aspect: 'operation', rows: 10, days: 10 },
    { entityType: 'dataset', aspect: 'datasetProfile', rows: 900, days: 10 },
    { entityType: 'chart', aspect: 'chartUsageStatistics', rows: 3000, days: 10 },
    { entityType: 'dataJob', aspect: 'datahubIngestionCheckpoint', rows: 10, days: 10 },
  ];

  async function unmanaged(profile?: 'postgres') {
    const world = await open({ indices, policies: [aPolicyFor('operation')], ...(profile && { profile }) });
    const execution = { name: 'run-1', startTime: new Date(world.clock.time).toISOString() };
    return (await plan({ input: {}, execution }, world.during('plan'))).unmanagedIndices;
  }

  test('are in the report in the spelling of DataHub, the largest first, without the state of ingestion', async () => {
    expect(await unmanaged()).toEqual([
      {
        entityType: 'chart',
        aspect: 'chartUsageStatistics',
        indexName: expect.any(String),
        sizeMb: expect.any(Number),
      },
      { entityType: 'dataset', aspect: 'datasetProfile', indexName: expect.any(String), sizeMb: expect.any(Number) },
    ]);
  });

  test('are none where the server has one store for everything', async () => {
    expect(await unmanaged('postgres')).toEqual([]);
  });
});

describe('A run', () => {
  test('is by hand where no schedule has sent its time', async () => {
    const world = await open({ policies: [aPolicyFor('operation')] });
    const startTime = new Date(world.clock.time).toISOString();
    const planned = async (input: object) =>
      (await plan({ input, execution: { name: 'run-1', startTime } }, world.during('plan'))).byHand;
    expect([await planned({}), await planned({ scheduledTime: startTime })]).toEqual([true, false]);
  });
});
