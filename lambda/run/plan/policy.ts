import { asResult, type DryRun, type IndexSize } from '../../gms/operations.ts';
import { addressElsewhere } from '../../ledger/ownership.ts';
import type { StoredRecord, Window } from '../../ledger/record.ts';
import type { Cause } from '../../model/cause.ts';
import type { Note } from '../../model/note.ts';
import type { ServerError } from '../../model/server-error.ts';
import { dottedName } from '../../policy/aspects.ts';
import { decide, policyCutoff, withHeadroom } from '../../policy/decision.ts';
import type { ReadablePolicy } from '../../policy/parse.ts';
import type { Policy } from '../../policy/schema.ts';
import { countRows, truncateFields } from '../../truncation/counts.ts';
import { findCutoff, rowLimit } from '../../truncation/row-limit.ts';
import { physicalIndex } from '../../truncation/sizes.ts';
import { decisionInput } from '../decide-again.ts';
import { doneEntry } from '../entries.ts';
import type { RunServices } from '../services.ts';
import { type ApprovedEntry, countsOf, type Entry, type EntryBase, limitedTo, type RunState } from '../state.ts';
import type { PlanRequests } from './requests.ts';

/** If more rows of a window have disappeared than both limits allow, that is a note. */
const fewerBetweenRuns = { share: 0.1, rows: 10 } as const;

/** What the parts of Plan share while they work through the policies. */
export interface PlanContext {
  state: RunState;
  records: ReadonlyMap<string, StoredRecord>;
  services: RunServices;
  requests: PlanRequests;
  sizes: readonly IndexSize[];
  /** What people should know besides; grows with each policy. */
  notes: Note[];
}

/** Plan's result for one policy: its entry, or what is left to find out. */
export type PlanResult = Entry | NeedsCutoff;

/** More rows are due than one run may delete; further dry runs find the cutoff of this run. */
interface NeedsCutoff extends CountedEntry {
  phase: 'unsearched';
  maxRows: number;
}

type CountedEntry = Omit<ApprovedEntry, 'phase'>;

export const policyEntry = ({ index, policy }: ReadablePolicy): EntryBase & { policy: Policy } => ({
  index,
  names: { entityType: policy.entityType, aspect: policy.aspect },
  policy,
});

/** Counts and decides about one policy whose index is free. */
export async function planPolicy(parsed: ReadablePolicy, context: PlanContext): Promise<PlanResult> {
  const { policy } = parsed;
  const { requests } = context;
  const cutoffMillis = policyCutoff(context.state.runStartMillis, policy);
  const size = physicalIndex(context.sizes, policy);
  const plan = { cutoffMillis, indexName: size?.indexName };
  const base = { ...policyEntry(parsed), plan };
  if (requests.serverFailure) return doneEntry(base, 'failed', { kind: 'setup', what: 'run' });
  if (requests.isLate()) return doneEntry(base, 'failed', { kind: 'stopped', by: 'plan-time' });
  const fieldsNow = () => truncateFields(policy, cutoffMillis, requests.refusesForceField ?? false);
  const planned = await asResult(async () => {
    const isFirst = requests.refusesForceField === undefined;
    const dryRun = isFirst ? await requests.firstDryRun(fieldsNow()) : await requests.dryRun(fieldsNow());
    await noteFewerRows(parsed, cutoffMillis, context);
    return planCounted({ ...base, plan: { ...plan, counts: countsOf(dryRun) } }, dryRun, context);
  });
  if (planned.kind === 'done') return planned.value;
  // Its entry says that the search engine does not know the index.
  if (planned.error.kind === 'no-index') await noteFewerRows(parsed, cutoffMillis, context, true);
  return doneEntry(base, 'failed', failureOf(planned.error, requests));
}

function failureOf(error: ServerError, { serverFailure }: PlanRequests): Cause {
  if (error.kind === 'aborted') return { kind: 'stopped', by: 'plan-time' };
  return serverFailure === error ? { kind: 'setup', what: 'run' } : { kind: 'server', error, sent: 'no' };
}

async function planCounted(counted: CountedEntry, dryRun: DryRun, context: PlanContext): Promise<PlanResult> {
  const { state, requests } = context;
  const { policy } = counted;
  const input = decisionInput(policy, dryRun, context);
  const early = decide('plan', input);
  if (early) return doneEntry(counted, early.outcome, early.cause);
  const maxRows = rowLimit(policy.maxRowsPerRun, dryRun.rowsToDelete, state.approveRows);
  if (dryRun.method === 'delete') {
    if (maxRows === undefined) return approvedEntry(counted, state);
    return { ...counted, phase: 'unsearched', maxRows };
  }
  // One more request, and only for a reindex that is due.
  const refusal = decide('plan', { ...input, taskStatusError: await requests.taskStatusRefusal() });
  if (refusal) return doneEntry(counted, refusal.outcome, refusal.cause);
  return approvedEntry(counted, state);
}

/**
 * Counts once more, beside the dry run, the window that the last verdict has left (rule 11). No run deletes rows of it
 * unless the cutoff is younger than its beginning, so if rows are gone, a note says so: `datahub-gc`, an upgrade, a
 * person, or an unavailable shard may be the cause. The note names no culprit, and the policy stays in force.
 */
async function noteFewerRows(
  { index, policy }: ReadablePolicy,
  cutoffMillis: number,
  { state, records, requests, notes }: PlanContext,
  isAbsent = false,
): Promise<void> {
  const window = windowNow(records.get(index), cutoffMillis, state);
  if (window === undefined) return;
  const { rows: expected, countedAtMillis: since } = window;
  const found = isAbsent ? 0 : await rowsOf(window, policy, requests);
  if (found === undefined) return;
  if (expected - found <= Math.max(fewerBetweenRuns.rows, expected * fewerBetweenRuns.share)) return;
  notes.push({ kind: 'fewer-rows', index: dottedName(policy), expected, found, since });
}

/** Undefined if they cannot be counted: if something is wrong with the index, the policy's own dry run reports it. */
async function rowsOf(window: Window, policy: Policy, requests: PlanRequests): Promise<number | undefined> {
  if (requests.isLate()) return undefined;
  const { afterMillis: after, untilMillis: until } = window;
  const counted = await asResult(() => countRows((fields) => requests.dryRun(fields), policy, { after, until }));
  if (counted.kind === 'failed' || counted.value.isAbsent) return undefined;
  const { rows } = counted.value;
  return Math.max(0, rows.until - rows.after);
}

/** The window that can still be compared: it is of this server, and today's cutoff has not moved into it. */
function windowNow(record: StoredRecord | undefined, cutoffMillis: number, state: RunState): Window | undefined {
  if (record?.state !== 'idle' || addressElsewhere(record, state) !== undefined) return undefined;
  return record.window && cutoffMillis <= record.window.afterMillis ? record.window : undefined;
}

/** What a run that enforces truncates, and a preview would. */
function approvedEntry(counted: CountedEntry, { mode }: RunState): Entry {
  const { index, names, policy, plan } = counted;
  if (mode === 'preview') {
    const { minDeletePercent, maxRowsPerRun } = policy;
    return doneEntry(counted, 'would-truncate', {
      kind: 'due',
      minDeletePercent,
      rowLimit: plan.limited && maxRowsPerRun,
    });
  }
  return { index, names, policy, plan, phase: 'approved' };
}

/**
 * More rows are due than one run may delete: further dry runs find tonight's cutoff, once every policy has had its
 * first. From then on it is this run's cutoff.
 */
export async function searchCutoff(from: NeedsCutoff, context: PlanContext): Promise<Entry> {
  const found = await asResult(() => search(from, context));
  if (found.kind === 'failed') return doneEntry(from, 'failed', { kind: 'server', error: found.error, sent: 'no' });
  return found.value ?? doneEntry(from, 'not-started', { kind: 'stopped', by: 'plan-time' });
}

/** @returns undefined if time ran out */
async function search(from: NeedsCutoff, context: PlanContext): Promise<Entry | undefined> {
  const { state, requests } = context;
  const { policy, plan, maxRows } = from;
  const { cutoffMillis, counts } = plan;
  const ask = async (older: number) =>
    requests.isLate() ? undefined : requests.dryRun(truncateFields(policy, older, requests.refusesForceField ?? false));
  const found = await findCutoff({ cutoffMillis, rows: counts.rowsToDelete, maxRows, ask });
  if (found.kind === 'no-time') return undefined;
  const sent = found.cutoffMillis;
  if (found.kind === 'too-large') {
    const { rows: rowsToDelete } = found;
    return doneEntry({ ...from, plan: limitedTo(plan, sent, { ...counts, rowsToDelete }) }, 'above-ceiling', {
      kind: 'above-ceiling',
      approveRows: withHeadroom(rowsToDelete),
      approved: state.approveRows,
      rowLimit: policy.maxRowsPerRun,
    });
  }
  const { dryRun: part } = found;
  const planned = { ...from, plan: limitedTo(plan, sent, countsOf(part)) };
  const refusal = decide('plan', { ...decisionInput(policy, part, context), cutoffMillis: sent, isLimited: true });
  if (refusal) return doneEntry(planned, refusal.outcome, refusal.cause);
  // A reindex cannot be limited, and needs task statuses: the next run decides about it as a reindex.
  if (part.method === 'reindex') {
    return doneEntry(planned, 'not-started', { kind: 'changed', what: 'method', method: part.method });
  }
  return approvedEntry(planned, state);
}
