import { describe, expect, test } from 'vitest';
import { OperationsError } from '../../../lambda/operations/operations.ts';
import { anAttempt, anIndex, aRunning } from '../../support/records.ts';
import { anIndexOf } from '../../support/stand-in.ts';
import { aPolicyFor, type Run, server, type World, worlds } from '../../support/world.ts';

/** One odd answer at the worst moment: found by a hostile reader of the core, who got a second truncate out of two of them. */

const open = worlds();
const minute = 60_000;
const hour = 60 * minute;
/** 600 rows take more than three hours. */
const slow = { rowsPerSecond: 0.05, batchOverheadMillis: 0 };
const entryOf = ({ report }: Run, name: string) => report?.policies.find(({ aspect }) => aspect === name);
const outcomeOf = (run: Run, name = 'operation') => entryOf(run, name)?.outcome;

test('A delete that runs for hours is not judged because the status of another task was a page', async () => {
  const indices = [anIndexOf(600, 400), anIndexOf(600, 400, { aspect: 'datasetProfile' })];
  const world = await open({ indices, policies: [aPolicyFor('operation')], settings: { maxRunHours: 1 } });
  // One batch: nothing moves, and its status says all the time that it runs.
  world.standIn.set(slow);
  const night = await world.run();
  expect(outcomeOf(night)).toBe('still-running');
  world.parameters.policies?.push(aPolicyFor('datasetProfile'));
  world.standIn.set({ rowsPerSecond: 1 });
  const first = String(entryOf(night, 'operation')?.taskId);
  let pages = 0;
  world.standIn.between(({ path, body }) => {
    const isOther = path.includes('getEsTaskStatus') && !body.includes(first) && !body.includes('no-such-node');
    if (!isOther || pages++ > 0) return undefined;
    return { kind: 'fail-before', answer: { kind: 'status', status: 200, body: '<html>Starting</html>' } };
  });
  const second = await world.run({ byHand: true, input: { mode: 'enforce' } });
  expect([pages > 0, outcomeOf(second), outcomeOf(second, 'datasetProfile')]).toEqual([
    true,
    'still-running',
    'truncated',
  ]);
  world.clock.time += 10 * minute;
  await world.run({ byHand: true, input: { mode: 'enforce' } });
  expect(world.realTruncates().filter(({ aspect }) => aspect === 'operation')).toHaveLength(1);
});

/** The next answers to the status of our task are these instead, from a moment on. */
function statusAnswers(world: World, count: number, afterMillis: number, answer: { status: number; body?: string }) {
  const from = world.clock.time + afterMillis;
  let given = 0;
  world.standIn.between(({ path, body }) => {
    if (!path.includes('getEsTaskStatus') || body.includes('no-such-node')) return undefined;
    if (given >= count || world.clock.time < from) return undefined;
    given++;
    return { kind: 'fail-before', answer: { kind: 'status', ...answer } };
  });
  return () => given;
}

const noTask = { status: 200, body: '{"value":"{\\"error\\":\\"Could not get task status for node:1\\"}"}' };

describe('A truncation whose status says that it runs is not judged', () => {
  const odd: [string, number, number, { status: number; body?: string }][] = [
    ['its first status was a 401', 1, 0, { status: 401 }],
    ["its first status was a gateway's 403", 1, 0, { status: 403 }],
    ['its task could not be found twice after half an hour', 2, 30 * minute, noTask],
  ];
  test.each(odd)('as a delete of one batch because %s', async (_, ...answers) => {
    const world = await open({ settings: { maxRunHours: 2 } });
    world.standIn.set({ rowsPerSecond: 1 / 50 });
    const given = statusAnswers(world, ...answers);
    expect(outcomeOf(await world.run())).toBe('still-running');
    expect(outcomeOf(await world.run({ byHand: true, input: { mode: 'enforce' } }))).toBe('still-running');
    expect([given(), world.realTruncates()]).toMatchObject([answers[0], [{ aspect: 'operation' }]]);
  });

  test.each(odd)('as a reindex that is put in place at its end because %s', async (_, ...answers) => {
    const world = await open();
    world.standIn.set({ knowsForceFlags: false, rowsPerSecond: 400 / 3600, inPlaceAfterSeconds: 3590 });
    const given = statusAnswers(world, ...answers);
    expect([outcomeOf(await world.run()), given()]).toEqual(['truncated', answers[0]]);
  });
});

test('A timeoutSeconds that the server refuses fails its policy, and makes no other index go as a reindex', async () => {
  const world = await open({
    indices: [anIndexOf(600, 400), anIndexOf(600, 400, { aspect: 'datasetProfile' })],
    policies: [aPolicyFor('datasetProfile', { timeoutSeconds: 3_000_000_000 }), aPolicyFor('operation')],
  });
  const refused = '{"status":400,"message":"Parameter \'timeoutSeconds\' must be of type Integer"}';
  world.standIn.between(({ body }) =>
    body.includes('"timeoutSeconds":3000000000')
      ? { kind: 'fail-before', answer: { kind: 'status', status: 400, body: refused } }
      : undefined,
  );
  const run = await world.run();
  expect([outcomeOf(run), outcomeOf(run, 'datasetProfile')]).toEqual(['truncated', 'failed']);
  expect(run.report?.notes).toEqual([]);
  expect(world.realTruncates()).toMatchObject([{ aspect: 'operation', forceDeleteByQuery: true }]);
});

describe('An answer that takes too long', () => {
  /** Plan, where a count of this aspect, or the sizes, run into their time-out. */
  async function planned(world: World, slowOne: 'datasetProfile' | 'sizes', mode = 'enforce') {
    const late = async (operation: 'dry-run' | 'index-sizes'): Promise<never> => {
      throw new OperationsError({ kind: 'timeout', operation, tries: 2 });
    };
    const services = world.during('plan', ({ dryRun, indexSizes }) => ({
      dryRun: (fields, options) => (fields.aspect === slowOne ? late('dry-run') : dryRun(fields, options)),
      indexSizes: (options) => (slowOne === 'sizes' ? late('index-sizes') : indexSizes(options)),
    }));
    return world.plan({ mode }, services);
  }

  test.each([
    ['keeps nobody from watching what is under way', 'enforce', 'watched', 'wait'],
    ['leaves nothing watched in a preview, which writes nothing', 'preview', 'done', 'report'],
  ])('for one index %s', async (_, mode, phase, next) => {
    const world = await open({ policies: [aPolicyFor('datasetProfile'), aPolicyFor('operation')] });
    const now = world.clock.time;
    const other = { runId: 'run-0', runStartMillis: now - 24 * hour };
    const attempt = anAttempt({ ...other, judgeableAt: now - hour, sendingSince: now - 2 * hour });
    world.ledger.stored.set(anIndex, aRunning({ server, lastSender: other, attempt }));
    const state = await planned(world, 'datasetProfile', mode);
    expect(state.entries.find(({ index }) => index === anIndex)?.phase).toBe(phase);
    expect([state.next, state.error]).toMatchObject([next, { kind: 'server', error: { kind: 'timeout' } }]);
  });

  test('for sizes, which the specification does not describe, is done without', async () => {
    const state = await planned(await open(), 'sizes');
    expect([state.entries[0]?.phase, state.error, state.withoutSizes]).toEqual(['approved', undefined, true]);
  });
});
