import { describe, expect, test } from 'vitest';
import { readIndexSizes } from '../../../lambda/operations/answers/index-sizes.ts';
import { anIndexOf, deployments, only, outcomesOf } from '../../support/deployment.ts';
import { asReindex, day, entryOf, hour, mailOf, name, operation, recordOf } from './nights.ts';

/** False words. (Find 13, `--fast --enforce` at a forwarded port, is shown on the command line: test/local.) */

const started = deployments();
const slow = { ...operation, batchSize: 10 };

describe('find 14: an upgrade replaces the index under a truncation', () => {
  const reindexes = { endTimeMillis: 0, forceReindex: true, batchSize: 100, timeoutSeconds: 300 };

  test('with a copy that is whole when the alias moves: told as that, judged by its rows, and no alias is moved back', async () => {
    const deployment = await started({ rowsPerSecond: 1, policies: [slow] });
    const { engine } = deployment.service;
    const [old] = engine.indices();
    let copy: string | undefined;
    engine.schedule(deployment.clock.time + 2 * 60_000, () => {
      engine.truncateByOthers(name, reindexes);
      copy = engine.indices().find(({ index }) => index === name)?.name;
      engine.pointAlias(name, old!.name);
    });
    engine.schedule(deployment.clock.time + 60 * 60_000, () => engine.pointAlias(name, copy!));
    const report = await deployment.night();
    const { outcome, reason } = entryOf(report);
    expect(outcome).toBe('truncated');
    expect(`${reason}${mailOf(report)}`).not.toContain('_aliases');
  });

  test('with an alias that moves first: nothing is judged while the copy goes on', async () => {
    const deployment = await started({ rowsPerSecond: 0.5, policies: [slow] });
    const { engine } = deployment.service;
    engine.schedule(deployment.clock.time + 15 * 60_000, () => engine.truncateByOthers(name, reindexes));
    const report = await deployment.night();
    const { outcome, cause, reason } = entryOf(report);
    expect(['truncated', 'incomplete']).toContain(outcome);
    expect(cause).toMatchObject({ movedBy: 'others' });
    expect(reason).toContain('was replaced meanwhile');
    expect(`${reason}${mailOf(report)}`).not.toContain('_aliases');
  });
});

test('find 15: another server behind the same address does not bring its verdict', async () => {
  const deployment = await started({ rowsPerSecond: 0.05, policies: [slow] });
  const { engine } = deployment.service;
  engine.schedule(deployment.clock.time + 30 * 60_000, () => {
    const [there] = engine.indices();
    engine.deleteIndex(there!.name);
    engine.addIndex(anIndexOf(0, 400));
    // It does not know our tasks.
    engine.set({ statusKnown: false });
  });
  const entry = entryOf(await deployment.night());
  expect(['lost', 'unknown']).toContain(entry.outcome);
  expect(entry.cause).toMatchObject({ movedBy: 'others' });
  expect(entry.reason).not.toContain('verified');
});

test('find 16: rows that somebody else’s reindex took since our truncation are told with the index that holds them', async () => {
  const deployment = await started();
  await deployment.night();
  const before = deployment.service.engine.indices()[0]!.name;
  deployment.clock.time += 12 * hour;
  const { engine } = deployment.service;
  engine.set({ reindexFailsAfterSwap: 400 });
  engine.truncateByOthers(name, { endTimeMillis: deployment.clock.time - 30 * day, forceReindex: true });
  deployment.clock.time += 12 * hour;
  const report = await deployment.night();
  expect(entryOf(report)).toMatchObject({
    outcome: 'rows-missing',
    cause: { kind: 'gone-since', expected: 400, found: 0, rowsIn: before },
  });
  expect(mailOf(report)).toContain(`{"add":{"index":"${before}"`);
  expect(mailOf(report)).not.toContain('Find out what else deletes here');
});

test('find 17: an execution name that comes back after 100 days is another run', async () => {
  const deployment = await started();
  expect(entryOf(await deployment.night({}, 'nightly')).outcome).toBe('truncated');
  deployment.clock.time += 100 * day;
  deployment.service.engine.addRows(name, Array(400).fill(deployment.clock.time - day));
  expect(entryOf(await deployment.night({}, 'nightly'))).toMatchObject({ outcome: 'truncated', rowsDeleted: 400 });
  expect(deployment.realTruncates()).toHaveLength(2);
});

test('find 18: an index that is deleted midway is told as gone, without a command that stops what has ended', async () => {
  const deployment = await started({ rowsPerSecond: 0.05, policies: [slow] });
  const { engine } = deployment.service;
  engine.schedule(deployment.clock.time + 30 * 60_000, () => engine.deleteIndex(engine.indices()[0]!.name));
  const report = await deployment.night();
  expect(entryOf(report)).toMatchObject({ outcome: 'rows-missing', cause: { indexGone: true } });
  expect(mailOf(report)).not.toContain('_cancel');
});

test('find 19: an index whose refreshing is off is not refreshed, and no row is said to have changed', async () => {
  const deployment = await started();
  deployment.service.engine.refreshing(name, false);
  const report = await deployment.night();
  const entry = entryOf(report);
  expect(entry).toMatchObject({ outcome: 'incomplete', cause: { kind: 'not-refreshed' } });
  expect(entry.reason).not.toMatch(/changed/);
  expect(mailOf(report)).toMatch(/PUT \/\S+\/_settings \{"index":\{"refresh_interval":"3s","number_of_replicas":1\}\}/);
});

test('find 20: the parent of slices does not show all rows as done at a third', async () => {
  const deployment = await started({ faults: ['slices=4'], rowsPerSecond: 1, policies: [slow] });
  await deployment.night();
  for (const { entries } of deployment.states) {
    const [entry] = entries;
    if (entry?.phase !== 'watched' || !entry.watch.progress || entry.watch.completedAt !== undefined) continue;
    const { done, total } = entry.watch.progress;
    expect([done < total, total]).toEqual([true, 600]);
  }
});

test('find 21: sizes of 0.10.5, which are a thousand times too large, are put right', () => {
  const indexSizes = [
    { indexName: 'dataset_operationaspect_v1', entityName: 'dataset', aspectName: 'operation', sizeMb: 8_078_398.031 },
  ];
  const { sizes } = readIndexSizes({ value: { indexSizes } }) as { sizes: object[] };
  expect(sizes).toMatchObject([{ sizeMb: expect.closeTo(8078.398031) }]);
});

test('find 22: a 403 of a gateway is not called a missing privilege of DataHub', async () => {
  const deployment = await started();
  deployment.service.engine.onRequest = ({ body }) =>
    body.includes('"dryRun":true')
      ? { kind: 'fail-before', answer: { kind: 'status', status: 403, body: 'RBAC: access denied' } }
      : undefined;
  const report = await deployment.night();
  expect(entryOf(report)).toMatchObject({ outcome: 'failed', cause: { error: { kind: 'forbidden', status: 403 } } });
  expect(mailOf(report)).not.toContain('privilege');
});

test('find 23: a task that ended early is not judged while somebody else goes on deleting', async () => {
  const deployment = await started({ faults: ['abort-at=0.5'], rowsPerSecond: 20 });
  const { engine } = deployment.service;
  const cutoff = deployment.clock.time - 30 * day;
  for (let turn = 1; turn <= 30; turn++) {
    engine.schedule(deployment.clock.time + turn * 10_000, () => {
      let left = 12;
      engine.removeRows(name, ({ timestamp }) => timestamp <= cutoff && left-- > 0);
    });
  }
  expect(entryOf(await deployment.night())).toMatchObject({ outcome: 'truncated', rowsRemaining: 0 });
});

test('find 24: a truncation all of whose rows something else was faster with needs attention', async () => {
  const deployment = await started({ rowsPerSecond: 5 });
  const { engine } = deployment.service;
  engine.set({ conflictShare: 1 });
  const cutoff = deployment.clock.time - 30 * day;
  engine.schedule(deployment.clock.time + 3000, () => engine.removeRows(name, ({ timestamp }) => timestamp <= cutoff));
  const report = await deployment.night();
  expect(report.result).toBe('attention');
  expect(entryOf(report)).toMatchObject({ outcome: 'incomplete', rowsDeleted: 0, cause: { why: 'conflicts' } });
});

describe('a message that harms', () => {
  test('after missing rows no command that opens the index stands in Slack, and in the mail it comes after the repair', async () => {
    const deployment = await started({ faults: ['reindex-fails=400'], policies: [asReindex] });
    const report = await deployment.night();
    expect(only(report).outcome).toBe('rows-missing');
    const { composeMessage } = await import('../../../lambda/notification/message.ts');
    const { https, email } = composeMessage(report, { runbookUrl: 'https://example.com/runbook' });
    expect(https).not.toMatch(/acceptMissing|start-execution|\{\\+"clear/);
    expect(email.indexOf('_aliases')).toBeGreaterThan(0);
    expect(email.indexOf('"clear"')).toBeGreaterThan(email.indexOf('_aliases'));
  });

  test('after a preview that failed nothing is offered that enforces', async () => {
    const deployment = await started();
    deployment.service.engine.fault('unauthorized-empty');
    const report = await deployment.night({ mode: 'preview' });
    const { composeMessage } = await import('../../../lambda/notification/message.ts');
    const { https, email } = composeMessage(report, {
      stateMachineArn: 'arn:aws:states:eu-central-1:1:stateMachine:x',
    });
    for (const text of [https, email]) expect(text).not.toMatch(/"mode":"enforce"|--input '\{\}'/);
    expect(outcomesOf(report)).toEqual({ [name]: 'failed' });
    expect(await recordOf(deployment)).toBeUndefined();
  });
});
