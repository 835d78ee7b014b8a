import { usualBatchSize } from '../facts/limits.ts';
import type { Note, NoteOf } from '../facts/note.ts';
import { concernsServer } from '../facts/server-error.ts';
import { LedgerError } from '../ledger/ledger.ts';
import {
  decisionOf,
  headOf,
  isUnresolved,
  type LedgerRecord,
  type Release,
  type RunId,
  runOf,
  type StoredRecord,
} from '../ledger/record.ts';
import { releasableAt } from '../ledger/standing.ts';
import { dropWindow, isSameRun, type Key, release } from '../ledger/transitions.ts';
import { asResult, OperationsError } from '../operations/operations.ts';
import { dottedName } from '../policy/aspects.ts';
import { capped } from '../text/text.ts';
import { type Ask, countRows } from '../truncation/counts.ts';
import type { RunServices } from './services.ts';

/**
 * A person has looked at an index and wants it truncated again. A release counts the record's own window once more:
 * with totals, two weeks of ingestion could hide that all rows are missing. It opens an index that is whole, or that is
 * missing no more rows than the person accepts; it starts and watches nothing.
 */

type Services = Pick<RunServices, 'ledger' | 'operations' | 'clock' | 'log'>;
type Refusal = NoteOf<'not-released'>;

export interface Releasing {
  key: Key;
  record: StoredRecord | undefined;
  /** The run that releases. */
  run: RunId;
  /** Rows that may stay missing; given at all, it also opens what cannot be counted, and an unresolved copy. */
  acceptMissing?: number;
}

/** What a request for a release came to: a judged record, whose note is made from it; or a note of its own. */
export type Released = { kind: 'judged'; record: StoredRecord } | { kind: 'note'; note: Note };

/** Releases one index, or says why it cannot be released (yet). Never throws for the server or the ledger. */
export async function releaseIndex(releasing: Releasing, services: Services, signal: AbortSignal): Promise<Released> {
  const { key, record } = releasing;
  const index = dottedName(key);
  try {
    return await released(releasing, services, signal);
  } catch (error) {
    if (error instanceof LedgerError) return refusal({ index, why: 'ledger', problem: error.message });
    if (!(error instanceof OperationsError)) throw error;
    if (releasing.acceptMissing === undefined || concernsServer(error.fact) || !record) {
      return refusal({ index, why: 'server', error: error.fact });
    }
    const running = (await mayStillCopy(record, services, signal)) || undefined;
    return open(releasing, record, { uncounted: true, running, address: otherAddress(record, key) }, services);
  }
}

/** The server of a record that is not of this one. */
const otherAddress = (record: StoredRecord, { server }: Releasing['key']): string | undefined =>
  record.state === 'other-version' || record.server === server ? undefined : capped(record.server);

const refusal = (note: Omit<Refusal, 'kind'>): Released => ({ kind: 'note', note: { kind: 'not-released', ...note } });

async function released(releasing: Releasing, services: Services, signal: AbortSignal): Promise<Released> {
  const { key, record, run, acceptMissing } = releasing;
  const index = dottedName(key);
  const decision = decisionOf(record);
  // A Plan that is retried finds its own release there.
  if (record && decision?.released && isSameRun(decision, run)) return { kind: 'judged', record };
  const state = decision?.becomes ?? (record && headOf(record).state);
  if (!record || state === 'idle') return nothingToRelease(record, index, services);
  const until = state === 'quarantined' ? undefined : releasableAt(record);
  if (until !== undefined && services.clock.now() < until) return refusal({ index, why: 'unresolved', until });
  const address = otherAddress(record, key);
  const refused = (why: Refusal['why'], rowsMissing?: number) =>
    refusal({ index, why, rowsMissing, address, ...copyFactsOf(record) });
  const rowsMissing = await countMissing(record, services, signal);
  if (rowsMissing === undefined && acceptMissing === undefined) return refused('uncounted');
  if (rowsMissing !== undefined && rowsMissing > (acceptMissing ?? 0)) return refused('rows-missing', rowsMissing);
  // Another server's counts prove nothing, so a person has to say that they are good enough.
  if (address !== undefined && acceptMissing === undefined) return refused('elsewhere', rowsMissing);
  const running = (await mayStillCopy(record, services, signal)) || undefined;
  if (running && acceptMissing === undefined) return refused('copy', rowsMissing);
  const uncounted = rowsMissing === undefined || undefined;
  return open(releasing, record, { rowsMissing, uncounted, running, address }, services);
}

/** Nothing is expected of an idle index any more either: a person has said that it is as it should be. */
async function nothingToRelease(
  record: StoredRecord | undefined,
  index: string,
  { ledger }: Services,
): Promise<Released> {
  const isOpen = record?.state === 'idle' || record?.state === 'judged';
  if (isOpen && record.lastVerdict?.window !== undefined && !(await ledger.replace(dropWindow(record)))) {
    // Its answer may have been lost, and another writer have followed.
    const stored = await ledger.read(record.index);
    const expectsRows = !stored || stored.state === 'other-version' || stored.lastVerdict?.window !== undefined;
    if (expectsRows) return refusal({ index, why: 'taken' });
  }
  return { kind: 'note', note: { kind: 'nothing-to-release', index } };
}

async function open(
  { key, run }: Releasing,
  record: StoredRecord,
  found: Pick<Release, 'rowsMissing' | 'uncounted' | 'running' | 'address'>,
  { ledger, log, clock }: Services,
): Promise<Released> {
  const opened: Release = {
    ...found,
    ...('counted' in record && record.counted && { betweenRuns: true }),
    ...(hadCopyLoss(record) && { copied: true, ...copyFactsOf(record) }),
  };
  const next = release(record, key, opened, { ...runOf(run), atMillis: clock.now() });
  if (!(await ledger.replace(next))) {
    // Its answer may have been lost, and another writer have followed.
    const stored = await ledger.read(key.index);
    const decision = decisionOf(stored);
    const isOurs = decision?.released === true && isSameRun(decision, run);
    return stored && isOurs ? { kind: 'judged', record: stored } : refusal({ index: dottedName(key), why: 'taken' });
  }
  log.info('released by a person', { index: key.index, ...found });
  return { kind: 'judged', record: next };
}

function copyFactsOf(record: StoredRecord): Pick<Release, 'indexBefore' | 'indexNow' | 'cutoffMillis'> {
  if (record.state !== 'quarantined' && record.state !== 'judged') return {};
  return {
    indexBefore: record.attempt?.baseline.indexName,
    indexNow: record.lastVerdict?.verdict.indexNow,
    cutoffMillis: record.attempt?.policyCutoffMillis,
  };
}

/** Rows that a copy left out may have been filled up by late rows since; one that was never judged may have left some. */
const hadCopyLoss = (record: StoredRecord): boolean => {
  if (record.state === 'quarantined' || record.state === 'judged') {
    const { outcome, reindexes } = record.lastVerdict?.verdict ?? {};
    return outcome === 'rows-missing' && reindexes === true;
  }
  return isUnresolved(record) && record.attempt.reindexes;
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
  const fields = { entityType, aspect, batchSize: usualBatchSize, cutoffMillis: window.untilMillis };
  // Its lower end is counted before and after: old rows that arrive or are deleted between two counts make it refuse.
  const { afterMillis, untilMillis } = window;
  const { rows } = await countRows(ask, fields, { before: afterMillis, end: untilMillis, again: afterMillis });
  return Math.max(0, window.rows - Math.max(0, rows.end - Math.max(rows.before, rows.again)));
}

/** The rows that a release counts: those between two runs, or those that a truncation was to keep. */
export function windowOf(record: LedgerRecord): { afterMillis: number; untilMillis: number; rows: number } | undefined {
  if (record.state === 'idle') return undefined;
  if ('counted' in record && record.counted) return record.counted;
  if (!record.attempt) return undefined;
  const { policyCutoffMillis, baseline } = record.attempt;
  return { afterMillis: policyCutoffMillis, untilMillis: baseline.countedAtMillis, rows: baseline.rowsToKeep };
}

/**
 * A copy without a completed status, or whose status says that it runs. A quarantined one is asked for the latter.
 * Assumed of one that a person releases all the same: released-copy.
 */
async function mayStillCopy(record: StoredRecord, { operations }: Services, signal: AbortSignal): Promise<boolean> {
  if (record.state === 'other-version' || record.state === 'idle') return record.state === 'other-version';
  if (!record.attempt?.reindexes) return false;
  const taskId = 'taskId' in record ? record.taskId : undefined;
  const asked = taskId === undefined ? undefined : await asResult(() => operations.taskStatus(taskId, { signal }));
  const status = asked?.kind === 'done' && asked.value.kind === 'found' ? asked.value : undefined;
  return isUnresolved(record) ? !status?.completed : status?.completed === false;
}
