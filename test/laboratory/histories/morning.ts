import type { Report } from '../../../lambda/facts/report-schema.ts';
import type { LedgerRecord } from '../../../lambda/ledger/record.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import { type Execution, startExecution } from '../world/execution.ts';
import type { World } from '../world/world.ts';
import type { PolicyOf } from './policies.ts';

/**
 * The operator in the morning: reads the reports that came, does what they say (repairs, then clears; approves), and
 * nothing that no report asked for.
 */
export async function morning(
  world: World,
  executions: Execution[],
  policies: readonly PolicyOf[],
  number: number,
): Promise<void> {
  const { time } = world;
  const limit = time.now() + 3_000_000;
  time.at(limit, () => {});
  const run = async (name: string, input: Record<string, unknown>): Promise<Report | undefined> => {
    const execution = startExecution(world, name, input);
    executions.push(execution);
    await time.run(() => execution.ended || time.now() >= limit);
    return reportsOf(world).findLast(({ runId }) => runId === name);
  };
  for (const { name, index, entityType, aspect } of policies) {
    const last = lastEntry(world, index);
    if (last?.outcome === 'rows-missing' || last?.outcome === 'quarantined') {
      repair(world, name, index, last.cause);
      await cleared(run, `clear-${number}-${name}`, [`${entityType}.${aspect}`], world.chances.happens(0.5));
    }
    // It is the same server, or the version that wrote the record does not return in time.
    if (last?.cause.kind === 'foreign') {
      await run(`clear-${number}-${name}`, { clear: [`${entityType}.${aspect}`] });
    }
    if (last?.cause.kind === 'above-ceiling') {
      const input = { only: [`${last.entityType}.${last.aspect}`], approveRows: last.cause.approveRows };
      await run(`approve-${number}-${name}`, input);
    }
  }
}

/** A person's run, to the end. */
export type RunByHand = (name: string, input: Record<string, unknown>) => Promise<Report | undefined>;

/** Clears; if rows are missing for good, accepts that if this operator would. */
export async function cleared(run: RunByHand, name: string, clear: string[], accepts: boolean): Promise<void> {
  const report = await run(name, { clear });
  const note = report?.notes?.find(({ kind }) => kind === 'not-released');
  if (note?.kind !== 'not-released' || !accepts) return;
  const { why, rowsMissing, until } = note;
  // For an impossible time, the report has no moment from which the index may be cleared.
  const isOpen = why === 'rows-missing' || why === 'uncounted' || why === 'running';
  if (!isOpen && (why !== 'unresolved' || until !== undefined)) return;
  await run(`${name}-accepting`, { clear, acceptMissing: Math.max(1, rowsMissing ?? 0) });
}

/** The steps that a report prints: move the alias back and copy the newer rows; or refresh. */
function repair(world: World, name: string, index: string, cause: Report['policies'][number]['cause']): void {
  const [{ engine }] = world.servers;
  const view = engine.indices().find((one) => one.index?.toLowerCase() === name);
  const rowsIn = 'rowsIn' in cause ? cause.rowsIn : undefined;
  const isThere = engine.indices().some((one) => one.name === rowsIn && one.index === undefined);
  world.others(name, 'repaired', () => {
    if (view && rowsIn !== undefined && isThere && rowsIn.startsWith(index)) {
      engine.pointAlias(name, rowsIn);
      engine.bringOver(name, view.name);
    }
    if (view) engine.refreshing(name, true);
    engine.refresh();
  });
}

/** After the last calm night: clears everything that is closed, and one more night shows that nothing is stuck. */
export async function clearAtLast(
  world: World,
  executions: Execution[],
  policies: readonly PolicyOf[],
): Promise<string> {
  const { time } = world;
  const run = async (name: string, input: Record<string, unknown>): Promise<Report | undefined> => {
    const execution = startExecution(world, name, input);
    executions.push(execution);
    await time.run(() => execution.ended);
    return reportsOf(world).findLast(({ runId }) => runId === name);
  };
  for (const { name, index, entityType, aspect } of policies) {
    const record = world.ledger.records.get(index) as LedgerRecord | undefined;
    const isHeld = record?.state === 'sending' || record?.state === 'running';
    if (record?.state !== 'quarantined' && !isHeld) continue;
    await cleared(run, `last-clear-${name}`, [`${entityType}.${aspect}`], true);
  }
  for (const { name } of policies) world.arrive(name, oldRows(time.now()));
  await time.runUntil(time.now() + 3_600_000);
  await run('last-night', {});
  return 'last-night';
}

const oldRows = (now: number): number[] =>
  Array.from({ length: 100 }, (_, row) => now - (70 + (row % 30)) * 86_400_000);

const reportsOf = ({ journal }: World): Report[] =>
  journal.flatMap((event) => (event.kind === 'published' ? [event.report] : []));

const lastEntry = (world: World, index: string) =>
  reportsOf(world)
    .flatMap(({ policies }) => policies)
    .findLast((entry) => searchIndex(entry) === index);
