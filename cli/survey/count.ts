import pLimit from 'p-limit';
import { createdAtOf } from '../../lambda/gms/backend.ts';
import { type DryRun, type IndexSize, OperationsError } from '../../lambda/gms/operations.ts';
import { defaultBatchSize } from '../../lambda/model/policy-fields.ts';
import { concernsServer, type ServerError } from '../../lambda/model/server-error.ts';
import { dayMillis } from '../../lambda/model/time.ts';
import { canonicalSpelling, dottedName, isProtected, knownAspects, searchIndex } from '../../lambda/policy/aspects.ts';
import type { DryRunner } from '../../lambda/truncation/counts.ts';
import { ages, type Creation, type IndexCounts, rowsOf, type Survey, type SurveyedIndex } from '../events/findings.ts';
import type { OwnTruncations } from './hints.ts';

/** Rows, size and age of every time series index, from sizes and dry runs only. */

/** Indices asked at the same time; each gets one dry run at a time, which is gentle on a production cluster. */
const surveyConcurrency = 3;

/** In a row: a server that does not answer twice does not answer. */
const maxTimeouts = 2;

/**
 * @param sizes if the server reports them; the known aspects are tried in any case, and those that it does not have are
 *   left out
 * @param own whose retention is counted, too
 * @param now epoch milliseconds
 * @param onIndex called with the number of indices counted so far, and the total
 */
export async function countIndices(
  dryRun: DryRunner,
  sizes: readonly IndexSize[] | undefined,
  own: OwnTruncations,
  now: number,
  onIndex: (done: number, of: number) => void,
): Promise<Survey> {
  const { named, unnamed } = targets(sizes);
  const limit = pLimit(surveyConcurrency);
  let stopped: ServerError | undefined;
  let timeouts = 0;
  let done = 0;
  onIndex(done, named.length);
  const surveyed = await Promise.all(
    named.map((target) =>
      limit(async (): Promise<SurveyedIndex | undefined> => {
        if (stopped !== undefined) return undefined;
        try {
          const { retentionDays = 365 } = own.get(searchIndex(target)) ?? {};
          const counts = await countIndex(dryRun, target, new Set([...ages, retentionDays]), now);
          timeouts = 0;
          return { ...target, counts };
        } catch (error) {
          if (!(error instanceof OperationsError)) throw error;
          timeouts = error.serverError.kind === 'timeout' ? timeouts + 1 : 0;
          if (concernsServer(error.serverError) || timeouts >= maxTimeouts) stopped ??= error.serverError;
          return target.indexName === undefined && isAbsent(error)
            ? undefined
            : { ...target, counts: { kind: 'failed', error: error.serverError } };
        } finally {
          onIndex(++done, named.length);
        }
      }),
    ),
  );
  const indices = surveyed.filter((index) => index !== undefined).sort(largestFirst);
  return { indices, unnamed, stopped };
}

/** The server has no such index (500), or its version no such entity (400). */
const isAbsent = ({ serverError: { kind } }: OperationsError): boolean => kind === 'bad-request' || kind === 'no-index';

type Target = Omit<SurveyedIndex, 'counts'>;

function targets(sizes: readonly IndexSize[] | undefined): { named: Target[]; unnamed: string[] } {
  const named = new Map<string, Target>();
  const unnamed: string[] = [];
  for (const { indexName, entityType, aspect, sizeMb } of sizes ?? []) {
    if (!entityType || !aspect) {
      unnamed.push(indexName);
      continue;
    }
    const names = canonicalSpelling(entityType, aspect);
    named.set(dottedName(names), {
      ...names,
      protected: isProtected(names.aspect),
      indexName,
      sizeMb,
    });
  }
  // Without sizes these are tried; with them, too: the sizes leave out an index that is closed.
  for (const names of knownAspects) {
    const target = { ...names, protected: isProtected(names.aspect) };
    if (!named.has(dottedName(names))) named.set(dottedName(names), target);
  }
  return { named: [...named.values()], unnamed };
}

async function countIndex(
  dryRun: DryRunner,
  { entityType, aspect, indexName }: Target,
  days: ReadonlySet<number>,
  now: number,
): Promise<IndexCounts> {
  const olderThan = (cutoffMillis: number) => dryRun({ entityType, aspect, cutoffMillis, batchSize: defaultBatchSize });
  const older = {} as (IndexCounts & { kind: 'counted' })['older'];
  let rowsTotal = 0;
  const deletesAt = new Set<number>();
  let clockSkewMillis: number | undefined;
  for (const age of days) {
    const counts = await olderThan(now - age * dayMillis);
    older[age] = counts.rowsToDelete;
    ({ rowsTotal, clockSkewMillis } = counts);
    if (counts.method === 'delete') deletesAt.add(age);
  }
  const around30 =
    rowsTotal > 0 && older[90] === 0
      ? {
          days25: (await olderThan(now - 25 * dayMillis)).rowsToDelete,
          days32: (await olderThan(now - 32 * dayMillis)).rowsToDelete,
        }
      : undefined;
  const created = await creationOf(indexName, rowsTotal, now, olderThan);
  const reindexes = deletesAt.size < days.size;
  return { kind: 'counted', rowsTotal, older, around30, created, reindexes, deletesAt, clockSkewMillis };
}

async function creationOf(
  indexName: string | undefined,
  rowsTotal: number,
  now: number,
  olderThan: (millis: number) => Promise<DryRun>,
): Promise<Creation | undefined> {
  const at = indexName && createdAtOf(indexName);
  if (!at) return undefined;
  const rowsBefore = rowsTotal === 0 ? 0 : (await olderThan(at)).rowsToDelete;
  if (rowsTotal === 0 || rowsBefore > 0) return { at, rowsBefore };
  return { at, rowsBefore, rowsSoonAfter: (await olderThan(Math.min(now, at + 2 * dayMillis))).rowsToDelete };
}

const largestFirst = (one: SurveyedIndex, other: SurveyedIndex): number =>
  (other.sizeMb ?? 0) - (one.sizeMb ?? 0) ||
  rowsOf(other) - rowsOf(one) ||
  dottedName(one).localeCompare(dottedName(other));
