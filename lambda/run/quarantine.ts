import type { LedgerRecord } from '../ledger/record.ts';
import { quarantine } from '../ledger/transitions.ts';
import { done } from './entries.ts';
import type { RunServices } from './services.ts';
import type { DoneEntry, Entry, RunState } from './state.ts';

/**
 * An index that holds far fewer rows than the last truncation left: reported as `rows-missing`, and in an enforcing
 * run closed until a person clears it.
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
  const entry = done(
    counted,
    'rows-missing',
    `${reason}. Nothing of ours ran in between: find out who deletes here (datahub-gc cuts at 30 days unless it is told otherwise; a restored or moved index looks like this, too). When this is as it should be, clear it: ${clearing}`,
  );
  if (state.mode === 'enforce' && record.state === 'idle') {
    // An id of its own: the verdict of an attempt must not be taken for this one.
    const verdict = { attemptId: newId(), runId: state.runId, decidedAt: clock.now(), entry: entry.entry };
    await ledger.replace(record, quarantine(record, verdict));
  }
  return entry;
}
