import { maxEntries } from '../../facts/limits.ts';
import type { Note } from '../../facts/note.ts';
import { headOf, namesOfRecord, type StoredRecord } from '../../ledger/record.ts';
import { standing, type ThisRun } from '../../ledger/standing.ts';
import { dottedName } from '../../policy/aspects.ts';
import type { ParsedPolicy } from '../../policy/parse.ts';
import { judgedEntry, policyFacts, releaseNote } from '../entries.ts';
import type { DecisionRef, DoneEntry } from '../state.ts';

/**
 * What nobody is known to have been told yet (rule 15). Every Plan that can read the ledger tells it: also a
 * preview, a run with `only`, one that releases, and one that cannot do its work.
 */
export interface Untold {
  /** By search index. Where `replacesEntry`, it stands in for the entry of its policy; otherwise it is a further one. */
  verdicts: Map<string, { entry: DoneEntry; replacesEntry: boolean }>;
  /** Of releases, and the decisions that these notes tell. */
  notes: Note[];
  releases: DecisionRef[];
}

/** @param readAt when the ledger was read, epoch milliseconds */
export function untoldIn(
  records: Iterable<StoredRecord>,
  policies: readonly ParsedPolicy[],
  thisRun: ThisRun,
  readAt: number,
): Untold {
  const untold: Untold = { verdicts: new Map(), notes: [], releases: [] };
  for (const record of records) {
    const stands = standing(record, thisRun, readAt);
    if (stands.kind !== 'judged') continue;
    const { decision } = stands;
    // A state has room for so many. A verdict without its release would be marked for both, so neither is carried.
    if (decision.released && untold.releases.length >= maxEntries) continue;
    const { index } = record;
    const { server } = headOf(record);
    const names = namesOfRecord(record);
    const [policy, second] = policies.filter((one) => one.index === index);
    const replacesEntry = policy?.kind === 'policy' && second === undefined && server === thisRun.server;
    const entry = judgedEntry(
      { index, entry: replacesEntry ? policyFacts(policy.policy) : names },
      stands,
      thisRun,
      readAt,
    );
    if (entry) untold.verdicts.set(index, { entry: { ...entry, decision: decision.id }, replacesEntry });
    if (decision.released) {
      const { lastRelease = { decided: decision, release: { unread: true } } } = headOf(record);
      untold.notes.push(releaseNote(dottedName(names), lastRelease));
      untold.releases.push({ index, decision: decision.id });
    }
  }
  return untold;
}
