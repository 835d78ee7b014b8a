import { describe, expect, test } from 'vitest';
import { plan } from '../../../../lambda/run/plan/plan.ts';
import { poll } from '../../../../lambda/run/poll.ts';
import { truncate } from '../../../../lambda/run/truncate.ts';
import { anIndexOf, deployments, outcomesOf } from '../../../support/deployment.ts';
import { answersTruncates, day, entryOf, name, operation } from './nights.ts';

/** Truncates whose answer has no task id: refusals, late effects, answers that could not be recorded. */

const started = deployments();
const anyShare = { ...operation, minDeletePercent: 0 };

describe('a 400 that comes back before the server acts', () => {
  test('is not judged too early, and nothing is sent meanwhile', async () => {
    const deployment = await started();
    answersTruncates(deployment, 400, 240_000);
    const state = await plan(
      { input: {}, execution: { name: 'run-1', startTime: new Date(deployment.clock.time).toISOString() } },
      deployment.during('plan'),
    );
    let next = await truncate(state, deployment.during('truncate'));
    deployment.clock.time += 90_000;
    expect(outcomesOf(await deployment.night({}, 'run-2'))).toEqual({ [name]: 'in-flight' });
    while (next.next === 'wait') {
      deployment.clock.time += next.waitSeconds * 1000;
      next = await poll(next, deployment.during('poll'));
    }
    expect(next.entries[0]?.entry).toMatchObject({ outcome: 'truncated' });
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test('frees the index where the server never acts, and reports the refusal', async () => {
    const deployment = await started();
    answersTruncates(deployment, 400);
    expect(entryOf(await deployment.night())).toMatchObject({
      outcome: 'failed',
      cause: { kind: 'unchanged', error: { status: 400 } },
    });
  });
});

describe('a refusal by a proxy that passed the request on', () => {
  test.each([400, 401, 403, 404, 429, 500, 502, 503, 504])(
    '%i: the truncation is watched and not sent again',
    async (status) => {
      const deployment = await started();
      answersTruncates(deployment, status, 0);
      expect(entryOf(await deployment.night()).outcome).toBe('truncated');
      deployment.service.engine.onRequest = undefined;
      deployment.clock.time += day;
      expect(entryOf(await deployment.night()).outcome).toBe('nothing-to-delete');
      expect(deployment.realTruncates()).toHaveLength(1);
    },
  );

  test.each([401, 403])('%i without effect: nothing else is started in that run', async (status) => {
    const deployment = await started({
      indices: [anIndexOf(300, 400), anIndexOf(600, 400, 'datasetProfile')],
      policies: [operation, { ...operation, aspect: 'datasetProfile' }],
    });
    answersTruncates(deployment, status);
    const report = await deployment.night();
    expect(outcomesOf(report)).toEqual({ [name]: 'failed', 'dataset.datasetProfile': 'not-started' });
    expect(entryOf(report, 'datasetProfile').cause).toEqual({ kind: 'stopped', by: 'no-task-ids', status });
    expect(deployment.realTruncates()).toHaveLength(1);
  });

  test('two calls without a task id end the starts of a run', async () => {
    const aspects = ['a', 'b', 'c'];
    const deployment = await started({
      indices: aspects.map((aspect, at) => anIndexOf(300 + at, 400, aspect)),
      policies: aspects.map((aspect) => ({ ...operation, aspect })),
    });
    answersTruncates(deployment, 504, 0);
    expect(outcomesOf(await deployment.night())).toEqual({
      'dataset.a': 'truncated',
      'dataset.b': 'truncated',
      'dataset.c': 'not-started',
    });
    expect(deployment.realTruncates()).toHaveLength(2);
  });
});

describe('a call without a task id, after which only a few rows changed', () => {
  test('reports how many newer rows are gone', async () => {
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

  test('is a truncation where all eight rows to delete are gone', async () => {
    const deployment = await started({
      indices: [anIndexOf(8, 1000)],
      policies: [anyShare],
    });
    deployment.service.engine.onRequest = ({ body }) =>
      body.includes('"dryRun":false') ? { kind: 'act-then', answer: { kind: 'status', status: 504 } } : undefined;
    expect(entryOf(await deployment.night())).toMatchObject({ outcome: 'truncated', rowsDeleted: 8 });
  });
});

test('a call whose answer could not be recorded counts as one without a task id', async () => {
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
