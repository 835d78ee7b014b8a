import { expect, test } from 'vitest';
import { anIndexOf, deployments, outcomesOf } from '../../../support/deployment.ts';
import { entryOf, mailOf, name, operation, slow } from './nights.ts';

/** Answers that are misleading or false, and requests that always fail. */

const started = deployments();

test('the parent of a sliced task does not report all rows as done at a third', async () => {
  const deployment = await started({ faults: ['slices=4'], rowsPerSecond: 1, policies: [slow] });
  await deployment.night();
  for (const { entries } of deployment.states) {
    const [entry] = entries;
    if (entry?.phase !== 'watched' || !entry.watch.progress || entry.watch.completedAt !== undefined) continue;
    const { done, total } = entry.watch.progress;
    expect([done < total, total]).toEqual([true, 600]);
  }
});

test('a gateway’s 403 is not reported as a missing DataHub privilege', async () => {
  const deployment = await started();
  deployment.service.engine.onRequest = ({ body }) =>
    body.includes('"dryRun":true')
      ? { kind: 'fail-before', answer: { kind: 'status', status: 403, body: 'RBAC: access denied' } }
      : undefined;
  const report = await deployment.night();
  expect(entryOf(report)).toMatchObject({ outcome: 'failed', cause: { error: { kind: 'forbidden', status: 403 } } });
  expect(mailOf(report)).not.toContain('privilege');
});

test('an answer of 16 KB of nested JSON fails only its own policy', async () => {
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

const asked = (deployment: Awaited<ReturnType<typeof started>>, action: string) =>
  deployment.service.engine.asked.filter((request) => request.action === action).length;

test.each([
  ['sizes', 'getIndexSizes', ['sizes=failing']],
  ['sizes', 'getIndexSizes', ['denied=sizes']],
  ['statuses', 'getEsTaskStatus', ['denied=status']],
  ['statuses', 'getEsTaskStatus', ['bad-gateway=status']],
])('%s that always fail are requested at most twice a run (%s, %s)', async (_, action, faults) => {
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
