import { LEDGER_VERSION, type LedgerRecord, type Window } from '../../../lambda/ledger/record.ts';
import { serverAddress } from '../../../lambda/operations/http/base-url.ts';
import type { RunSettings } from '../../../lambda/run/services.ts';
import type { World } from '../world/world.ts';
import { orderedFor } from './orders.ts';

const dayMillis = 86_400_000;

/** What was there when a verdict was written: the timestamps of the rows that searches found in its window. */
export interface Remembered {
  attemptId: string;
  window: Window;
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
  if (!window || !engine.indices().some(({ index }) => index?.toLowerCase() === name)) return;
  const timestamps = engine.foundRows(name).map(({ timestamp }) => timestamp);
  remembered.set(next.index, {
    attemptId,
    window,
    timestamps: timestamps.filter((timestamp) => timestamp > window.from && timestamp <= window.to),
  });
}

/**
 * Whether more than half of the rows are gone that were there when the last truncation of an index was verified, less what a
 * cutoff has overtaken. A verdict that counted its window in pieces compares those that the cutoff has not reached.
 */
export function isGone(world: World, index: string, cutoffMillis: number): boolean {
  const remembered = world.remembered.get(index);
  if (!remembered) return false;
  const { window, timestamps, attemptId } = remembered;
  const record = world.ledger.records.get(index) as LedgerRecord | undefined;
  // What was cleared by a person is not compared.
  if (record?.lastVerdict?.attemptId !== attemptId || record.lastVerdict.window === undefined) return false;
  const { parts } = record.lastVerdict;
  const pieces = parts?.filter((part) => part.from >= cutoffMillis);
  if (cutoffMillis > window.from && pieces?.length === 0) return false;
  const from = cutoffMillis <= window.from ? window.from : (pieces?.[0]?.from ?? cutoffMillis);
  const expected = timestamps.filter((timestamp) => timestamp > from).length;
  const found = world.front.truth.found(world.front.nameOf(index), from, window.to);
  return expected > 0 && found < expected / 2;
}

/** Indices of which a run must say that their rows are gone, and start nothing. */
export function goneIn(world: World, runStartMillis: number, settings: RunSettings): string[] {
  return [...world.remembered.keys()].filter((index) => {
    const record = world.ledger.records.get(index) as LedgerRecord | undefined;
    const policy = orderedFor(world.policies, index);
    if (record?.version !== LEDGER_VERSION || record.state !== 'idle' || !policy?.enabled) return false;
    // What was counted on another server is not compared.
    if (record.server !== serverAddress(settings.gmsUrl)) return false;
    return isGone(world, index, runStartMillis - policy.retentionDays * dayMillis);
  });
}
