import pLimit from 'p-limit';
import type { PolicyEntry, Report } from '../../../lambda/facts/report-schema.ts';
import { type Operations, OperationsError } from '../../../lambda/operations/operations.ts';
import { dottedName } from '../../../lambda/policy/aspects.ts';
import { countAges, surveyConcurrency } from '../../survey/count.ts';
import type { Older } from '../by-age.ts';

/** Rows by age for the pictures of a run: additional dry runs after it has ended, made only if a page is wanted. */

export interface CountedAges {
  /** By the index's name. */
  older: Map<string, Older>;
  /** Indices that were not counted although they have rows. */
  left: number;
}

/** Only the largest indices are counted: four dry runs for each can take a slow server a minute. */
const mostIndices = 40;
const mostMillis = 120_000;

export interface AgesOptions {
  operations: Operations;
  /** Indices counted so far. */
  onCounted?(done: number, of: number): void;
  now?(): number;
}

/** Never throws because of a server's answer: a picture can do without these counts. */
export async function countedAges(
  report: Report,
  { operations, onCounted = () => {}, now = Date.now }: AgesOptions,
): Promise<CountedAges> {
  const withRows = report.policies.filter(({ rowsTotal = 0, outcome }) => rowsTotal > 0 && outcome !== 'rows-missing');
  const wanted = report.error === undefined ? largest(withRows) : [];
  const older = new Map<string, Older>();
  const start = Date.parse(report.startedAt);
  const end = now() + mostMillis;
  const limit = pLimit(surveyConcurrency);
  let stopped = false;
  let done = 0;
  const one = async (entry: PolicyEntry) => {
    if (stopped || now() >= end) return;
    try {
      const counts = await countAges(operations, entry, start);
      older.set(dottedName(entry), new Map(Object.entries(counts.older).map(([age, rows]) => [Number(age), rows])));
    } catch (error) {
      if (!(error instanceof OperationsError)) throw error;
      stopped ||= error.concernsServer;
    }
    onCounted(++done, wanted.length);
  };
  await Promise.all(wanted.map((entry) => limit(() => one(entry))));
  return { older, left: withRows.length - older.size };
}

const largest = (entries: readonly PolicyEntry[]): PolicyEntry[] =>
  [...entries].sort((one, other) => (other.rowsTotal ?? 0) - (one.rowsTotal ?? 0)).slice(0, mostIndices);
