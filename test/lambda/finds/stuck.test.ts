import { describe, expect, test } from 'vitest';
import workflow from '../../../infra/retention-workflow.asl.json' with { type: 'json' };
import { readRestError } from '../../../lambda/operations/answers/rest-error.ts';
import { serverAddress } from '../../../lambda/operations/http/base-url.ts';
import { anIndexOf, deployments, firstNight, outcomesOf } from '../../support/deployment.ts';
import { anAttempt, anIndex, aReserved, aSending, aSentAttempt } from '../../support/records.ts';
import { bytesOf, maxStateBytes } from '../../support/states.ts';
import { against, operation as fields } from '../operations/http/broken-server.ts';
import { http } from '../operations/http/raw-server.ts';
import { asReindex, day, entryOf, hour, name, operation, recordOf } from './nights.ts';

/** Stuck, or without a report. */

const started = deployments();

test('find 25: Report has no Catch, so that an execution that could not publish fails in it, and a redrive publishes', () => {
  expect(workflow.States.Report).not.toHaveProperty('Catch');
  expect(Object.values(workflow.States).map(({ Type }) => Type)).not.toContain('Fail');
});

describe('find 26: a run state that would pass 256 KiB', () => {
  test('of one malformed parameter with thousands of entries ends in a report', async () => {
    const deployment = await started({ policies: [operation] });
    const text = `[${Array(2041).fill('1').join(',')}]`;
    deployment.services.parameters.policies = async () => [{ name: '/x/policies/list', text }];
    const report = await deployment.night();
    expect(report.result).toBe('failed');
    expect(report).toMatchObject({
      cause: { kind: 'parameters', problem: expect.stringMatching(/^there are 2041 policies/) },
    });
    expect(Math.max(...deployment.states.map(bytesOf))).toBeLessThan(maxStateBytes);
  });
});

describe('find 27: a record that nobody could release', () => {
  test('whose times lie in a far future, because a clock had been ahead, is left alone until a person opens it', async () => {
    const deployment = await started();
    const server = serverAddress(deployment.settings.gmsUrl);
    const ahead = firstNight + 400 * day;
    const times = { runStartMillis: ahead, reservedAt: ahead, sendBy: ahead + 450_000, sendingSince: ahead };
    const attempt = aSentAttempt({ ...times, runId: 'ahead' });
    deployment.ledger.stored.set(
      anIndex,
      aSending({
        server,
        judgeableAt: ahead + 10 ** 6,
        windows: [],
        attempt: { ...attempt, baseline: { rowsTotal: 1000, rowsToDelete: 600 } },
      }),
    );
    const cause = { kind: 'foreign', why: 'clock', until: ahead + 10 ** 6 };
    expect(entryOf(await deployment.night())).toMatchObject({ outcome: 'in-flight', cause });
    expect((await deployment.night({ clear: [name] })).noteFacts).toEqual([
      { kind: 'not-released', index: name, why: 'unresolved' },
    ]);
    const accepted = await deployment.night({ clear: [name], acceptMissing: 1 });
    expect(accepted.noteFacts).toMatchObject([{ kind: 'released', uncounted: true }]);
    expect(entryOf(await deployment.night()).outcome).toBe('truncated');
  });

  test('of a reservation whose sendBy lies far ahead is opened by a person', async () => {
    const deployment = await started();
    const server = serverAddress(deployment.settings.gmsUrl);
    const attempt = anAttempt({ runId: 'odd', runStartMillis: firstNight - hour, sendBy: firstNight + 400 * day });
    deployment.ledger.stored.set(anIndex, aReserved({ server, attempt }));
    expect(entryOf(await deployment.night())).toMatchObject({ cause: { kind: 'foreign', why: 'clock' } });
    await deployment.night({ clear: [name], acceptMissing: 1 });
    expect(entryOf(await deployment.night()).outcome).toBe('truncated');
  });

  test('whose task says completed: false for ever, with nothing left to delete, is verified as ended', async () => {
    const deployment = await started();
    deployment.service.engine.onRequest = ({ path }) => {
      if (!path.includes('getEsTaskStatus')) return undefined;
      const task = { completed: false, status: { total: 600, deleted: 600 } };
      const body = JSON.stringify({ value: JSON.stringify(task) });
      return { kind: 'fail-before', answer: { kind: 'status', status: 200, body } };
    };
    expect(entryOf(await deployment.night()).outcome).toBe('truncated');
    expect((await recordOf(deployment)).state).toBe('idle');
  });

  test('whose task says so with rows left is unknown after two hours, and closed after twenty', async () => {
    const deployment = await started({ rowsPerSecond: 1e-6 });
    const report = await deployment.night();
    expect(entryOf(report)).toMatchObject({ outcome: 'unknown', cause: { kind: 'unsettled', why: 'hung' } });
    deployment.clock.time += day;
    expect(entryOf(await deployment.night())).toMatchObject({
      outcome: 'unknown',
      cause: { why: 'hung', closed: 'idle' },
    });
    expect((await recordOf(deployment)).state).toBe('idle');
  });

  test('is not cleared before it is 20 h old, and is from then on', async () => {
    const deployment = await started({ rowsPerSecond: 1e-6 });
    await deployment.night();
    expect((await recordOf(deployment)).state).toBe('running');
    const early = await deployment.night({ clear: [name] });
    expect(early.noteFacts).toMatchObject([{ kind: 'not-released', why: 'unresolved' }]);
    expect((await recordOf(deployment)).state).toBe('running');
    deployment.clock.time += day;
    const late = await deployment.night({ clear: [name] });
    expect(late.noteFacts).toMatchObject([{ kind: 'released', rowsMissing: 0 }]);
    expect((await recordOf(deployment)).state).toBe('idle');
  });
});

test('find 28: rows that come in late between Plan and Truncate do not keep a reindex from starting', async () => {
  const deployment = await started({ policies: [asReindex] });
  const { operations } = deployment.services;
  deployment.services = {
    ...deployment.services,
    operations: {
      ...operations,
      async indexSizes(options) {
        if (deployment.states.length === 1) {
          deployment.service.engine.addRows(name, Array(200).fill(deployment.clock.time - day));
        }
        return operations.indexSizes(options);
      },
    },
  };
  expect(entryOf(await deployment.night()).outcome).toBe('truncated');
});

describe('find 29: an answer made to hurt', () => {
  test('of 16 KB of nested JSON fails its own policy alone', async () => {
    const deployment = await started({
      indices: [anIndexOf(600, 400), anIndexOf(600, 400, 'datasetProfile')],
      policies: [operation, { ...operation, aspect: 'datasetProfile' }],
    });
    const nested = `${'['.repeat(8000)}${']'.repeat(8000)}`;
    deployment.service.engine.onRequest = ({ body }) =>
      body.includes('datasetProfile')
        ? { kind: 'fail-before', answer: { kind: 'status', status: 200, body: nested } }
        : undefined;
    expect(outcomesOf(await deployment.night())).toEqual({ [name]: 'truncated', 'dataset.datasetProfile': 'failed' });
  });

  test('of 80 KB of blanks is read in no time', () => {
    const stackTrace = `[HTTP Status:500]:${' '.repeat(80_000)}x`;
    const since = performance.now();
    for (let turn = 0; turn < 50; turn++) readRestError(JSON.stringify({ stackTrace }));
    // It took 7.6 s each.
    expect(performance.now() - since).toBeLessThan(5000);
  });
});

describe('find 30: what always fails', () => {
  const asked = (deployment: Awaited<ReturnType<typeof started>>, action: string) =>
    deployment.service.engine.asked.filter((request) => request.action === action).length;

  test.each([
    ['sizes', 'getIndexSizes', ['sizes=failing']],
    ['sizes', 'getIndexSizes', ['denied=sizes']],
    ['statuses', 'getEsTaskStatus', ['denied=status']],
    ['statuses', 'getEsTaskStatus', ['bad-gateway=status']],
  ])('%s: a lasting refusal costs at most two requests a run (%s, %s)', async (_, action, faults) => {
    const aspects = ['a', 'b', 'c'];
    const deployment = await started({
      faults,
      indices: aspects.map((aspect) => anIndexOf(600, 400, aspect)),
      policies: aspects.map((aspect) => ({ ...operation, aspect })),
      rowsPerSecond: 1,
    });
    const report = await deployment.night();
    expect(report.policies.map(({ outcome }) => outcome)).toEqual(['truncated', 'truncated', 'truncated']);
    expect(asked(deployment, action)).toBeLessThanOrEqual(2);
  });

  test('an index that is not there is an answer, and asked for once', async () => {
    const { server, operations } = await against([
      http(500, JSON.stringify({ message: 'index_not_found_exception: no such index [x]', status: 500 })),
    ]);
    await expect(operations.dryRun(fields)).rejects.toMatchObject({ fact: { kind: 'no-index' } });
    expect(server.requests).toHaveLength(1);
  });
});
