import { capped } from '../../gms/text.ts';
import { type Ownership, ownership } from '../../ledger/ownership.ts';
import { isUnresolved, namesOfRecord } from '../../ledger/record.ts';
import type { Note } from '../../model/note.ts';
import type { ParsedPolicy, ReadablePolicy } from '../../policy/parse.ts';
import { doneEntry, entryOf, withRelease } from '../entries.ts';
import type { RunServices } from '../services.ts';
import type { Entry, RunState } from '../state.ts';
import { policyEntry } from './policy.ts';
import type { Preparation } from './prepare.ts';

/** What the ledger holds of an index that is not free. */
type Held = Exclude<Ownership, { kind: 'free' }>;

/**
 * Entries for what the ledger holds, and for policies that need no request to the server. By rule 14 a record that is
 * not free is in every report, in place of its policy's entry if that policy can be read and is the only one for it.
 * @param watches the run watches what is unresolved; a preview never does (rule 6)
 * @returns the policies that wait for a count; none where the run asks nothing
 */
export function entriesFromLedger(
  state: RunState,
  prepared: Preparation,
  watches: boolean,
  { clock }: RunServices,
): { fromLedger: Pick<RunState, 'entries' | 'notes' | 'releases'>; toCount: ReadablePolicy[] } {
  const { records, chosen, canAskServer } = prepared;
  const now = clock.now();
  const held = [...records.values()].map((record) => ownership(record, state)).filter((one) => one.kind !== 'free');
  const reported = held.filter((owned) => !isOnlyCounted(owned, state));
  const notes = state.ofChange ? [changeNote(prepared, held.length - reported.length), ...state.notes] : state.notes;
  const entries: Entry[] = held.flatMap(
    (owned) => recordEntry(owned, policyFor(owned.record.index, chosen), state, now, watches) ?? [],
  );
  const toCount: ReadablePolicy[] = [];
  for (const parsed of chosen) {
    const isReplaced = held.some((owned) => owned.record.index === parsed.index && replacesPolicy(owned, state));
    if (parsed.kind === 'policy' && isReplaced) continue;
    const entry = uncountedEntry(parsed, canAskServer);
    if (entry) entries.push(entry);
    else toCount.push(parsed as ReadablePolicy);
  }
  return { fromLedger: { entries, ...reported.reduce(withRelease, { notes, releases: [] }) }, toCount };
}

/** Two policies for one index are both invalid. */
const policyFor = (index: string, chosen: readonly ParsedPolicy[]): ReadablePolicy | undefined =>
  chosen.filter((one) => one.kind === 'policy').find((one) => one.index === index);

/** An earlier run has decided it, nobody has read that, and a preview does not mark it as read. */
const isUnread = ({ kind }: Held, { mode }: RunState): boolean => kind === 'unreported' && mode === 'preview';

/** A preview of a change only says how many decisions are unread. */
const isOnlyCounted = (owned: Held, state: RunState): boolean => state.ofChange === true && isUnread(owned, state);

/** Where an unread decision leaves the index idle, a preview counts the policy as well: today's rows stand apart. */
const replacesPolicy = (owned: Held, state: RunState): boolean =>
  !(isUnread(owned, state) && owned.record.state === 'idle');

const changeNote = ({ live, policies }: Preparation, unread: number): Note => {
  const problem = live && 'problem' in live ? live.problem : undefined;
  return { kind: 'change', policies: policies.length, unread, problem };
};

/** @returns undefined for what a note alone tells */
function recordEntry(
  owned: Held,
  policy: ReadablePolicy | undefined,
  state: RunState,
  now: number,
  watches: boolean,
): Entry | undefined {
  const { record } = owned;
  const { index } = record;
  const takesPlace = policy !== undefined && replacesPolicy(owned, state);
  if (isOnlyCounted(owned, state)) {
    if (!takesPlace || record.state !== 'quarantined') return undefined;
    return entryOf(policyEntry(policy), { kind: 'quarantined', record }, state, now, watches);
  }
  // A release has its note; its policy, where there is one, waits for that.
  const isRelease = owned.kind === 'unreported' && !owned.record.lastVerdict;
  if (isRelease && !takesPlace) return undefined;
  const from = policy ? policyEntry(policy) : { index, names: namesOfRecord(record) };
  const resumed = takesPlace && !isUnresolved(record) ? undefined : true;
  return entryOf({ ...from, resumed }, owned, state, now, watches);
}

/** @returns undefined if the policy is to be counted */
function uncountedEntry(parsed: ParsedPolicy, canAskServer: boolean): Entry | undefined {
  const { index } = parsed;
  if (parsed.kind === 'invalid') {
    const { entityType, aspect, problem } = parsed;
    const names = { entityType, aspect };
    return doneEntry({ index, names }, 'failed', { kind: 'policy', what: 'unreadable', problem: capped(problem) });
  }
  const from = policyEntry(parsed);
  if (!canAskServer) return doneEntry(from, 'failed', { kind: 'setup', what: 'run' });
  return parsed.policy.enabled ? undefined : doneEntry(from, 'disabled', { kind: 'not-due' });
}
