import { asResult, type DryRun, OperationsError } from '../gms/operations.ts';
import type { Attempt } from '../ledger/record.ts';
import type { Cause } from '../model/cause.ts';
import type { Outcome } from '../model/outcomes.ts';
import { secondMillis } from '../model/time.ts';
import { type DecisionInput, decide, isAboveCeiling, policyCutoff } from '../policy/decision.ts';
import type { Policy } from '../policy/schema.ts';
import { withDeadline } from '../truncation/clock.ts';
import { countTruncation, dryRunnerOf, truncateFields } from '../truncation/counts.ts';
import { findCutoff, rowLimit } from '../truncation/row-limit.ts';
import { physicalIndex, readSizes } from '../truncation/sizes.ts';
import { changedSettings } from './current-settings.ts';
import { functionTimeoutSeconds } from './deadlines.ts';
import type { RunServices } from './services.ts';
import { type ApprovedEntry, countsOf, limitedTo, type PlannedCounts, type RunState } from './state.ts';

/** The answer to the dry run that justifies a truncate is at most this old when the call goes out. */
export const dryRunValidMillis = 60 * secondMillis;

export const outOfTime = { kind: 'stopped', by: 'run-time' } as const;

type FinalDecision =
  | { kind: 'approved'; target: ApprovedEntry; attempt: Attempt; dryRunAt: { monotonic: number } }
  | { kind: 'refused'; outcome: Outcome; cause: Cause; counts?: PlannedCounts };

interface DecisionContext {
  state: RunState;
  services: RunServices;
  /** Epoch milliseconds; `signal` fires then. */
  sendBy: number;
  signal: AbortSignal;
}

/** What is decided about all rows past the policy's own cutoff. */
export const decisionInput = (
  policy: Policy,
  dryRun: DryRun,
  { state: { runStartMillis, approveRows }, services: { clock, settings } }: Omit<DecisionContext, 'sendBy' | 'signal'>,
): DecisionInput => ({
  policy,
  dryRun,
  runStartMillis,
  cutoffMillis: policyCutoff(runStartMillis, policy),
  nowMillis: clock.now(),
  minRetentionDays: settings.minRetentionDays,
  approveRows,
  isLimited: false,
});

/** Counts and decides again; only `sending` comes between this and the call. */
export const decideAgain = (
  target: ApprovedEntry,
  { state, services, sendBy }: Omit<DecisionContext, 'signal'>,
): Promise<FinalDecision> =>
  withDeadline(services.clock, sendBy, async (signal) => {
    const decided = await asResult(() => decideWithinRowLimit(target, { state, services, sendBy, signal }));
    if (decided.kind === 'done') return decided.value;
    if (signal.aborted) return { kind: 'refused', outcome: 'not-started', cause: outOfTime };
    return { kind: 'refused', outcome: 'failed', cause: { kind: 'server', error: decided.error, sent: 'no' } };
  });

async function decideWithinRowLimit(target: ApprovedEntry, context: DecisionContext): Promise<FinalDecision> {
  const planned = target.plan.counts;
  const decision = await countAndDecide(target, planned, context);
  if (decision.kind === 'approved' || !hasTooMany(decision.cause)) return decision;
  // Old rows have arrived since Plan: within a row limit, an older cutoff than Plan's keeps to it.
  const limited = await withinRowLimit(target, context);
  return limited ? countAndDecide(limited, planned, context) : decision;
}

const hasTooMany = (cause: Cause): boolean =>
  cause.kind === 'changed' && cause.what !== 'method' && cause.now > cause.was;

/** The entry with a cutoff that keeps to its row limit now; undefined if it has none, or no such cutoff was found. */
async function withinRowLimit(
  target: ApprovedEntry,
  { state, services, signal }: DecisionContext,
): Promise<ApprovedEntry | undefined> {
  const { runStartMillis, approveRows, refusesForceField } = state;
  const { policy, plan } = target;
  if (plan.counts.method === 'reindex' || policy.maxRowsPerRun === undefined) return undefined;
  const policyCutoffMillis = policyCutoff(runStartMillis, policy);
  const dryRun = dryRunnerOf({ operations: services.operations, signal });
  const ask = (cutoffMillis: number) => dryRun(truncateFields(policy, cutoffMillis, refusesForceField ?? false));
  const whole = await ask(policyCutoffMillis);
  // What Plan would not have begun is not begun now: the ceiling, for example, is about all old rows.
  if (decide('plan', decisionInput(policy, whole, { state, services }))) return undefined;
  const maxRows = rowLimit(policy.maxRowsPerRun, whole.rowsToDelete, approveRows);
  if (maxRows === undefined) return undefined;
  const found = await findCutoff({ cutoffMillis: policyCutoffMillis, rows: whole.rowsToDelete, maxRows, ask });
  if (found.kind !== 'found') return undefined;
  const unlimited = { ...plan, cutoffMillis: policyCutoffMillis, counts: countsOf(whole) };
  return { ...target, plan: limitedTo(unlimited, found.cutoffMillis, countsOf(found.dryRun)) };
}

/** Counts and decides about the cutoff that the entry has. @param planned what Plan counted */
async function countAndDecide(
  target: ApprovedEntry,
  planned: PlannedCounts,
  { state, services, sendBy, signal }: DecisionContext,
): Promise<FinalDecision> {
  const { operations, clock } = services;
  const { policy, plan } = target;
  const { runStartMillis } = state;
  const policyCutoffMillis = policyCutoff(runStartMillis, policy);
  const cutoffMillis = plan.limited ? plan.cutoffMillis : policyCutoffMillis;
  const fields = truncateFields(policy, cutoffMillis, state.refusesForceField ?? false);
  const ask = dryRunnerOf({ operations, signal });

  // If Plan saw no index name, the server does not tell them: it is not asked again.
  const indexName = plan.indexName && physicalIndex(await readSizes(operations, signal), fields)?.indexName;
  const countedAtMillis = clock.now();
  const baseline = await countTruncation(ask, { fields, policyCutoffMillis, countedAtMillis });
  if (baseline.isAbsent) throw new OperationsError({ kind: 'no-index', operation: 'dry-run' });

  const settings = await changedSettings(target, services);

  // Measured from before the request, because we do not know when exactly the server counted.
  const dryRunAt = { wall: clock.now(), monotonic: clock.monotonic() };
  const dryRun = await ask(fields);
  const refusal = decide('truncate', {
    ...decisionInput(policy, dryRun, { state, services }),
    cutoffMillis,
    isLimited: plan.limited !== undefined,
    before: {
      settings,
      planned,
      isAgreed: services.settings.asksPerson ?? false,
      baselineRows: baseline.rowsLeft,
    },
  });
  // As Plan has announced it: a change is the refusal's own cause.
  if (refusal) return { kind: 'refused', ...refusal, counts: { ...countsOf(dryRun), method: plan.counts.method } };
  const { rowsTotal, method } = dryRun;
  const isApproved = state.approveRows !== undefined && isAboveCeiling(policy, dryRun);
  const sendUntil = Math.min(sendBy, dryRunAt.wall + dryRunValidMillis);
  const attempt: Attempt = {
    runId: state.runId,
    runStartMillis,
    by: state.by,
    approvedRows: isApproved ? state.approveRows : undefined,
    retentionDays: policy.retentionDays,
    maxMissingPercent: policy.maxMissingPercent,
    policyCutoffMillis,
    fields,
    announced: method,
    method,
    baseline: {
      rowsToDelete: baseline.rowsLeft,
      rowsTotal,
      rowsToKeep: baseline.rowsToKeep,
      countedAtMillis,
      indexName,
    },
    rest: plan.limited?.rest,
    sendingSince: clock.now(),
    sendBy: sendUntil,
    judgeableAt: sendUntil + functionTimeoutSeconds.truncate * 1000,
  };
  return { kind: 'approved', target, attempt, dryRunAt };
}
