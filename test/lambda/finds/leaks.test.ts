import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { parseSettings } from '../../../infra/stage/settings.ts';
import { maskOf } from '../../../lambda/facts/secrets.ts';
import { readIndexSizes } from '../../../lambda/operations/answers/index-sizes.ts';
import { clockSkew } from '../../../lambda/operations/http/clock-skew.ts';
import { createHttpTransport } from '../../../lambda/operations/http/http-transport.ts';
import { deployments } from '../../support/deployment.ts';
import { against, operation as fields } from '../operations/http/broken-server.ts';
import { http, rawServer } from '../operations/http/raw-server.ts';
import { mailOf } from './nights.ts';

/** What must not get out, or in. */

const started = deployments();

describe('find 31: NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test('does not send the token to a server whose certificate nobody vouches for', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const pem = (name: string) =>
      readFileSync(new URL(`../operations/http/certificates/${name}.pem`, import.meta.url), 'utf8');
    const server = await rawServer({
      tls: { key: pem('server-key'), cert: pem('server') },
      onRequest: (socket) => socket.write(http(200, '{}')),
    });
    const transport = createHttpTransport({ connectTimeoutMillis: 2000, answerTimeoutMillis: 2000 });
    const exchange = { url: server.url, headers: { authorization: 'Bearer secret' }, body: '{}' };
    await expect(transport.post(exchange)).rejects.toMatchObject({ phase: 'tls' });
    await expect(transport.postOnce(exchange, () => true)).rejects.toMatchObject({ phase: 'tls', mayBeWritten: false });
    expect(server.requests).toEqual([]);
    await transport.close();
  });
});

describe('find 32: names of indices that steer a terminal, or begin a line of their own in a mail', () => {
  const hostile = ['a\u001b[2Jaspect_v1', 'a\rbaspect_v1', 'x\nDELETE /_all\naspect_v1', 'a b', 'x'.repeat(300)];

  test.each(hostile)('are left out where sizes are read: %j', (indexName) => {
    const { sizes } = readIndexSizes({ value: { indexSizes: [{ indexName, sizeInMb: 1 }] } }) as { sizes: object[] };
    expect(sizes).toEqual([]);
  });

  test('never reach a message', async () => {
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
});

describe('find 33: a token of which a server echoes a part', () => {
  const token = 'eyJhbGciOiJIUzI1NiJ9.c2VjcmV0LXBheWxvYWQtb2YtaXQ.c2lnbmF0dXJlLW9mLWl0';
  const mask = maskOf([token]);

  test.each([
    ['whole', token],
    ['its second half', token.slice(30)],
    ['sixteen characters of it', token.slice(22, 38)],
    ['in lower case', token.toLowerCase()],
    ['in capitals', token.toUpperCase()],
    ['in Base64', Buffer.from(token).toString('base64')],
    ['in Base64 with what stands before it', Buffer.from(`Bearer ${token}`).toString('base64')],
    ['in Base64 for addresses', Buffer.from(`x:${token}`).toString('base64url')],
  ])('%s', (_, echoed) => {
    const masked = mask(`got "${echoed}" there`);
    expect(masked).toContain('[token]');
    for (let at = 0; at + 16 <= echoed.length; at++) expect(masked).not.toContain(echoed.slice(at, at + 16));
  });

  test('leaves words alone', () => {
    expect(mask('no such index [dataset_operationaspect_v1]')).toBe('no such index [dataset_operationaspect_v1]');
  });

  test('keeps it out of report, log and run state', async () => {
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

  test('as the name of an index, an entity or an aspect, or in place of a task id, keeps it out of all that is written', async () => {
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
});

describe('find 34: a scheduled time that is none', () => {
  test.each(['__proto__', 'constructor', ''])('%j fails the run in one sentence', async (scheduledTime) => {
    const deployment = await started();
    const report = await deployment.night({ scheduledTime });
    expect(report).toMatchObject({
      result: 'failed',
      cause: { kind: 'input', problem: expect.stringContaining('scheduledTime') },
    });
    expect(deployment.realTruncates()).toEqual([]);
  });
});

describe('find 35: two Date headers', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');
  const wrong = new Date(now + 3_600_000).toUTCString();

  test('of which one is off do not switch the clock’s guard off', async () => {
    expect(clockSkew(`${new Date(now).toUTCString()}, ${wrong}`, now)).toBe(3_600_000);
    const value = 'Delete 1 out of 2 rows (50.00%). Issuing a delete by query request. This was a dry run.';
    const { operations } = await against([
      (socket) =>
        socket.write(
          http(200, JSON.stringify({ value })).replace(
            '\r\n\r\n',
            `\r\nDate: ${new Date(now).toUTCString()}\r\nDate: ${wrong}\r\n\r\n`,
          ),
        ),
    ]);
    expect((await operations.dryRun(fields)).clockSkewMillis).toBe(3_600_000);
  });
});

describe('find 36: a tokenParameter that holds a token', () => {
  test.each(['eyJhbGciOiJIUzI1NiJ9.c2VjcmV0.c2ln', 'tok_8f3a9c2e7b1d4f60'])(
    'is refused without being shown: %s',
    (token) => {
      const given = { gmsUrl: 'https://gms.example.com', policies: [], tokenParameter: token };
      expect(() => parseSettings('prod', given)).toThrow(/tokenParameter.*not shown/);
      expect(() => parseSettings('prod', given)).not.toThrow(new RegExp(token.slice(0, 12)));
    },
  );

  test('nor is one that lies where something else belongs', () => {
    const given = {
      gmsUrl: 'https://gms.example.com',
      policies: [],
      parameterPrefix: 'eyJhbGciOiJIUzI1NiJ9.c2VjcmV0.c2ln',
    };
    expect(() => parseSettings('prod', given)).not.toThrow(/eyJhbGci/);
  });
});
