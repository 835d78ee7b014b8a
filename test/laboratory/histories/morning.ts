import type { Report } from '../../../lambda/model/report-schema.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import { type Execution, startExecution } from '../world/execution.ts';
import type { World } from '../world/world.ts';
import { aged, type PolicyOf } from './policies.ts';

/** A person's run, to the end. */
export type RunByHand = (name: string, input: Record<string, unknown>) => Promise<Report | undefined>;

/** @param limit epoch milliseconds at which the person stops waiting */
export const byHand =
  (world: World, executions: Execution[], limit = Number.POSITIVE_INFINITY): RunByHand =>
  async (name, input) => {
    const execution = startExecution(world, name, input);
    executions.push(execution);
    await world.time.run(() => execution.ended || world.time.now() >= limit);
    return reportsOf(world).findLast(({ runId }) => runId === name);
  };

/**
 * The operator in the morning: reads the reports that came, does what they say (releases, approves), and nothing that no
 * report asked for.
 */
export async function morning(
  world: World,
  executions: Execution[],
  policies: readonly PolicyOf[],
  number: number,
): Promise<void> {
  const limit = world.time.now() + 3_000_000;
  world.time.at(limit, () => {});
  const run = byHand(world, executions, limit);
  for (const { name, index } of policies) {
    const last = lastEntry(world, index);
    if (!last) continue;
    const needsRelease = ['rows-missing', 'quarantined', 'unknown'].includes(last.outcome);
    if (needsRelease) await released(run, `release-${number}-${name}`, name, world.chances.happens(0.5));
    if (last.cause.kind === 'above-ceiling') {
      await run(`approve-${number}-${name}`, { mode: 'enforce', indices: [name], approveRows: last.cause.approveRows });
    }
  }
}

/**
 * Releases an index, with a second try if its verdict had to be reported first. If rows are missing, or nobody knows,
 * it accepts that if `accepts` says so.
 */
export async function released(run: RunByHand, runId: string, name: string, accepts: boolean): Promise<void> {
  const asked = async (what: string, input: object) => {
    const report = await run(`${runId}${what}`, { release: [name], ...input });
    const note = report?.notes?.find(({ kind }) => kind === 'not-released');
    return note?.kind === 'not-released' ? note : undefined;
  };
  let refusal = await asked('', {});
  if (refusal?.why === 'unreported') refusal = await asked('-again', {});
  if (accepts && (refusal?.why === 'missing' || refusal?.why === 'unknown')) {
    await asked('-accepting', { acceptMissing: refusal.missing ?? 0 });
  }
}

/**
 * After the last calm night: releases every index that is not idle, and plays one more night, which shows that nothing
 * is stuck.
 */
export async function releaseAtLast(
  world: World,
  executions: Execution[],
  policies: readonly PolicyOf[],
): Promise<string> {
  const { time } = world;
  const run = byHand(world, executions);
  for (const { name, index } of policies) {
    const state = world.stored(index)?.state;
    if (state !== undefined && state !== 'idle') await released(run, `last-release-${name}`, name, true);
  }
  for (const { index } of policies)
    world.server.engine.write(index, aged(world.chances.next, 100, 100, 70, time.now()));
  await time.runUntil(time.now() + 3_600_000);
  await run('last-night', { mode: 'enforce' });
  return 'last-night';
}

const reportsOf = ({ journal }: World): Report[] =>
  journal.flatMap((event) => (event.kind === 'published' ? [event.report] : []));

const lastEntry = (world: World, index: string) =>
  reportsOf(world)
    .flatMap(({ policies }) => policies)
    .findLast((entry) => searchIndex(entry) === index);
