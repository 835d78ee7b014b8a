import { asResult, type Result, type TaskStatus } from '../gms/operations.ts';
import { capped } from '../gms/text.ts';
import { LedgerError } from '../ledger/ledger.ts';
import { addressElsewhere, releasableAt } from '../ledger/ownership.ts';
import {
  isUnresolved,
  type LedgerRecord,
  namesOfRecord,
  type Release,
  type RunId,
  runOf,
  type StoredRecord,
  type Unreadable,
} from '../ledger/record.ts';
import { isSameRun, type RecordKey, release } from '../ledger/transitions.ts';
import type { Note, NoteOf } from '../model/note.ts';
import type { RunInput } from '../model/run-input.ts';
import { dottedName, fromDottedName, searchIndexOfName } from '../policy/aspects.ts';
import { namesOf, type ParsedPolicy } from '../policy/parse.ts';
import { withDeadline } from '../truncation/clock.ts';
import type { TruncationCounts } from '../truncation/counts.ts';
import { endCounters, isInPlace } from '../truncation/watch.ts';
import { deadlineMarginMillis } from './deadlines.ts';
import { compareWithBaseline, recount, type SentRecord } from './recount.ts';
import type { RunServices } from './services.ts';
import type { RunState } from './state.ts';

/**
 * A person has looked at an index and wants it truncated again. A release counts the record's own rows to keep once
 * more. Totals would not do: two weeks of ingestion could hide that all rows are missing. It frees an index in which no
 * row is missing, or no more rows than the person accepts; it starts and watches nothing.
 */

type Services = Pick<RunServices, 'ledger' | 'operations' | 'clock' | 'log'>;

/**
 * A run that releases: it truncates and watches nothing, and works while the job is paused.
 * @returns a note for each request that was not granted, and the ledger's records as they are now: the releases that
 * were granted are unreported in them
 */
export async function releaseIndices(
  state: RunState,
  { release: names = [], acceptMissing }: RunInput,
  policies: readonly ParsedPolicy[],
  records: ReadonlyMap<string, StoredRecord>,
  services: RunServices,
): Promise<{ notes: Note[]; records: Map<string, StoredRecord> }> {
  const notes: Note[] = [];
  const now = new Map(records);
  await withDeadline(services.clock, services.deadline() - deadlineMarginMillis, async (signal) => {
    for (const index of new Set(names.map(searchIndexOfName))) {
      const record = records.get(index);
      const policy = policies.find((one) => one.index === index);
      const given = fromDottedName(names.find((name) => searchIndexOfName(name) === index) ?? index);
      const { entityType, aspect } = policy ? namesOf(policy) : record ? namesOfRecord(record) : given;
      const key = { index, entityType, aspect, server: state.server };
      const request = { key, record, run: state, by: state.by, acceptMissing };
      const result = await releaseIndex(request, services, signal);
      if (result.kind === 'granted') now.set(index, result.record);
      else notes.push(result.note);
    }
  });
  return { notes, records: now };
}

interface ReleaseRequest {
  key: RecordKey;
  record: StoredRecord | undefined;
  run: RunId;
  by?: string | undefined;
  /** Rows that may stay missing; if given at all, it also releases an index where that number is unknown. */
  acceptMissing?: number;
}

/** Releases one index, or says why it cannot be released (yet). Never throws for the server or the ledger. */
export async function releaseIndex(
  { key, record, run, by, acceptMissing }: ReleaseRequest,
  services: Services,
  signal: AbortSignal,
): Promise<{ kind: 'granted'; record: LedgerRecord } | { kind: 'refused'; note: Note }> {
  const refused = (
    why: NoteOf<'not-released'>['why'],
    fields: Omit<NoteOf<'not-released'>, 'kind' | 'index' | 'why'> = {},
  ) => ({ kind: 'refused', note: { kind: 'not-released', index: dottedName(key), why, ...fields } }) as const;
  if (record === undefined) return refused('idle');
  if (record.state !== 'unreadable') {
    // A Plan that is retried finds its own release there.
    if (record.lastRelease && isSameRun(record.lastRelease.decided, run)) return { kind: 'granted', record };
    if (record.unreported) return refused('unreported');
    if (record.state === 'idle') return refused('idle');
  }
  const until = releasableAt(record);
  if (until !== undefined && services.clock.now() < until) return refused('unresolved', { until });
  const counted: Release = {
    ...(await missingIn(record, key, services, signal)),
    accepted: acceptMissing,
    ...runbookFields(record),
  };
  const { missing = 0, unknown } = counted;
  const isEnough = missing <= (acceptMissing ?? 0) && (unknown === undefined || acceptMissing !== undefined);
  if (!isEnough) return refused(unknown === undefined ? 'missing' : 'unknown', counted);
  const granted = release(record, key, counted, { ...runOf(run), atMillis: services.clock.now() }, by);
  try {
    if (await services.ledger.replace(granted)) {
      services.log.info('released by a person', {
        index: key.index,
        missing: counted.missing,
        unknown: counted.unknown,
      });
      return { kind: 'granted', record: granted };
    }
    // The answer may have been lost, and another writer may have followed.
    const stored = await services.ledger.read(key.index);
    const isOurs = stored?.state === 'idle' && stored.lastRelease && isSameRun(stored.lastRelease.decided, run);
    return isOurs ? { kind: 'granted', record: stored } : refused('taken');
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    return refused('ledger', { problem: capped(error.message) });
  }
}

/** An idle record has nothing to release. */
type Releasable = SentRecord | Unreadable;

/** Rows to keep that are not counted, visible or not, and why that is unknown or proves nothing. */
async function missingIn(
  record: Releasable,
  key: RecordKey,
  { operations, clock }: Services,
  signal: AbortSignal,
): Promise<Release> {
  if (record.state === 'unreadable') return { unknown: 'unreadable' };
  const address = addressElsewhere(record, key);
  if (address !== undefined) return { unknown: 'address', address: capped(address) };
  // If old rows arrive or go while they are counted, the release is refused.
  const counted = await recount(record, { operations, signal }, true);
  if (counted.kind === 'failed') return { unknown: 'uncounted', error: counted.error };
  const mayRun = record.attempt.method === 'reindex' && isInPlace(record.attempt, counted.value);
  const taskId = mayRun && 'taskId' in record ? record.taskId : undefined;
  const status = taskId === undefined ? undefined : await asResult(() => operations.taskStatus(taskId, { signal }));
  return missingBy(record, counted.value, status, clock.now());
}

/**
 * Pure. Assumed of a task that cannot be asked, if a person releases its index: released-reindex.
 * @param status of a reindex that is in place
 */
function missingBy(
  record: SentRecord,
  counted: TruncationCounts,
  status: Result<TaskStatus> | undefined,
  now: number,
): Release {
  const { method, end: endBefore } = record.attempt;
  const seen = status?.kind === 'done' ? status.value : undefined;
  const end = endCounters(seen) ?? endBefore;
  const { inPlace, nothingChanged, ...counts } = compareWithBaseline(record, counted, end, now);
  if (method === 'delete') return { missing: counts.missing };
  if (!inPlace) return { unknown: 'reindex', nothingChanged };
  // Once a check has seen it end, it cannot run any more.
  if (status?.kind === 'failed' && endBefore === undefined)
    return { ...counts, unknown: 'running', error: status.error };
  return seen?.kind === 'found' && !seen.completed ? { ...counts, unknown: 'running' } : counts;
}

/** What the runbook needs: the cutoff, and of a reindex, whose late rows may hide what it left out, the old index. */
function runbookFields(record: Releasable): Release {
  if (record.state === 'unreadable') return {};
  const { attempt } = record;
  const cutoffMillis = attempt.policyCutoffMillis;
  if (attempt.method === 'delete') return { cutoffMillis };
  return {
    method: 'reindex',
    indexBefore: attempt.baseline.indexName,
    indexNow: isUnresolved(record) ? undefined : record.lastVerdict.verdict.indexNow,
    cutoffMillis,
  };
}
