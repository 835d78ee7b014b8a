import { describe, expect, test } from 'vitest';
import { type IndexSize, OperationsError } from '../../../../lambda/operations/operations.ts';
import type { Entry } from '../../../../lambda/run/state.ts';
import { aLastVerdict, anIdle, anIndex, aQuarantined, aReindex, aVerdict } from '../../../support/records.ts';
import { aPolicyFor, server, worlds } from '../../../support/world.ts';

const open = worlds();

test('Of a quarantined reindex whose index is not known, rows are not called missing', async () => {
  const world = await open({ indices: [] });
  world.ledger.stored.set(anIndex, aQuarantined({ server, attempt: aReindex() }));
  const [entry] = (await world.plan()).entries;
  expect(entry?.facts).toMatchObject({
    outcome: 'quarantined',
    cause: { today: { error: { kind: 'no-index', operation: 'dry-run' } } },
  });
});

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

describe('The order of a run', () => {
  const indices = [
    { entityType: 'dataset', aspect: 'operation', rows: 900, days: 100 },
    { entityType: 'dataset', aspect: 'datasetProfile', rows: 300, days: 100 },
    { entityType: 'chart', aspect: 'chartUsageStatistics', rows: 300, days: 100 },
  ];
  const policies = [
    aPolicyFor('operation'),
    aPolicyFor('datasetProfile'),
    aPolicyFor('chartUsageStatistics', {}, 'chart'),
    aPolicyFor('queryUsageStatistics', { enabled: false }, 'query'),
  ];

  test.each([
    [
      'is the smallest first, then by name; what has no count comes after',
      'truncated',
      ['chartUsageStatistics', 'datasetProfile', 'operation', 'queryUsageStatistics'],
    ],
    [
      'has an index last whose last verdict was bad',
      'incomplete',
      ['datasetProfile', 'operation', 'chartUsageStatistics', 'queryUsageStatistics'],
    ],
  ] as const)('%s', async (_, outcome, expected) => {
    const world = await open({ indices, policies });
    const index = 'chart_chartusagestatisticsaspect_v1';
    const names = { entityType: 'chart', aspect: 'chartUsageStatistics', index };
    world.ledger.stored.set(
      index,
      anIdle({ ...names, server, lastVerdict: aLastVerdict({ verdict: aVerdict({ outcome }) }) }),
    );
    expect((await world.plan()).entries.map(({ facts }) => facts.aspect)).toEqual(expected);
  });
});

describe('What the ledger holds is reported', () => {
  const held = aQuarantined({ server });
  const policy = (more: object = {}) => aPolicyFor('operation', { owner: 'team-a', ...more });
  test.each<[string, object[], string[]]>([
    ['in place of a policy that is switched off', [policy({ enabled: false })], ['quarantined team-a']],
    ['beside a policy that cannot be read', [policy({ retentionDays: 1 })], ['quarantined', 'failed']],
    ['beside two policies for it', [policy(), policy()], ['quarantined', 'failed', 'failed']],
  ])('%s', async (_, policies, expected) => {
    const world = await open({ policies });
    world.ledger.stored.set(anIndex, held);
    const { entries } = await world.plan();
    const shown = entries.map(({ facts }) => ('outcome' in facts ? [facts.outcome, facts.owner].join(' ').trim() : ''));
    expect(shown).toEqual(expected);
    expect(world.ledger.stored.get(anIndex)).toEqual(held);
  });

  test('by a run whose input is wrong, or whose policies cannot be read', async () => {
    const world = await open();
    world.ledger.stored.set(anIndex, held);
    const outcomes = async (input?: object) =>
      (await world.plan(input)).entries.map(({ facts }) => 'outcome' in facts && facts.outcome);
    expect(await outcomes({ retentionDays: 1 })).toEqual(['quarantined']);
    world.parameters.policies = undefined;
    expect(await outcomes()).toEqual(['quarantined']);
  });
});

describe('A server that stops answering', () => {
  const shown = (entries: Entry[]) =>
    entries.map(({ facts }) => ('outcome' in facts ? [facts.outcome, facts.cause] : []));

  test('after the first policies have been approved starts none of them', async () => {
    const world = await open({ policies: [aPolicyFor('operation'), aPolicyFor('datasetProfile')] });
    let asked = 0;
    const during = world.during('plan', ({ dryRun }) => ({
      dryRun(...given) {
        if (++asked > 1) world.reach.server = false;
        return dryRun(...given);
      },
    }));
    const { entries, error, next } = await world.plan({}, during);
    const cause = { kind: 'setup', what: 'run' };
    expect(shown(entries)).toEqual([
      ['not-started', cause],
      ['failed', cause],
    ]);
    expect([error?.kind, next]).toEqual(['server', 'report']);
  });

  const outOfTime = [['failed', { kind: 'stopped', by: 'plan-time' }]];
  test('while Plan’s time ends leaves its policy to the next run', async () => {
    const world = await open();
    const aborted = new OperationsError({ kind: 'aborted', operation: 'dry-run' });
    const { entries } = await world.plan(
      {},
      world.during('plan', () => ({ dryRun: () => Promise.reject(aborted) })),
    );
    expect(shown(entries)).toEqual(outOfTime);
  });

  test('in time is not asked any more', async () => {
    const world = await open();
    const deadline = () => world.clock.time + 30_000;
    const { entries } = await world.plan({}, { ...world.during('plan'), deadline });
    expect(shown(entries)).toEqual(outOfTime);
    expect(world.standIn.asked().filter(({ action }) => action !== 'getIndexSizes')).toEqual([]);
  });
});
