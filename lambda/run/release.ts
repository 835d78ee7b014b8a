import type { Note } from '../facts/note.ts';
import { concernsServer } from '../facts/server-error.ts';
import { LedgerError } from '../ledger/ledger.ts';
import { headOf, isUnresolved, type LedgerRecord, type StoredRecord } from '../ledger/record.ts';
import { releasableAt } from '../ledger/standing.ts';
import { type Key, release } from '../ledger/transitions.ts';
import { asking, OperationsError } from '../operations/operations.ts';
import { dottedName } from '../policy/aspects.ts';
import { type Ask, countRows } from '../truncation/counts.ts';
import { quarantinedCause } from './entries.ts';
import type { RunServices } from './services.ts';

/**
 * A person has looked at an index and wants it truncated again. A release counts the record's own window once more:
 * with totals, two weeks of ingestion could hide that all rows are missing. It opens an index that is whole, or that is
 * missing no more rows than the person accepts; it starts and watches nothing.
 */

type Services = Pick<RunServices, 'ledger' | 'operations' | 'clock' | 'log'>;
type Refusal = Extract<Note, { kind: 'not-released' }>;

export interface Releasing {
  key: Key;
  record: StoredRecord | undefined;
  /** Rows that may stay missing; given at all, it also opens what cannot be counted, and an unresolved copy. */
  acceptMissing?: number | undefined;
}

/** Releases one index, or says why it cannot be released (yet). Never throws for the server or the ledger. */
export async function releaseIndex(releasing: Releasing, services: Services, signal: AbortSignal): Promise<Note> {
  const { key, record } = releasing;
  try {
    return await released(releasing, services, signal);
  } catch (error) {
    const index = dottedName(key);
    if (error instanceof LedgerError) return { kind: 'not-released', index, why: 'ledger', problem: error.message };
    if (!(error instanceof OperationsError)) throw error;
    if (releasing.acceptMissing === undefined || concernsServer(error.fact) || !record) {
      return { kind: 'not-released', index, why: 'server', error: error.fact };
    }
    const running = (await mayStillCopy(record, services, signal)) || undefined;
    return open(releasing, record, { uncounted: true, running }, services);
  }
}

async function released(releasing: Releasing, services: Services, signal: AbortSignal): Promise<Note> {
  const { key, record, acceptMissing } = releasing;
  const index = dottedName(key);
  if (!record || headOf(record).state === 'idle') return nothingToRelease(record, key, services);
  const until = headOf(record).state === 'quarantined' ? undefined : releasableAt(record);
  if (until !== undefined && services.clock.now() < until) {
    return { kind: 'not-released', index, why: 'unresolved', until };
  }
  const refused = (why: Refusal['why'], rowsMissing?: number): Note => ({
    kind: 'not-released',
    index,
    why,
    rowsMissing,
    ...copyFactsOf(record),
  });
  const rowsMissing = await countMissing(record, services, signal);
  if (rowsMissing === undefined && acceptMissing === undefined) return refused('uncounted');
  if (rowsMissing !== undefined && rowsMissing > (acceptMissing ?? 0)) return refused('rows-missing', rowsMissing);
  const running = (await mayStillCopy(record, services, signal)) || undefined;
  if (running && acceptMissing === undefined) return refused('copy', rowsMissing);
  return open(releasing, record, { rowsMissing, uncounted: rowsMissing === undefined || undefined, running }, services);
}

/** Nothing is expected of an idle index any more either: a person has said that it is as it should be. */
async function nothingToRelease(record: StoredRecord | undefined, key: Key, { ledger }: Services): Promise<Note> {
  const hasWindow = record?.state === 'idle' && record.lastVerdict?.window !== undefined;
  if (hasWindow && !(await ledger.replace(release(record, key)))) {
    return { kind: 'not-released', index: dottedName(key), why: 'taken' };
  }
  return { kind: 'nothing-to-release', index: dottedName(key) };
}

async function open(
  { key }: Releasing,
  record: StoredRecord,
  found: Pick<Extract<Note, { kind: 'released' }>, 'rowsMissing' | 'uncounted' | 'running'>,
  { ledger, log }: Services,
): Promise<Note> {
  const index = dottedName(key);
  if (!(await ledger.replace(release(record, key)))) return { kind: 'not-released', index, why: 'taken' };
  log.warn('released by a person', { index: key.index, ...found });
  return { kind: 'released', index, ...found, ...(hadCopyLoss(record) && { copied: true, ...copyFactsOf(record) }) };
}

function copyFactsOf(record: StoredRecord) {
  if (record.state !== 'quarantined') return {};
  const { indexBefore, indexNow, cutoffMillis } = quarantinedCause(record);
  return { indexBefore, indexNow, cutoffMillis };
}

/** Rows that a copy left out may have been filled up by late rows since; one that was never judged may have left some. */
const hadCopyLoss = (record: StoredRecord): boolean => {
  if (record.state === 'quarantined') {
    const { outcome, copies } = record.lastVerdict.verdict;
    return outcome === 'rows-missing' && copies;
  }
  return record.state !== 'other-version' && record.state !== 'idle' && record.attempt.copies;
};

/** Rows of the record's own window that are not there; undefined if it has none. Throws OperationsError. */
async function countMissing(
  record: StoredRecord,
  { operations }: Services,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (record.state === 'other-version') return undefined;
  const window = windowOf(record);
  if (!window) return undefined;
  const ask: Ask = (fields) => operations.dryRun(fields, { signal });
  const { entityType, aspect } = record;
  const fields = { entityType, aspect, batchSize: 10_000, cutoffMillis: window.untilMillis };
  // Its lower end is counted before and after: old rows that arrive or are deleted between two counts make it refuse.
  const { afterMillis, untilMillis } = window;
  const [before = 0, whole = 0, after = 0] = (await countRows(ask, fields, [afterMillis, untilMillis, afterMillis]))
    .rows;
  return Math.max(0, window.rows - Math.max(0, whole - Math.max(before, after)));
}

function windowOf(record: LedgerRecord): { afterMillis: number; untilMillis: number; rows: number } | undefined {
  if (record.state === 'idle') return undefined;
  if (record.state === 'quarantined' && record.counted) return record.counted;
  if (!record.attempt) return undefined;
  const { policyCutoffMillis, baseline } = record.attempt;
  return { afterMillis: policyCutoffMillis, untilMillis: baseline.countedAtMillis, rows: baseline.rowsKept };
}

/** A copy without a completed status, or whose status says that it runs. A quarantined one is asked for the latter. */
async function mayStillCopy(record: StoredRecord, { operations }: Services, signal: AbortSignal): Promise<boolean> {
  if (record.state === 'other-version' || record.state === 'idle') return record.state === 'other-version';
  if (!record.attempt?.copies) return false;
  const { taskId } = record.state === 'sending' ? { taskId: undefined } : record;
  const asked = taskId === undefined ? undefined : await asking(() => operations.taskStatus(taskId, { signal }));
  const status = asked?.kind === 'done' && asked.value.kind === 'found' ? asked.value : undefined;
  return isUnresolved(record) ? !status?.completed : status?.completed === false;
}
