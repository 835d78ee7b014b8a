import type { Cause } from '../facts/cause.ts';
import type { Outcome } from '../facts/outcomes.ts';
import type { DecidedFacts, EntryFacts } from '../facts/report-schema.ts';
import type { Ledger } from './ledger.ts';
import type { Idle, Unresolved, Verdict, Window } from './record.ts';
import { conclude, quarantine } from './transitions.ts';

/** What was found out about a truncation, before it is recorded. */
export interface Judgement {
  outcome: Outcome;
  cause: Cause;
  /** What the entry says in addition. */
  facts: Partial<EntryFacts>;
  /** What becomes of the record: free again, closed until a person clears it, or left unresolved for a later look. */
  closes: 'idle' | 'quarantined' | 'no';
  /**
   * For a record that closes to `idle`: counted now, and again by the next Plans. If missing, the previous one stays.
   */
  window?: Window;
  /** The physical index of a copy that was proven complete. */
  provenName?: string;
}

export type Settled =
  | { kind: 'decided'; entry: DecidedFacts }
  /** The record has changed since it was read, and this truncation has no verdict in it. */
  | { kind: 'overtaken' };

/**
 * The one place where a judgement becomes a verdict, a conditional write and an entry. If another run was first, its
 * verdict counts. Throws LedgerError.
 * @param now epoch milliseconds of the run's clock
 */
export async function settle(
  ledger: Ledger,
  record: Unresolved,
  from: EntryFacts,
  judgement: Judgement,
  now: number,
): Promise<Settled> {
  const { outcome, cause, facts, closes } = judgement;
  const entry: DecidedFacts = { ...from, ...facts, outcome, cause };
  if (closes === 'no') return { kind: 'decided', entry };
  const { runId, runStartMillis } = record.attempt;
  const { attemptId } = record;
  const verdict = verdictOf({ attemptId, runId, runStartMillis, entry, decidedAt: now });
  const next =
    closes === 'quarantined'
      ? quarantine(record, verdict)
      : conclude(record, forNextNights(verdict, judgement, record));
  if (await ledger.replace(record, next)) return { kind: 'decided', entry };
  const stored = await ledger.read(record.index);
  const theirs = stored && stored.state !== 'other-version' ? stored.lastVerdict : undefined;
  if (theirs?.attemptId !== attemptId) return { kind: 'overtaken' };
  return { kind: 'decided', entry: { ...theirs.entry, ...adoptedIn(from) } };
}

/**
 * Closes an index that no run is truncating, because its rows are gone.
 * @returns false if another run has changed the record since it was read
 */
export async function settleIdle(
  ledger: Ledger,
  record: Idle,
  {
    entry,
    windows,
    run,
    id,
    now,
  }: {
    entry: DecidedFacts;
    windows: Window[];
    run: { runId: string; runStartMillis: number };
    /** A new id, so that an attempt's verdict is not mistaken for this one. */
    id: string;
    now: number;
  },
): Promise<boolean> {
  const verdict = verdictOf({ attemptId: id, ...run, entry, decidedAt: now });
  return ledger.replace(record, quarantine(record, verdict, windows));
}

/** Whether an entry is adopted depends on the run that reports it, not on the truncation. */
function verdictOf({ entry, ...rest }: Verdict): Verdict {
  const { adopted: _, ...lasting } = entry;
  return { ...rest, entry: lasting };
}

/** What the next nights rely on: the rows that are there, and an index that is known to be whole. */
function forNextNights(verdict: Verdict, { window, provenName }: Judgement, { lastVerdict }: Unresolved): Verdict {
  const kept = window ? { ...window, countedAt: verdict.decidedAt } : lastVerdict?.window;
  return { ...verdict, ...(kept && { window: kept }), ...(provenName !== undefined && { provenName }) };
}

export const adoptedIn = ({ adopted }: EntryFacts): Pick<EntryFacts, 'adopted'> => (adopted ? { adopted } : {});
