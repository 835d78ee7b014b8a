import type { Outcome } from '../facts/outcome.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { guardHolds } from '../ledger/memory.ts';
import { isForeign, type LedgerRecord, type Verdict } from '../ledger/record.ts';
import { quarantine, release } from '../ledger/transitions.ts';
import { done } from '../run/entries.ts';
import type { RunServices } from '../run/services.ts';
import type { DoneEntry, Entry, RunState } from '../run/state.ts';

/**
 * An index that holds far fewer rows than the last truncation left: reported as `rows-missing`, and in an enforcing
 * run closed until a person clears it. Where the record has changed since it was read, another run is at work, and
 * its truncation is what made the rows fewer: `in-flight`.
 */
export async function quarantineAtPlan(
  counted: Pick<Entry, 'index' | 'entry'>,
  reason: string,
  record: LedgerRecord,
  state: RunState,
  { ledger, clock, newId }: RunServices,
): Promise<DoneEntry> {
  const { entityType, aspect } = counted.entry;
  const name = `${entityType}.${aspect}`;
  const clearing = JSON.stringify({ mode: 'enforce', only: [name], clear: [name] });
  const { rowsAfter = 0 } = record.lastVerdict ?? {};
  const entry = done(
    counted,
    'rows-missing',
    `${reason}. Nothing of ours ran in between: find out who deletes here (datahub-gc cuts at 30 days unless it is told otherwise; a restored or moved index looks like this, too). When this is as it should be, clear it: ${clearing}`,
    { rowsMissing: Math.max(0, rowsAfter - (counted.entry.rowsTotal ?? 0)) },
  );
  const inFlight = done(
    counted,
    'in-flight',
    `another run has been at work on this index since this one began: ${reason}`,
  );
  const current = await ledger.read(counted.index);
  if (!current || isForeign(current) || !guardHolds(current, record)) return inFlight;
  if (state.mode !== 'enforce') return entry;
  // An id of its own: the verdict of an attempt must not be taken for this one.
  const verdict = { attemptId: newId(), runId: state.runId, decidedAt: clock.now(), entry: entry.entry };
  const free = await released(record, ledger, clock.now());
  return free && (await ledger.replace(free, quarantine(free, verdict))) ? entry : inFlight;
}

/** Why an index is closed, for every later report until a person clears it. */
export const closedSince = (verdict: Verdict | undefined): string =>
  `closed since ${causes[verdict?.entry.outcome ?? 'rows-missing'] ?? 'something went wrong'}: ${verdict?.entry.reason ?? 'see the earlier report'}`;

const causes: Partial<Record<Outcome, string>> = {
  'rows-missing': 'rows were missing',
  lost: 'a truncation was lost sight of',
  unknown: 'nobody could tell what became of a truncation',
};

/** The idle record; a reservation whose time to send is over is taken back first. Undefined while somebody may send. */
async function released(record: LedgerRecord, ledger: Ledger, now: number): Promise<LedgerRecord | undefined> {
  if (record.state === 'idle') return record;
  if (record.state !== 'reserved' || !record.attempt || now < record.attempt.sendBy) return undefined;
  const idle = release(record);
  return (await ledger.replace(record, idle)) ? idle : undefined;
}
