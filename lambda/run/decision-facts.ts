import type { DryRun } from '../operations/operations.ts';
import type { DecisionFacts } from '../policy/decision.ts';
import type { Clock } from '../truncation/clock.ts';
import type { RunServices } from './services.ts';
import type { RunState } from './state.ts';

export type DecisionServices = Pick<RunServices, 'settings'> & { clock: Pick<Clock, 'now'> };

/** What Plan and Truncate decide by, besides policy and counts. @param cutoffMillis the one of this dry run */
export const decisionFacts = (
  { runStartMillis, approveRows }: Pick<RunState, 'runStartMillis' | 'approveRows'>,
  { dryRun, cutoffMillis, isBite = false }: { dryRun: DryRun; cutoffMillis: number; isBite?: boolean },
  { settings, clock }: DecisionServices,
): DecisionFacts => ({
  runStartMillis,
  cutoffMillis,
  nowMillis: clock.now(),
  clockSkewMillis: dryRun.clockSkewMillis,
  minRetentionDays: settings.minRetentionDays,
  deletesInPlace: dryRun.deletesInPlace,
  approveRows,
  judgesShare: !isBite,
});
