import type { Outcome } from '../facts/outcome.ts';
import type { PolicyEntry } from '../facts/report-schema.ts';
import { isForeign, type LedgerRecord } from '../ledger/record.ts';
import { conclude, quarantine } from '../ledger/transitions.ts';
import { done } from '../run/entries.ts';
import type { RunServices } from '../run/services.ts';
import type { DoneEntry, WatchedEntry } from '../run/state.ts';
import type { Evidence } from './verdict.ts';

export interface Closing extends Evidence {
  entry: WatchedEntry;
  record: LedgerRecord;
  services: RunServices;
  sizeMb: number | undefined;
  judgement: { outcome: Outcome; reason: string; rowsMissing?: number; shrunkRows?: number };
  /** When the truncation ended, as far as known; epoch milliseconds of the run's clock. */
  endedAt: number;
}

/**
 * Writes the verdict into the ledger and makes the report's entry of it. Where another run was first, its verdict is
 * the one. A verdict that leaves rows unaccounted for closes the index until a person clears it.
 */
export async function close(closing: Closing): Promise<DoneEntry | undefined> {
  const { entry, record, services, judgement, after } = closing;
  const attempt = record.attempt!;
  const { entry: reported } = done(entry, judgement.outcome, judgement.reason, verdictFields(closing));
  const { adopted: _, ...lasting } = reported;
  const verdict = {
    attemptId: attempt.attemptId,
    runId: attempt.runId,
    decidedAt: services.clock.now(),
    rowsAfter: after.rowsTotal - after.rowsToDelete,
    entry: lasting,
  };
  const next = needsPerson(closing) ? quarantine(record, verdict) : conclude(record, verdict, judgement.shrunkRows);
  const written = await services.ledger.replace(record, next);
  services.log.info('verdict', { index: entry.index, ...reported, written });
  if (written) return { index: entry.index, phase: 'done', entry: reported };
  const stored = await services.ledger.read(entry.index);
  return stored && !isForeign(stored) ? closedEntry(entry, stored) : undefined;
}

/** The entry of a truncation whose verdict is in the ledger. */
export function closedEntry(entry: WatchedEntry, record: LedgerRecord): DoneEntry | undefined {
  if (record.lastVerdict?.attemptId !== entry.watch.attemptId) return undefined;
  const adopted = entry.entry.adopted ? { adopted: true } : {};
  return { index: entry.index, phase: 'done', entry: { ...record.lastVerdict.entry, ...adopted } };
}

/** A delete by query can be repeated; a reindex that nobody saw end may have left the alias on half an index. */
function needsPerson({ judgement, attempt }: Closing): boolean {
  if (judgement.outcome === 'rows-missing') return true;
  return (judgement.outcome === 'unknown' || judgement.outcome === 'lost') && attempt.strategy !== 'delete-by-query';
}

function verdictFields({
  entry,
  attempt,
  after,
  indexName,
  sizeMb,
  judgement,
  endedAt,
}: Closing): Partial<PolicyEntry> {
  return {
    rowsDeleted: Math.max(0, attempt.baseline.rowsToDelete - after.rowsToDelete),
    rowsRemaining: after.rowsToDelete,
    ...(judgement.rowsMissing !== undefined && judgement.rowsMissing > 0 && { rowsMissing: judgement.rowsMissing }),
    durationSeconds: Math.max(0, Math.round((endedAt - entry.watch.startedAt) / 1000)),
    ...(sizeMb !== undefined && { sizeAfterMb: sizeMb }),
    ...(indexName !== undefined && { indexName }),
  };
}
