import type { Cause } from '../../facts/cause.ts';
import type { EntryFacts } from '../../facts/report-schema.ts';
import type { DryRun, IndexSize } from '../../operations/operations.ts';
import { ordersOf, type Policy } from '../../policy/schema.ts';
import type { OptionalReads } from '../../truncation/optional-reads.ts';
import { done } from '../entries.ts';
import type { RunServices } from '../services.ts';
import type { Entry, Planned, RunState } from '../state.ts';
import type { Asking } from './asking.ts';
import type { Prepared } from './prepare.ts';
import type { Untold } from './untold.ts';

/** What the parts of Plan share while they work through the policies. */
export interface PolicyContext {
  state: RunState;
  prepared: Prepared;
  untold: Untold;
  services: RunServices;
  sizes: readonly IndexSize[];
  reads: OptionalReads;
  asking: Asking;
  signal: AbortSignal;
  /** When the ledger was read, epoch milliseconds: all of Plan judges its records as of this moment. */
  readAt: number;
}

/** Plan's result for one policy. */
export interface Planning {
  entry: Entry;
  /** For a policy that deletes in bites: finds how many rows go in this run. The result replaces the entry. */
  search?(): Promise<Entry>;
}

/** An entry with its counts, before anything is decided about it. */
export type Counted = Pick<Entry, 'index' | 'entry'>;

/** What a dry run adds to an entry. */
export const countsOf = ({ rowsTotal, rowsToDelete, deletesInPlace }: DryRun): Partial<EntryFacts> => ({
  rowsTotal,
  rowsToDelete,
  strategy: deletesInPlace ? 'delete-by-query' : 'reindex',
});

/** What a real run truncates, and a preview would. */
export function approved(
  { index, entry }: Counted,
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
