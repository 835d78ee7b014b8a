import { describe, expect, test } from 'vitest';
import { plan } from '../../../lambda/run/plan/plan.ts';
import { truncate } from '../../../lambda/run/truncate.ts';
import { anIndexOf, type Deployment, deployments, outcomesOf } from '../../support/deployment.ts';
import { anIndex } from '../../support/records.ts';
import { day, entryOf, hour, mailOf, name, ofYesterday, operation, recordOf, runningOf } from './nights.ts';

/** What a second hostile reading found, after the finds of docs/finds.md were mended. */

const started = deployments();
const anyShare = { ...operation, minDeletePercent: 0 };

/** Just under half of the index was to go; with three rows fewer it is more, and such a server reindexes. */
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

describe('clearing', () => {
  test.each([
    ['without windows', undefined, { kind: 'not-released', why: 'uncounted' }],
    [
      'with a window that has lost rows',
      [{ from: -30 * day, to: 0, rows: 9_000 }],
      { kind: 'not-released', why: 'rows-missing', rowsMissing: 8_600 },
    ],
  ])('a running record of another version %s never says that all rows are there', async (_, windows, note) => {
    const deployment = await started({ indices: [anIndexOf(0, 400)] });
    const at = deployment.clock.time;
    deployment.ledger.stored.set(anIndex, {
      version: 1,
      index: anIndex,
      entityType: 'dataset',
      aspect: 'operation',
      server: deployment.service.url,
      state: 'running',
      attemptId: 'v1',
      judgeableAt: at - day,
      ...(windows && { windows: windows.map((window) => ({ ...window, from: at + window.from, to: at + window.to })) }),
    } as never);
    const report = await deployment.night({ clear: [name] });
    expect(report.noteFacts).toMatchObject([note]);
    expect(mailOf(report)).not.toContain('All rows that should be there are there');
    expect(deployment.ledger.stored.get(anIndex)).toMatchObject({ version: 1, state: 'running' });
  });

  test('a call that did nothing counts its windows strictly, and tells of rows that went meanwhile', async () => {
    const deployment = await started({ indices: [anIndexOf(600, 10_000)], policies: [anyShare] });
    deployment.service.engine.onRequest = ({ body }) =>
      body.includes('"dryRun":false') ? { kind: 'fail-before', answer: { kind: 'status', status: 504 } } : undefined;
    deployment.settings.maxRunHours = 0.2;
    await deployment.night();
    let gone = 190;
    deployment.service.engine.removeRows(
      name,
      ({ timestamp }) => timestamp > deployment.clock.time - 20 * day && gone-- > 0,
    );
    deployment.settings.maxRunHours = 12;
    deployment.clock.time += day;
    const report = await deployment.night({ clear: [name] });
    expect(report.noteFacts).toMatchObject([{ kind: 'not-released', why: 'rows-missing', rowsMissing: 190 }]);
    const accepted = await deployment.night({ clear: [name], acceptMissing: 190 });
    expect(accepted.noteFacts).toMatchObject([{ kind: 'released', rowsMissing: 190 }]);
  });
});

describe('a delete that the server turned into a reindex, and that goes on when the run ends', () => {
  test('is told as copying, without the request that stops it', async () => {
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
});

test('what was seen to copy is judged as a copy, although neither its status nor a name can be had at the end', async () => {
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

test('nothing is sent beside a task that says it goes on, although its record is older than 20 h', async () => {
  const deployment = await started({
    indices: [anIndexOf(900, 400)],
    rowsPerSecond: 10 / (3.5 * 3600),
    policies: [{ ...operation, batchSize: 10 }],
  });
  await deployment.night({}, 'run-1');
  deployment.clock.time += 8 * hour;
  await deployment.night({}, 'run-2');
  await deployment.night({}, 'run-3');
  expect(deployment.realTruncates()).toHaveLength(1);
  expect((await recordOf(deployment)).state).toBe('running');
});

describe('rows that others take when they are past their retention', () => {
  test('are not missing: datahub-gc, at the same age, night after night', async () => {
    const deployment = await started({ indices: [anIndexOf(600, 3000)] });
    for (let night = 0; night < 18; night++) {
      expect([night, entryOf(await deployment.night()).outcome]).toEqual([
        night,
        expect.not.stringMatching('rows-missing'),
      ]);
      deployment.clock.time += day;
      const { time } = deployment.clock;
      deployment.service.engine.addRows(name, Array(150).fill(time - hour));
      deployment.service.engine.removeRows(name, ({ timestamp }) => timestamp < time - 30 * day);
    }
  });

  test('are not missing: the backlog that a bite left', async () => {
    const deployment = await started({
      indices: [anIndexOf(6000, 1000)],
      policies: [{ ...operation, maxRowsPerRun: 1000, minDeletePercent: 0 }],
    });
    expect(entryOf(await deployment.night()).outcome).toBe('truncated');
    deployment.clock.time += day;
    const { time } = deployment.clock;
    deployment.service.engine.removeRows(name, ({ timestamp }) => timestamp < time - 30 * day);
    expect(entryOf(await deployment.night()).outcome).toBe('nothing-to-delete');
  });
});

describe('rows that are gone since the last verdict', () => {
  test('are told although the policy refuses what the server would do now', async () => {
    const policies = [{ ...operation, strategy: 'delete-by-query-only' }];
    const deployment = await started({ policies, indices: [anIndexOf(300, 600)] });
    deployment.service.engine.set({ knowsForceFlags: false, mode: 'reindex-above-half' });
    expect(entryOf(await deployment.night()).outcome).toBe('truncated');
    deployment.service.engine.removeRows(name, () => true);
    deployment.service.engine.addRows(name, Array(100).fill(deployment.clock.time - 40 * day));
    deployment.clock.time += day;
    expect(entryOf(await deployment.night())).toMatchObject({ outcome: 'rows-missing', cause: { kind: 'gone-since' } });
  });

  test('are told although the index is gone with them', async () => {
    const deployment = await started({ indices: [anIndexOf(300, 600)] });
    expect(entryOf(await deployment.night()).outcome).toBe('truncated');
    for (const index of deployment.service.engine.indices()) deployment.service.engine.deleteIndex(index.name);
    deployment.clock.time += day;
    const report = await deployment.night();
    expect(entryOf(report)).toMatchObject({
      outcome: 'rows-missing',
      rowsMissing: expect.any(Number),
      cause: { kind: 'gone-since', found: 0, indexGone: true },
    });
    expect(mailOf(report)).toContain('has no such index any more');
    expect((await recordOf(deployment)).state).toBe('quarantined');
  });

  test('are not missing where the search engine says only once that it has no such index', async () => {
    const deployment = await started({ indices: [anIndexOf(300, 600)] });
    expect(entryOf(await deployment.night()).outcome).toBe('truncated');
    deployment.clock.time += day;
    const { operations } = deployment.services;
    let answers = 0;
    deployment.services.operations = {
      ...operations,
      async dryRun(fields, options) {
        if (answers++ > 0) return operations.dryRun(fields, options);
        return operations.dryRun({ ...fields, aspect: 'absent' }, options);
      },
    };
    const entry = entryOf(await deployment.night());
    expect(entry).toMatchObject({ outcome: 'failed', cause: { kind: 'server', error: { kind: 'no-index' } } });
    expect((await recordOf(deployment)).state).toBe('idle');
  });
});

describe('a call without a task id, after which nothing but a few rows has changed', () => {
  test('says how many are gone', async () => {
    const deployment = await started({ indices: [anIndexOf(600, 10_000)], policies: [anyShare] });
    deployment.service.engine.onRequest = ({ body }) =>
      body.includes('"dryRun":false') ? { kind: 'fail-before', answer: { kind: 'status', status: 504 } } : undefined;
    deployment.service.engine.schedule(deployment.clock.time + 120_000, () => {
      let gone = 185;
      deployment.service.engine.removeRows(
        name,
        ({ timestamp }) => timestamp > deployment.clock.time - 20 * day && gone-- > 0,
      );
    });
    const entry = entryOf(await deployment.night());
    expect(entry).toMatchObject({ outcome: 'failed', rowsMissing: 185 });
    expect(entry.reason).toContain('185 rows newer than the cutoff went meanwhile');
  });

  test('is not unchanged where all of a few rows have gone', async () => {
    const deployment = await started({
      indices: [anIndexOf(8, 1000)],
      policies: [anyShare],
    });
    deployment.service.engine.onRequest = ({ body }) =>
      body.includes('"dryRun":false') ? { kind: 'act-then', answer: { kind: 'status', status: 504 } } : undefined;
    expect(entryOf(await deployment.night())).toMatchObject({ outcome: 'truncated', rowsDeleted: 8 });
  });
});

test('a run whose address changes after it has sent does not say that nothing was started', async () => {
  const deployment = await started({ rowsPerSecond: 0.01 });
  const execution = { name: 'run-1', startTime: new Date(deployment.clock.time).toISOString() };
  const planned = await plan({ input: {}, execution }, deployment.during('plan'));
  await truncate(planned, deployment.during('truncate'));
  expect((await runningOf(deployment)).attempt.runId).toBe('run-1');
  // Stopped, deployed with another address, and redriven.
  deployment.settings.gmsUrl = 'http://gms.example.com:8080';
  const redriven = await truncate(planned, deployment.during('truncate'));
  expect(redriven.entries).toMatchObject([{ entry: { outcome: 'unknown' } }]);
  expect(deployment.realTruncates()).toHaveLength(1);
});

test('a call whose answer nobody could write down counts as one without a task id', async () => {
  const aspects = ['a', 'b', 'c', 'd'];
  const deployment = await started({
    indices: aspects.map((aspect) => anIndexOf(600, 400, aspect)),
    policies: aspects.map((aspect) => ({ ...operation, aspect })),
  });
  deployment.service.engine.onRequest = ({ body }) =>
    body.includes('"dryRun":false') ? { kind: 'fail-before', answer: { kind: 'status', status: 504 } } : undefined;
  const { ledger } = deployment;
  deployment.services.ledger = {
    ...ledger,
    async replace(before, next) {
      if (next.state === 'sending' && next.attempt.answer) throw new Error('the table is out of reach');
      return ledger.replace(before, next);
    },
  };
  const report = await deployment.night();
  expect(deployment.realTruncates()).toHaveLength(2);
  expect(Object.values(outcomesOf(report)).filter((outcome) => outcome === 'not-started')).toHaveLength(2);
});
