import { describe, expect, test } from 'vitest';
import { type IndexSize, OperationsError } from '../../../../lambda/operations/operations.ts';
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
    return (await world.plan()).unmanagedIndices;
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

  test('are none where the server has one store for everything, or tells no sizes', async () => {
    expect(await unmanaged('postgres')).toEqual([]);
    expect(await told(async () => [])).toEqual([]);
    for (const kind of ['privilege', 'connect'] as const) {
      const refused = async () => {
        throw new OperationsError({ kind, operation: 'index-sizes', status: 403 });
      };
      expect(await told(refused), kind).toEqual([]);
    }
  });

  /** As a server tells them. */
  async function told(indexSizes: () => Promise<IndexSize[]>) {
    const world = await open({ policies: [aPolicyFor('operation')] });
    const services = world.during('plan', () => ({ indexSizes }));
    return (await world.plan({}, services)).unmanagedIndices;
  }

  test('have no names where the server tells none: an index of DataHub is told by its own', async () => {
    const indexName = 'dataset_datasetprofileaspect_v1_1700000000000';
    const sizes = [
      { indexName, sizeMb: 3 },
      { indexName, entityType: 'dataset', sizeMb: 2 },
      { indexName, aspect: 'datasetProfile' },
      { indexName: 'metadata_aspect_timeseries', sizeMb: 99 },
    ];
    expect(await told(async () => sizes)).toEqual([{ indexName, sizeMb: 3 }, { indexName, sizeMb: 2 }, { indexName }]);
  });

  test('are the twenty largest', async () => {
    const sizes = Array.from({ length: 25 }, (_, at) => ({
      indexName: `i${at}`,
      entityType: 'team',
      aspect: `a${at}`,
      ...(at > 0 && { sizeMb: at }),
    }));
    const found = await told(async () => sizes);
    expect(found.map(({ sizeMb }) => sizeMb)).toEqual(Array.from({ length: 20 }, (_, at) => 24 - at));
  });
});

describe('A run', () => {
  test('is by hand where no schedule has sent its time', async () => {
    const world = await open({ policies: [aPolicyFor('operation')] });
    const planned = async (input?: object) => (await world.plan(input)).byHand;
    expect([await planned({ scheduledTime: undefined }), await planned()]).toEqual([true, false]);
  });
});
