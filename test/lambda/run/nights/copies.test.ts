import { describe, expect, test } from 'vitest';
import { anIndexOf, type Deployment, deployments, firstNight } from '../../../support/deployment.ts';
import { asReindex, day, entryOf, mailOf, name, ofYesterday, operation, runningOf } from './nights.ts';

/** Nights with a copy: one that ends half-way, one instead of a delete, and rows that a copy misses. */

const started = deployments();
/** Just under half of the index was to be deleted; with three rows fewer it is more than half, so the server reindexes. */
function threeRowsGoJustBeforeTheCall({ services, service, clock }: Deployment): void {
  const { operations } = services;
  services.operations = {
    ...operations,
    async truncate(...call) {
      let gone = 3;
      service.engine.removeRows(name, ({ timestamp }) => timestamp > clock.time - 20 * day && gone-- > 0);
      return operations.truncate(...call);
    },
  };
}

describe('a reindex that is cut half-way and refilled by late rows is not verified', () => {
  test.each<[string, string[], object]>([
    ['cancelled', ['cancel-at=0.5'], asReindex],
    ['its node restarted', ['restart-at=0.5'], asReindex],
    ['cancelled, on a server that reindexes whatever it is told', ['cancel-at=0.5', 'ignores-force-flags'], operation],
  ])('%s', async (_, faults, policy) => {
    const deployment = await started({ faults, policies: [policy], rowsPerSecond: 100 });
    const { engine } = deployment.service;
    engine.schedule(deployment.clock.time + 70_000, () => engine.addRows(name, ofYesterday(deployment, 200)));
    const entry = entryOf(await deployment.night());
    expect(['rows-missing', 'unknown']).toContain(entry.outcome);
    expect(entry.cause.kind).not.toBe('verified');
  });
});

test('a delete that the server turned into a reindex, cut half-way and refilled by late rows, is not verified', async () => {
  // Just under half is due, so the server promises to delete; then an entity is deleted, and it is more than half.
  const deployment = await started({ indices: [anIndexOf(499, 501)], rowsPerSecond: 100 });
  const { engine } = deployment.service;
  engine.set({ knowsForceFlags: false, mode: 'reindex-above-half', cancelAtShare: 0.5 });
  const { operations } = deployment.services;
  deployment.services = {
    ...deployment.services,
    operations: {
      ...operations,
      async truncate(...call) {
        let left = 3;
        engine.removeRows(name, ({ timestamp }) => timestamp > deployment.clock.time - 5 * day && left-- > 0);
        return operations.truncate(...call);
      },
    },
  };
  engine.schedule(deployment.clock.time + 90_000, () => engine.addRows(name, ofYesterday(deployment, 300)));
  const entry = entryOf(await deployment.night());
  expect(['rows-missing', 'unknown']).toContain(entry.outcome);
});

test('a delete that the server turned into a reindex is reported as still copying, without the request that stops it', async () => {
  const deployment = await started({
    indices: [anIndexOf(499, 501)],
    rowsPerSecond: 0.05,
    settings: { maxRunHours: 1 },
    policies: [{ ...operation, batchSize: 10 }],
  });
  const { engine } = deployment.service;
  engine.set({ knowsForceFlags: false, mode: 'reindex-above-half' });
  threeRowsGoJustBeforeTheCall(deployment);
  const report = await deployment.night();
  expect(entryOf(report)).toMatchObject({ outcome: 'still-running', cause: { kind: 'watching', does: 'copy' } });
  expect(mailOf(report)).toContain('still copying');
  expect(mailOf(report)).toContain('Do not stop it');
  expect(mailOf(report)).not.toContain('_cancel');
});

test('a task that was seen copying is judged as a copy when its status and the index name are unavailable at the end', async () => {
  const deployment = await started({
    indices: [anIndexOf(499, 501)],
    rowsPerSecond: 0.2,
    policies: [{ ...operation, batchSize: 10 }],
    settings: { maxRunHours: 0.5 },
  });
  const { engine } = deployment.service;
  engine.set({ knowsForceFlags: false, mode: 'reindex-above-half', sizes: 'failing' });
  threeRowsGoJustBeforeTheCall(deployment);
  expect(entryOf(await deployment.night()).outcome).toBe('still-running');
  expect((await runningOf(deployment)).attempt.copied).toBe('task');
  engine.restartNode();
  engine.addRows(name, ofYesterday(deployment, 600));
  deployment.settings.maxRunHours = 12;
  deployment.clock.time += day;
  expect(['rows-missing', 'unknown']).toContain(entryOf(await deployment.night()).outcome);
});

describe('rows that were not searchable when the copy began', () => {
  test('are reported with the request that copies them over, before anything about the old index', async () => {
    const deployment = await started({ policies: [asReindex] });
    const [before] = deployment.service.engine.indices();
    const report = await deployment.night();
    const entry = entryOf(report);
    expect(entry).toMatchObject({ outcome: 'truncated', cause: { kind: 'verified', stragglersIn: before?.name } });
    const body = JSON.parse(/POST \/_reindex\?wait_for_completion=false (\{.*\})/.exec(entry.reason)![1]!);
    expect(body).toEqual({
      conflicts: 'proceed',
      source: { index: before?.name, query: { range: { timestampMillis: { gt: entry.cutoffMillis } } } },
      dest: { index: entry.indexName, op_type: 'create' },
    });
    expect(mailOf(report)).toMatch(/no count can see them\. Before you remove that index/);
  });
});

test('an hour-long reindex, while entities are deleted, is proven by its status and its name', async () => {
  const deployment = await started({ policies: [{ ...asReindex, batchSize: 20 }], rowsPerSecond: 0.12 });
  const { engine } = deployment.service;
  for (let minute = 2; minute <= 55; minute += 7) {
    engine.schedule(firstNight + minute * 60_000, () => {
      let left = 1;
      engine.removeRows(name, ({ timestamp }) => timestamp > firstNight - 25 * day && left-- > 0);
    });
  }
  const entry = entryOf(await deployment.night());
  expect(entry).toMatchObject({ outcome: 'truncated', cause: { kind: 'verified', by: 'proof' } });
});
