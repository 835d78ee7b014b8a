import { describe, expect, test } from 'vitest';
import type { ServerEvent } from '../../../cli/events/run-listener.ts';
import { connect } from '../../../cli/run/connect.ts';
import { fixedIdentity } from '../../../lambda/gms/identity.ts';
import { asResult } from '../../../lambda/gms/operations.ts';
import { inFront, operation, runHere, serviceHere } from '../here.ts';

/** What people beside a run are told at once: a report comes when the run ends, which may be hours later. */

const page = { status: 503, body: '<html><title>No backend</title></html>' };

async function connected() {
  const { url: baseUrl, token, engine } = await serviceHere();
  const events: ServerEvent[] = [];
  const server = { baseUrl, identity: fixedIdentity({ token }), secrets: () => [token] };
  const { operations, silentSince, close } = connect(server, {
    onServerEvent: (one) => events.push(one),
    sleep: async () => {},
  });
  const answer = (substitute: { status: number; body: string } | undefined) => {
    engine.onRequest = substitute && (() => ({ kind: 'fail-before', answer: { kind: 'status', ...substitute } }));
  };
  const fields = { entityType: 'dataset', aspect: 'operation', cutoffMillis: 0, batchSize: 100 };
  return { events, silentSince, close, answer, ask: () => asResult(() => operations.dryRun(fields)) };
}

describe('A server that goes away during a run', () => {
  test('is reported once, at the first failed request, and again when the server is back', async () => {
    const { events, ask, answer, silentSince, close } = await connected();
    await ask();
    expect([events, silentSince()]).toEqual([[], undefined]);
    answer(page);
    await ask();
    await ask();
    expect(events).toMatchObject([{ kind: 'away', error: { kind: 'server-error', status: 503, text: 'No backend' } }]);
    expect(silentSince()).toBeGreaterThan(0);
    answer({ status: 401, body: '' });
    await ask();
    expect(events.at(-1)).toMatchObject({ kind: 'away', error: { kind: 'unauthorized' } });
    answer(undefined);
    await ask();
    expect(events.slice(2)).toEqual([{ kind: 'back' }]);
    expect(silentSince()).toBeUndefined();
    await close();
  });

  test('is not one that cannot count one index', async () => {
    const { events, ask, answer, close } = await connected();
    answer({ status: 500, body: '{"message":"ESQueryException: Count query failed","status":500}' });
    await ask();
    expect(events).toEqual([]);
    await close();
  });
});

test('A refused truncation is on the screen at once, in the words of the refusal', async () => {
  const { run, engine } = await serviceHere();
  engine.onRequest = ({ body }) =>
    body.includes('"dryRun":false')
      ? { kind: 'fail-before', answer: { kind: 'status', status: 403, body: 'RBAC: access denied' } }
      : undefined;
  const { stdout } = await runHere(run('enforce', [operation]));
  expect(stdout).toMatch(
    /^ {2}dataset\.operation: truncation request: the server answered 403: "RBAC: access denied"\. .* It may still have arrived/m,
  );
});

test('Where only sample data is allowed, another server gets no truncation, and none of its answers counts', async () => {
  const { url, token, sent } = await serviceHere();
  const server = {
    baseUrl: await inFront(url, undefined, false),
    identity: fixedIdentity({ token }),
    secrets: () => [token],
  };
  const { operations, close } = connect(server, { sampleOnly: true });
  const fields = { entityType: 'dataset', aspect: 'operation', cutoffMillis: Date.now(), batchSize: 100 };
  expect(await asResult(() => operations.dryRun(fields))).toMatchObject({ error: { kind: 'not-sample' } });
  await operations.truncate(fields, () => true);
  expect(sent()).toEqual([]);
  await close();
});
