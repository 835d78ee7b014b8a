import { LEDGER_VERSION, type LedgerRecord, type Verdict } from '../../../lambda/ledger/record.ts';
import { serverAddress } from '../../../lambda/operations/http/base-url.ts';
import type { RunSettings } from '../../../lambda/run/services.ts';
import type { World } from '../world/world.ts';
import { orderedFor } from './orders.ts';

const dayMillis = 86_400_000;

/** What was there when a verdict was written: the timestamps of the rows that searches found in its window. */
export interface Remembered {
  attemptId: string;
  window: NonNullable<Verdict['window']>;
  timestamps: number[];
}

/** Remembers the rows of a new verdict's window. */
export function remember(
  world: World,
  remembered: Map<string, Remembered>,
  next: LedgerRecord,
  attemptId: string,
): void {
  const window = next.lastVerdict?.window;
  const { engine } = world.front;
  const name = world.front.nameOf(next.index);
  if (!window) return;
  const before = remembered.get(next.index);
  // A verdict that could not count keeps the previous window.
  if (before && before.window.countedAt === window.countedAt) {
    remembered.set(next.index, { ...before, attemptId });
    return;
  }
  if (!engine.indices().some(({ index }) => index?.toLowerCase() === name)) return;
  const timestamps = engine.foundRows(name).map(({ timestamp }) => timestamp);
  remembered.set(next.index, {
    attemptId,
    window,
    timestamps: timestamps.filter((timestamp) => timestamp > window.from && timestamp <= window.to),
  });
}

/**
 * Whether more than half of the rows, and more than ten, have disappeared since the last truncation of an index was
 * verified, as long as the cutoff has reached none of them.
 */
export function isGone(world: World, index: string, cutoffMillis: number): boolean {
  const remembered = world.remembered.get(index);
  if (!remembered) return false;
  const { window, timestamps, attemptId } = remembered;
  const record = world.ledger.records.get(index) as LedgerRecord | undefined;
  // What a person cleared is not compared.
  if (record?.lastVerdict?.attemptId !== attemptId || record.lastVerdict.window === undefined) return false;
  if (cutoffMillis > window.from) return false;
  // Rows that came in after the verdict had counted are in no count of the job.
  const expected = Math.min(timestamps.length, window.rows);
  const found = world.front.truth.found(world.front.nameOf(index), window.from, window.to);
  return found < expected / 2 && expected - found > 10;
}

/** Indices whose rows are gone: a run must say so, and start nothing on them. */
export function goneIn(world: World, runStartMillis: number, settings: RunSettings): string[] {
  return [...world.remembered.keys()].filter((index) => {
    const record = world.ledger.records.get(index) as LedgerRecord | undefined;
    const policy = orderedFor(world.policies, index);
    if (record?.version !== LEDGER_VERSION || record.state !== 'idle' || !policy?.enabled) return false;
    // Counts from another server are not compared.
    if (record.server !== serverAddress(settings.gmsUrl)) return false;
    return isGone(world, index, runStartMillis - policy.retentionDays * dayMillis);
  });
}
