import type { Clock } from '../facts/clock.ts';
import { maxClockSkewMillis } from '../facts/limits.ts';
import type { EntryFacts } from '../facts/report-schema.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Unresolved } from '../ledger/record.ts';
import type { Judgement } from '../ledger/settle.ts';
import type { Asking } from '../ledger/standing.ts';
import { type DryRun, type Operations, OperationsError, type TruncateFields } from '../operations/operations.ts';
import { mayHaveCopied } from './copied.ts';
import { sinceMillis, windowSince } from './gone-since.ts';
import type { OptionalReads } from './optional-reads.ts';
import type { Sighting } from './watch.ts';
import { type Counts, countWindows, physicalIndex } from './windows.ts';

/** What a look asks the server for. Throws OperationsError. */

export interface LookServices {
  operations: Operations;
  reads: OptionalReads;
  ledger: Ledger;
  clock: Clock;
  maxRunHours: number;
  /** The run that looks, and whether a look at a time, in epoch milliseconds, is its last. */
  run: Asking & { isOver(now: number): boolean };
  /** Other indices of the run, which show whether the server can be asked at all. */
  others: readonly Pick<EntryFacts, 'entityType' | 'aspect'>[];
  signal: AbortSignal;
  log: { warn(message: string, fields?: Record<string, unknown>): void };
}

/** Whether our clock can be right; if not, a look proves neither stillness nor age. */
export const clocksAgree = ({ clockSkewMillis = 0 }: Pick<Seen, 'clockSkewMillis'>): boolean =>
  Math.abs(clockSkewMillis) <= maxClockSkewMillis;

/** What one look saw: enough to tell whether something changes or, in `all`, everything that a verdict needs. */
export interface Seen extends Sighting {
  /** The server does not know our task (any more), or its status is another task's. */
  vanished: boolean;
  rowsTotal?: number;
  clockSkewMillis?: number | undefined;
  all?: Everything;
}

export interface Everything {
  /** Over the record's own windows. */
  after: Counts;
  /** The search engine has no such index any more: its counts are zero. */
  indexGone: boolean;
  /** The physical index now, if the server reports it. */
  indexName: string | undefined;
  sizeMb: number | undefined;
}

type Counted = Pick<Seen, 'toDelete' | 'kept' | 'rowsTotal' | 'clockSkewMillis' | 'all'>;

/**
 * Rows to delete show the progress of a delete by query; if the truncation may copy, only the kept rows do, because a
 * swapped alias shows 0 to delete at once.
 */
export async function countProgress(record: Unresolved, services: LookServices): Promise<Counted> {
  const { fields, runStartMillis } = record.attempt;
  const ask = asker(services);
  const { rowsToDelete: toDelete, rowsTotal, clockSkewMillis } = await ask(fields);
  const seen = { toDelete, rowsTotal, clockSkewMillis };
  if (!mayHaveCopied(record)) return seen;
  const upToStart = await ask({ ...fields, endTimeMillis: runStartMillis });
  const kept = Math.max(0, upToStart.rowsToDelete - toDelete);
  return { ...seen, kept, clockSkewMillis: furthest(clockSkewMillis, upToStart.clockSkewMillis) };
}

/** Every window, and the physical index; nothing if the counts contradict each other, which a later look may not. */
export async function countAll(record: Unresolved, services: LookServices): Promise<Counted> {
  let indexGone = false;
  let clockSkewMillis: number | undefined;
  const ask = asker(services, () => {
    indexGone = true;
  });
  const asked = async (fields: TruncateFields): Promise<DryRun> => {
    const answer = await ask(fields);
    clockSkewMillis = furthest(clockSkewMillis, answer.clockSkewMillis);
    return answer;
  };
  const after = await countWindows(asked, record.attempt.fields, record.windows, mayHaveCopied(record));
  // These are two counts, not one snapshot: if there are more rows to delete than rows, trust neither.
  if (!after || after.rowsToDelete > after.rowsTotal) return { clockSkewMillis };
  const { indexName, sizeMb } = (await physical(record, services)) ?? {};
  const { rowsToDelete: toDelete, rowsTotal } = after;
  const all = { after, indexGone, indexName, sizeMb };
  return { toDelete, rowsTotal, clockSkewMillis, all };
}

/** Of the answers to one look: a clock that has been put right in between was wrong when the look began. */
const furthest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || Math.abs(other ?? 0) > Math.abs(one) ? other : one;

const physical = async (record: Unresolved, { reads, signal }: LookServices) =>
  physicalIndex(await reads.sizes({ signal }), record.attempt.fields);

/**
 * Whether the server answers about anything other than this index: another index of this run, or sizes. Another count
 * comes first, because it also shows whether our clock, which says that the record is old, can be right.
 * @returns with the physical index, where it is known; undefined if nothing is answered, or the clocks disagree
 */
export async function serverAnswers(
  record: Unresolved,
  services: LookServices,
): Promise<{ indexName: string | undefined } | undefined> {
  const { reads, operations, others, signal } = services;
  let other: DryRun | undefined;
  for (const { entityType, aspect } of others.slice(0, otherIndices)) {
    if (other) break;
    const fields = { entityType, aspect, endTimeMillis: 0, forceDeleteByQuery: true };
    try {
      other = await operations.dryRun(fields, { signal, attempts: 1 });
    } catch (error) {
      if (!(error instanceof OperationsError)) throw error;
      if (!clocksAgree(error)) return undefined;
    }
  }
  if (other && !clocksAgree(other)) return undefined;
  const sizes = await reads.sizes({ signal }).catch(unlessOperations);
  if (!sizes && !other) return undefined;
  return { indexName: physicalIndex(sizes, record.attempt.fields)?.indexName };
}

/** One of them may be missing too; if none of them answers, the search engine is down. */
const otherIndices = 3;

function unlessOperations(error: unknown): undefined {
  if (!(error instanceof OperationsError)) throw error;
  return undefined;
}

/** What the next nights compare with; omitted if it cannot be counted, because the verdict is valid without it. */
export async function countSince(
  { closes }: Judgement,
  { attempt }: Unresolved,
  after: Counts,
  services: LookServices,
): Promise<Pick<Judgement, 'window'>> {
  if (closes !== 'idle') return {};
  const fields = { ...attempt.fields, endTimeMillis: sinceMillis(attempt) };
  const older = await asker(services)(fields).catch(unlessOperations);
  const window = older && windowSince(attempt, after, older);
  return window ? { window } : {};
}

/** A missing index holds no rows: that is an answer, with the server's time, and shows in every count. */
const asker =
  ({ operations, signal }: LookServices, onGone: () => void = () => {}) =>
  async (fields: TruncateFields): Promise<DryRun> => {
    try {
      return await operations.dryRun(fields, { signal });
    } catch (error) {
      if (!(error instanceof OperationsError) || error.fact.kind !== 'no-index') throw error;
      onGone();
      const { clockSkewMillis } = error;
      return { rowsToDelete: 0, rowsTotal: 0, ...(clockSkewMillis !== undefined && { clockSkewMillis }) };
    }
  };
