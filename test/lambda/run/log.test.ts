import { expect, test } from 'vitest';
import type { RunServices } from '../../../lambda/run/services.ts';
import { anIndex, aQuarantined } from '../../support/records.ts';
import { aPolicyFor, type RunOptions, type World, worlds } from '../../support/world.ts';

/** What the log of a run says, which the saved queries of CloudWatch and `--log json` read. */

const open = worlds();
type Line = [message: string, fields: Record<string, unknown> | undefined];

async function logged(options: RunOptions = {}, prepare: (world: World) => void = () => {}, policy = {}) {
  const lines: Line[] = [];
  const write = (message: string, fields?: Record<string, unknown>) => void lines.push([message, fields]);
  const log = { info: write, warn: write, error: write };
  const observe = (services: Omit<RunServices, 'deadline'>) => ({ ...services, log });
  const policies = [aPolicyFor('operation', policy), aPolicyFor('datasetProfile', { enabled: false })];
  const world = await open({ observe, policies });
  prepare(world);
  await world.run(options);
  return lines;
}

test('A run logs each decision, each call, its task and its verdict', async () => {
  const lines = await logged();
  expect(lines.map(([message]) => message).join()).toBe('planned,task id,truncate,verdict,report,reported');
  const [planned, task, truncate, verdict, report] = lines.map(([, fields]) => fields);
  const { taskId } = task ?? {};
  expect(planned).toMatchObject({ index: anIndex, aspect: 'operation', phase: 'approved', rowsToDelete: 600 });
  expect(task).toEqual({ index: anIndex, taskId: expect.stringContaining(':') });
  expect(truncate).toEqual({ index: anIndex, phase: 'watched', outcome: undefined, cause: undefined, taskId });
  expect(verdict).toMatchObject({ index: anIndex, outcome: 'truncated', rowsDeleted: 600, taskId });
  expect(report).toEqual({ result: 'ok', policies: 2, cause: undefined });
});

test('An index that is not due is logged with its reason', async () => {
  const [planned] = await logged({}, () => {}, { minDeletePercent: 70 });
  expect(planned?.[1]).toMatchObject({ phase: 'done', outcome: 'below-threshold', cause: { kind: 'not-due' } });
});

test('An index above its row limit is logged once its cutoff is found, with all its rows', async () => {
  const lines = await logged({}, () => {}, { maxRowsPerRun: 200 });
  const planned = lines.flatMap(([message, fields]) => (message === 'planned' ? [fields] : []));
  const [{ rowsToDelete } = {}] = planned;
  expect(planned).toMatchObject([{ index: anIndex, phase: 'approved', rowsTotal: 1000, rowsPastRetention: 600 }]);
  expect(rowsToDelete).toBeLessThanOrEqual(200);
});

test('A truncation that is refused is logged with its reason', async () => {
  const lines = await logged({ interruption: { at: 'baseline', does: async () => {} } }, (world) => {
    const { standIn } = world;
    standIn.between(({ body }) => {
      if (!body.includes('"dryRun":false')) return undefined;
      return { kind: 'fail-before', answer: { kind: 'status', status: 403, body: '' } };
    });
  });
  const refused = lines.find(([message]) => message === 'no task id');
  expect(refused?.[1]).toMatchObject({ index: anIndex, error: { operation: 'truncate', status: 403 } });
});

test('A Truncate that fails is logged with its error, and with what became of it', async () => {
  const lines = await logged({ interruption: { at: 'call', does: 'dies' } });
  const failed = lines.find(([message]) => message === 'truncate failed');
  expect(failed?.[1]).toEqual({ index: anIndex, error: 'Runtime.ExitError', phase: 'watched' });
});

test('A truncation that is not started is logged with its cause', async () => {
  const opened: World[] = [];
  const does = async () => {
    for (const { parameters } of opened) parameters.paused = true;
  };
  const lines = await logged({ interruption: { at: 'baseline', does } }, (world) => void opened.push(world));
  const refused = lines.find(([message]) => message === 'truncate');
  expect(refused?.[1]).toMatchObject({ outcome: 'not-started', cause: { kind: 'stopped', by: 'paused' } });
});

test('A release is logged with what was found, and a run that cannot do its work with its cause', async () => {
  const input = { release: ['dataset.operation'], acceptMissing: 0 };
  const released = await logged({ byHand: true, input }, (world) => {
    world.ledger.stored.set(anIndex, aQuarantined({ server: 'http://elsewhere:1' }));
  });
  expect(released.find(([message]) => message === 'released by a person')?.[1]).toEqual({
    index: anIndex,
    missing: undefined,
    unknown: 'address',
  });
  const failed = await logged({}, ({ reach }) => void Object.assign(reach, { server: false }));
  const cause = { kind: 'server', error: { kind: 'connect' } };
  expect(failed.find(([message]) => message === 'the run could not do its work')?.[1]).toMatchObject({ cause });
  expect(failed.at(-1)).toMatchObject(['report', { result: 'failed', policies: 2, cause }]);
});
