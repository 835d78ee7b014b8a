import { abandonAfterMillis, farAheadMillis } from '../facts/limits.ts';
import type { Note } from '../facts/note.ts';
import type { ServerError } from '../facts/server-error.ts';
import { LedgerError } from '../ledger/ledger.ts';
import { type Head, headOf, type StoredRecord, type Window } from '../ledger/record.ts';
import { clear, type Key } from '../ledger/transitions.ts';
import { asking, OperationsError } from '../operations/operations.ts';
import { dottedName } from '../policy/aspects.ts';
import { mayHaveCopied } from '../truncation/copied.ts';
import { ownTask } from '../truncation/own-task.ts';
import { clocksAgree } from '../truncation/see.ts';
import { whereRowsAre } from './entries.ts';
import type { RunServices } from './services.ts';

/**
 * A person has looked at an index and wants it open again. Clearing counts the record's own windows with their own
 * boundaries: with totals, two weeks of ingestion could hide that all rows are missing. It releases an index that is
 * whole, or that is missing no more rows than the person accepts; it starts and watches nothing.
 *
 * It is for closed records and for those that this run cannot watch. An unresolved one, ours too, counts as closed once
 * it has been judgeable for 20 h: by then the nightly runs have had their chance to close it.
 */

export interface Clearing {
  acceptMissing?: number;
}

type Services = Pick<RunServices, 'ledger' | 'operations' | 'clock' | 'log'>;
type Refusal = Note & { kind: 'not-released' };

/** Clears one index, or says why it cannot be cleared (yet). Never throws for the server or the ledger. */
export async function clearIndex(
  record: StoredRecord | undefined,
  key: Key,
  clearing: Clearing,
  services: Services,
  signal: AbortSignal,
): Promise<Note> {
  try {
    return await cleared(record, key, clearing, services, signal);
  } catch (error) {
    if (error instanceof LedgerError) return { kind: 'not-released', index: dottedName(key), why: 'ledger' };
    throw error;
  }
}

async function cleared(
  record: StoredRecord | undefined,
  key: Key,
  clearing: Clearing,
  services: Services,
  signal: AbortSignal,
): Promise<Note> {
  const index = dottedName(key);
  const nothing: Note = { kind: 'nothing-to-clear', index };
  if (record === undefined) return nothing;
  const head = headOf(record);
  if (!head) return { kind: 'not-released', index, why: 'ledger', unreadable: true };
  const early = tooEarly(head, clearing, services.clock.now());
  if (early) return { kind: 'not-released', index, why: 'unresolved', ...early };
  const windows = windowsToCount(record, key);
  if (windows.length === 0 && isFree(head, services.clock.now())) return nothing;

  const found = await countIn(windows, key, clearing, services, signal);
  if (found.kind === 'wrong-clock') return { kind: 'not-released', index, why: 'clock' };
  if (found.kind === 'failed') return { kind: 'not-released', index, why: 'server', error: found.error };
  const verdict = record.state === 'other-version' ? undefined : record.lastVerdict;
  const where = verdict ? whereRowsAre(verdict.entry) : {};
  const refused = (why: Refusal['why'], missing: Pick<Refusal, 'rowsMissing'> = {}): Note => ({
    ...{ kind: 'not-released', index, why, ...missing },
    ...where,
  });
  const { rowsMissing } = found;
  const uncounted = rowsMissing === undefined;
  if (uncounted && clearing.acceptMissing === undefined) return refused('uncounted');
  if (!uncounted && rowsMissing > (clearing.acceptMissing ?? 0)) return refused('rows-missing', { rowsMissing });
  const running = await copies(record, services, signal);
  if (running && clearing.acceptMissing === undefined) return refused('running', { rowsMissing: rowsMissing ?? 0 });

  if (!(await services.ledger.replace(record, clear(record, key)))) {
    return { kind: 'not-released', index, why: 'taken' };
  }
  services.log.warn('cleared by a person', { index: key.index, rowsMissing, version: head.version });
  return {
    kind: 'released',
    index,
    rowsMissing: rowsMissing ?? 0,
    ...(where.rowsIn !== undefined && !uncounted && rowsMissing > 0 && { rowsIn: where.rowsIn }),
    ...(uncounted && { uncounted }),
    ...(running && { running }),
  };
}

/**
 * Why a record cannot be cleared yet, if so, and until when, unless that is further ahead than any correct clock would
 * write. `acceptMissing` opens such a record.
 */
function tooEarly(head: Head, { acceptMissing }: Clearing, now: number): { until?: number } | undefined {
  const from = clearableAt(head);
  const isFarAhead = from - now > farAheadMillis;
  if (now >= from || (isFarAhead && acceptMissing !== undefined)) return undefined;
  return isFarAhead ? {} : { until: from };
}

/**
 * Nothing is sent under an expired reservation. A state that another version has added may mean that a call was sent.
 */
function clearableAt({ state, judgeableAt = Number.POSITIVE_INFINITY }: Head): number {
  if (state === 'idle' || state === 'quarantined') return 0;
  return state === 'reserved' ? judgeableAt : judgeableAt + abandonAfterMillis;
}

const isFree = (head: Head, now: number): boolean =>
  head.state === 'idle' || (head.state === 'reserved' && now >= clearableAt(head));

/**
 * The last verdict's window is counted too, for a record of ours without a truncation: a preview reports missing rows but
 * closes nothing. Under another address that count means nothing.
 */
function windowsToCount(record: StoredRecord, { server }: Key): readonly Window[] {
  if (record.state === 'other-version') return record.head?.windows ?? [];
  if (record.state !== 'idle' && record.state !== 'reserved') return record.windows;
  const { window } = record.lastVerdict ?? {};
  return window && record.server === server ? [window] : [];
}

type Found =
  /** `rowsMissing`: from the window that lost most; undefined if there is nothing to compare with. */
  { kind: 'counted'; rowsMissing?: number } | { kind: 'failed'; error: ServerError } | { kind: 'wrong-clock' };

/** Asks even for a record without windows: our clock measures its age, and the answer confirms our clock. */
export async function countIn(
  windows: readonly Window[],
  key: Key,
  { acceptMissing }: Clearing,
  services: Services,
  signal: AbortSignal,
): Promise<Found> {
  const begins = new Set(windows.map(({ from }) => from));
  const moments = new Set(windows.length > 0 ? windows.flatMap(({ from, to }) => [from, to]) : [services.clock.now()]);
  const youngestFirst = [...moments].sort((one, other) => other - one);
  const counts = new Map<number, number[]>();
  let indexGone = false;
  try {
    // Where windows begin is counted before and after the rest, so that old rows that arrive or are deleted between two
    // counts make it refuse, never release.
    for (const moment of [...begins, ...youngestFirst]) {
      const { rows, ...answer } = await upTo(moment, key, services, signal);
      if (!clocksAgree(answer)) return { kind: 'wrong-clock' };
      indexGone ||= rows === undefined;
      counts.set(moment, [...(counts.get(moment) ?? []), rows ?? 0]);
    }
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    if (!clocksAgree(error)) return { kind: 'wrong-clock' };
    const opens = acceptMissing !== undefined && (await answers(services, signal));
    return opens ? { kind: 'counted' } : { kind: 'failed', error: error.fact };
  }
  if (windows.length === 0) return { kind: 'counted' };
  const at = (moment: number) => counts.get(moment) ?? [];
  const held = ({ from, to }: Window) => (indexGone ? 0 : Math.max(0, Math.min(...at(to)) - Math.max(...at(from))));
  return {
    kind: 'counted',
    rowsMissing: Math.max(...windows.map((window) => Math.max(0, window.rows - held(window)))),
  };
}

/** Rows with a timestamp at or before a moment; undefined if there is no such index. */
async function upTo(
  endTimeMillis: number,
  { entityType, aspect }: Key,
  { operations }: Services,
  signal: AbortSignal,
): Promise<{ rows: number | undefined; clockSkewMillis?: number | undefined }> {
  try {
    const fields = { entityType, aspect, endTimeMillis, batchSize: 10_000, forceDeleteByQuery: true };
    const { rowsToDelete, clockSkewMillis } = await operations.dryRun(fields, { signal });
    return { rows: rowsToDelete, clockSkewMillis };
  } catch (error) {
    if (!(error instanceof OperationsError) || error.fact.kind !== 'no-index') throw error;
    return { rows: undefined, clockSkewMillis: error.clockSkewMillis };
  }
}

/** Whether the server cannot count this index but answers other requests. */
async function answers({ operations }: Services, signal: AbortSignal): Promise<boolean> {
  const asked = await asking(() => operations.indexSizes({ signal }));
  return asked.kind === 'done' || asked.error.kind === 'privilege';
}

/** Whether a truncation that may have copied says that it is still running. */
async function copies(record: StoredRecord, { operations, clock }: Services, signal: AbortSignal): Promise<boolean> {
  const attempt = record.state === 'running' || record.state === 'quarantined' ? record.attempt : undefined;
  if (attempt?.taskId === undefined) return false;
  const { taskId } = attempt;
  const asked = await asking(() => operations.taskStatus(taskId, { signal }));
  const task = asked.kind === 'done' ? ownTask(asked.value, { attempt }, clock.now()) : undefined;
  if (!task || task.completed) return false;
  return mayHaveCopied({ attempt }, { task, indexName: undefined, isCounted: true });
}
