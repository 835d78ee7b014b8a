import type { Cause } from '../../facts/cause.ts';
import { abandonAfterMillis } from '../../facts/limits.ts';
import { isUnresolved, namesOfRecord, runOf, type StoredRecord, type Unresolved } from '../../ledger/record.ts';
import { standing } from '../../ledger/standing.ts';
import { OperationsError } from '../../operations/operations.ts';
import type { ParsedPolicy } from '../../policy/parse.ts';
import { preview } from '../../truncation/look.ts';
import { progressShown } from '../../truncation/watch.ts';
import { attemptFacts, closedEntry, decided, done, held, policyFacts, watched } from '../entries.ts';
import { notSeen } from '../next.ts';
import type { RunServices } from '../services.ts';
import type { Entry, EntryBase, RunState } from '../state.ts';
import type { PolicyContext } from './context.ts';

/** What earlier runs left in the ledger, as entries of this run. */

/** What an earlier run left unresolved: watched by this run, looked at once by a preview. */
export async function adopt(from: EntryBase, record: Unresolved, context: PolicyContext): Promise<Entry> {
  const entry = notJudgeable(from, record, context.readAt) ?? watched(from, record, context.readAt, context.readAt);
  if (entry.phase === 'done' || context.state.mode === 'enforce') return entry;
  return previewEntry(entry, record, context.services, context);
}

/** The entry of what its own run may still be sending. */
function notJudgeable(from: EntryBase, record: Unresolved, now: number): Entry | undefined {
  if (record.state !== 'sending' || now >= record.attempt.judgeableAt) return undefined;
  const facts = { ...from, entry: { ...from.entry, ...attemptFacts(record.attempt) } };
  return done(facts, 'in-flight', held(record, now));
}

/**
 * A preview says what the verdict would be, and writes nothing: a stage that was set back to preview must not leave its
 * people in the dark. From `judgeableAt` + 20 h on it asks for a release, because no enforcing run closes it (rule 6).
 */
async function previewEntry(
  from: EntryBase,
  record: Unresolved,
  services: RunServices,
  { state, reads, signal, requests, readAt }: PolicyContext,
): Promise<Entry> {
  const { sendingSince: since } = record.attempt;
  const isOld = needsRelease(record, readAt);
  try {
    if (requests.serverFailure) throw new OperationsError(requests.serverFailure);
    const seen = await preview(record, { ...services, reads, signal, run: runOf(state), isOver: () => false });
    if (seen.kind === 'running') {
      const shown = seen.watch.counter === undefined ? {} : progressShown(from.entry, seen.watch);
      const cause: Cause = { kind: 'watching', why: 'preview', since, ...shown };
      return isOld ? done(from, 'unknown', { ...cause, releasable: true }) : done(from, 'still-running', cause);
    }
    const { verdict } = seen;
    const entry = decided(from, verdict);
    if (verdict.outcome === 'rows-missing' || !isOld) return entry;
    return done(entry, 'unknown', { kind: 'watching', why: 'preview', since, releasable: true });
  } catch (error) {
    if (!(error instanceof OperationsError)) throw error;
    requests.failed(error.fact);
    const releasable = isOld || undefined;
    return done(from, 'unknown', { kind: 'watching', why: 'preview', since, error: error.fact, releasable });
  }
}

const needsRelease = ({ attempt }: Unresolved, now: number): boolean => now >= attempt.judgeableAt + abandonAfterMillis;

/**
 * What the ledger alone says, for a run that cannot ask the server: what is unresolved, foreign or quarantined is in
 * every report (rule 14). Judged records are told elsewhere (`untoldIn`).
 * @returns a policy's index, if the policy can be read and is the only one for it, by that policy
 */
export function entriesFromLedger(
  records: Iterable<StoredRecord>,
  chosen: readonly ParsedPolicy[],
  state: RunState,
  readAt: number,
): { entry: Entry; policy?: ParsedPolicy }[] {
  return [...records].flatMap((record) => {
    const [policy, second] = chosen.filter(({ index }) => index === record.index);
    const isIts = policy?.kind === 'policy' && second === undefined;
    const names = isIts ? policyFacts(policy.policy) : namesOfRecord(record);
    const from = { index: record.index, entry: { ...names, resumed: isIts ? undefined : true } };
    const closed = closedEntry(from, standing(record, state, readAt));
    const entry = closed ?? (isUnresolved(record) ? notLookedAt(from, record, state, readAt) : undefined);
    return entry ? [{ entry, policy: isIts ? policy : undefined }] : [];
  });
}

function notLookedAt(
  { index, entry: names }: EntryBase,
  record: Unresolved,
  { mode }: RunState,
  readAt: number,
): Entry {
  const from = { index, entry: { ...names, resumed: true } };
  const waiting = notJudgeable(from, record, readAt);
  if (waiting) return waiting;
  const entry = watched(from, record, readAt, readAt);
  if (mode === 'enforce' || !needsRelease(record, readAt)) return notSeen(entry);
  const { sendingSince: since } = record.attempt;
  return done(entry, 'unknown', { kind: 'watching', why: 'preview', since, releasable: true });
}
