import { expect, test } from 'vitest';
import { deployments } from '../../../support/deployment.ts';
import { mailOf } from './nights.ts';

/** Text of the server that must not reach a report, a log or a terminal. */

const started = deployments();
const token = 'eyJhbGciOiJIUzI1NiJ9.c2VjcmV0LXBheWxvYWQtb2YtaXQ.c2lnbmF0dXJlLW9mLWl0';

test('a token that the server echoes stays out of report, log and run state', async () => {
  const deployment = await started();
  const { token: own } = deployment.service;
  deployment.service.engine.onRequest = () => {
    const echoes = [own.slice(8), own.toUpperCase(), Buffer.from(`Bearer ${own}`).toString('base64')];
    const body = JSON.stringify({ message: `who is ${echoes.join(' or ')}?`, status: 500 });
    return { kind: 'fail-before', answer: { kind: 'status', status: 500, body } };
  };
  const text = JSON.stringify([await deployment.night(), deployment.log, deployment.states]).toLowerCase();
  expect(text).not.toContain(own.slice(8, 24).toLowerCase());
  expect(text).not.toContain(Buffer.from(`Bearer ${own}`).toString('base64').slice(8, 24).toLowerCase());
});

test('a token that the server returns as a name or a task id stays out of everything that is written', async () => {
  const deployment = await started({ token });
  const signature = token.slice(token.lastIndexOf('.') + 1);
  deployment.service.engine.onRequest = ({ path, body }) => {
    const names = [
      { indexName: 'a_baspect_v1', entityName: token, aspectName: 'x', sizeInMb: 1 },
      { indexName: 'c_daspect_v1', entityName: 'c', aspectName: token.toUpperCase(), sizeInMb: 2 },
      { indexName: `${token.toLowerCase()}aspect_v1`, sizeInMb: 3 },
      { indexName: 'e_faspect_v1', entityName: 'e', aspectName: 'f', sizeInMb: 4 },
    ];
    if (!path.includes('getIndexSizes') && !body.includes('"dryRun":false')) return undefined;
    const value = path.includes('getIndexSizes') ? { indexSizes: names } : `${signature}:17`;
    return { kind: 'fail-before', answer: { kind: 'status', status: 200, body: JSON.stringify({ value }) } };
  };
  const report = await deployment.night();
  expect(report.unmanagedIndices).toEqual([{ indexName: 'e_faspect_v1', entityType: 'e', aspect: 'f', sizeMb: 4 }]);
  expect(deployment.realTruncates()).toHaveLength(1);
  expect(report.policies).toMatchObject([{ cause: { kind: 'unchanged', error: { kind: 'no-task-id' } } }]);
  expect(report.policies[0]).not.toHaveProperty('taskId');
  const { ledger, nights, log, states } = deployment;
  const written = JSON.stringify([report, mailOf(report), [...ledger.stored], nights.all, log, states]).toLowerCase();
  expect(written).toContain('e_faspect_v1');
  for (let at = 0; at + 16 <= signature.length; at++)
    expect(written).not.toContain(signature.slice(at, at + 16).toLowerCase());
  expect(written).not.toContain(token.slice(22, 38).toLowerCase());
});

test('a token in the place of a policy is not printed', async () => {
  const deployment = await started();
  deployment.services.parameters.policies = async () => [
    { name: '/x/policies/dataset.operation', text: 'tok_8f3a9c2e7b1d4f60' },
  ];
  const report = await deployment.night();
  expect(report.policies[0]?.outcome).toBe('failed');
  expect(JSON.stringify([report, deployment.log, deployment.states])).not.toContain('tok_');
});

const hostile = ['a\u001b[2Jaspect_v1', 'a\rbaspect_v1', 'x\nDELETE /_all\naspect_v1', 'a b', 'x'.repeat(300)];

test('index names with control characters or line breaks never reach a message', async () => {
  const deployment = await started({ faults: ['reindex-fails=400', 'ignores-force-flags'] });
  const { operations } = deployment.services;
  deployment.service.engine.onRequest = ({ path }) => {
    if (!path.includes('getIndexSizes')) return undefined;
    const names = { entityName: 'dataset', aspectName: 'operation' };
    const body = JSON.stringify({ value: { indexSizes: hostile.map((indexName) => ({ indexName, ...names })) } });
    return { kind: 'fail-before', answer: { kind: 'status', status: 200, body } };
  };
  expect(await operations.indexSizes()).toEqual([]);
  expect(mailOf(await deployment.night())).not.toContain('DELETE /_all');
});
