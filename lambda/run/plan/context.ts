import type { Cause } from '../../facts/cause.ts';
import { deadlineMarginMillis } from '../../facts/limits.ts';
import type { EntryFacts } from '../../facts/report-schema.ts';
import type { DryRun, IndexSize } from '../../operations/operations.ts';
import { policyCutoff } from '../../policy/decision.ts';
import { ordersOf, type Policy } from '../../policy/schema.ts';
import type { OptionalReads } from '../../truncation/optional-reads.ts';
import { done } from '../entries.ts';
import type { RunServices } from '../services.ts';
import type { Entry, EntryBase, Planned, RunState } from '../state.ts';
import type { Prepared } from './prepare.ts';
import type { PlanRequests } from './requests.ts';
import type { Untold } from './untold.ts';

/** What the parts of Plan share while they work through the policies. */
export interface PolicyContext {
  state: RunState;
  prepared: Prepared;
  untold: Untold;
  services: RunServices;
  sizes: readonly IndexSize[];
  reads: OptionalReads;
  requests: PlanRequests;
  signal: AbortSignal;
  /** When the ledger was read, epoch milliseconds: all of Plan judges its records as of this moment. */
  readAt: number;
}

/** Plan's result for one policy: its entry, or what is left to find out. */
export type Planning = Entry | SearchedEntry;

/** More rows are due than one run may delete; further dry runs find the cutoff of this run. */
export interface SearchedEntry extends EntryBase {
  phase: 'searched';
  policy: Policy;
  /** With the policy's own cutoff: threshold and ceiling have been judged by it. */
  whole: DryRun;
  /** The most rows to delete in this run. */
  maxRows: number;
}

/** Plan's time to ask is over, or will be after a wait: the rest is for returning what it knows. */
export const isLate = ({ services: { clock, deadline } }: PolicyContext, waitMillis = 0): boolean =>
  clock.now() + waitMillis >= deadline() - deadlineMarginMillis;

/** What a dry run adds to an entry. */
export const dryRunFacts = ({ rowsTotal, rowsToDelete, deletesInPlace }: DryRun): Partial<EntryFacts> => ({
  rowsTotal,
  rowsToDelete,
  strategy: deletesInPlace ? 'delete-by-query' : 'reindex',
});

/** The policy's own cutoff in this run, epoch milliseconds. */
export const cutoffOf = ({ state }: PolicyContext, policy: Policy): number =>
  policyCutoff(state.runStartMillis, policy);

/** What a real run truncates, and a preview would. */
export function approved(
  { index, entry }: EntryBase,
  policy: Policy,
  { rowsToDelete, deletesInPlace, bite }: Planned,
  { mode }: RunState,
): Entry {
  if (mode === 'preview') {
    const most = bite && policy.maxRowsPerRun;
    const cause: Cause = { kind: 'due', minDeletePercent: policy.minDeletePercent, bite: most };
    return done({ index, entry }, 'would-truncate', cause);
  }
  return { index, entry, phase: 'approved', policy: ordersOf(policy), plan: { rowsToDelete, deletesInPlace, bite } };
}
