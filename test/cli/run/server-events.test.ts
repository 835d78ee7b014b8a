import { expect, test } from 'vitest';
import { connect } from '../../../cli/run/connect.ts';
import { fixedIdentity } from '../../../lambda/gms/identity.ts';
import { asResult } from '../../../lambda/gms/operations.ts';
import { inFront, operation, runHere, serviceHere } from '../here.ts';

/** What people beside a run are told at once: a report comes when the run ends, which may be hours later. */

test('A server that refuses checks during a run is on the screen at once, and once', async () => {
  const { run, engine } = await serviceHere();
  let refusals = 0;
  engine.onRequest = ({ body }) => {
    if (body.includes('"dryRun":false')) refusals = 6;
    return !body.includes('"dryRun":false') && refusals-- > 0
      ? { kind: 'fail-before', answer: { kind: 'status', status: 403, body: 'RBAC: access denied' } }
      : undefined;
  };
  const { status, stdout } = await runHere(run('enforce', [operation]));
  const line = /^ {2}dataset\.operation: .* 403: "RBAC: access denied"\. .* The run goes on checking\.$/gm;
  expect(stdout.match(line)).toHaveLength(1);
  expect(status).toBe(0);
});

test('A refused truncation is on the screen in the words of the refusal, once, even if later checks fail and then succeed', async () => {
  const { run, engine } = await serviceHere();
  let checks = -1;
  engine.onRequest = ({ body }) => {
    const isCall = body.includes('"dryRun":false');
    if (isCall || checks >= 0) checks += 1;
    return isCall || (checks > 2 && checks < 9)
      ? { kind: 'fail-before', answer: { kind: 'status', status: 403, body: isCall ? 'RBAC: no' : 'RBAC: away' } }
      : undefined;
  };
  const { stdout } = await runHere(run('enforce', [operation]));
  expect(stdout).toContain('RBAC: away');
  const line = /^ {2}dataset\.operation: truncation request: .* 403: "RBAC: no"\. .* It may still have arrived/gm;
  expect(stdout.match(line)).toHaveLength(1);
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
