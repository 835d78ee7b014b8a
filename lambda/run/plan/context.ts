import type { Cause } from '../../facts/cause.ts';
import type { Note } from '../../facts/note.ts';
import type { EntryFacts } from '../../facts/report-schema.ts';
import type { ServerError } from '../../facts/server-error.ts';
import type { Idle, Reserved } from '../../ledger/record.ts';
import type { Night } from '../../memory/night.ts';
import type { DryRun, IndexSize, TruncateFields } from '../../operations/operations.ts';
import type { Policy } from '../../policy/schema.ts';
import { done } from '../entries.ts';
import type { RunServices } from '../services.ts';
import type { Entry, RunState } from '../state.ts';
import type { Prepared } from './preparation.ts';

/** What the parts of Plan share while they work through the policies. */

export interface PolicyContext {
  state: RunState;
  prepared: Prepared;
  services: RunServices;
  sizes: readonly IndexSize[];
  signal: AbortSignal;
  /** What one policy found out for all of them. */
  shared: {
    /** A failure that every further request would hit too: reported once, and no more requests are made. */
    serverFailure?: ServerError;
    missingDate?: boolean;
    /** Whether task statuses may be read: checked once per run, and only if a reindex depends on it. */
    taskStatus?: Promise<ServerError | undefined>;
    notes: Note[];
  };
}

/** Plan's result for one policy. */
export interface Planning {
  entry: Entry;
  /** For a policy that deletes in bites: finds how many rows go in this run. The result replaces the entry. */
  search?(nights: readonly Night[]): Promise<Entry>;
}

/** What Plan knows about one index before it decides. */
export interface Found {
  dryRun: DryRun;
  cutoffMillis: number;
  startMillis: number;
  record: Idle | Reserved | undefined;
  size: IndexSize | undefined;
  /** The search engine has no such index: every count is zero. */
  indexGone?: boolean;
  ask(fields: TruncateFields): Promise<DryRun>;
}

/** An entry that is approved and waiting. */
export type Counted = Pick<Entry, 'index' | 'entry'>;

/** What a preview reports for an index that a real run would truncate. */
export const due = (
  counted: Counted,
  { minDeletePercent }: Policy,
  more: Omit<Cause & { kind: 'due' }, 'kind' | 'minDeletePercent'> = {},
): Entry => done(counted, 'would-truncate', { kind: 'due', minDeletePercent, ...more });

/** What a dry run adds to an entry. */
export const countsOf = ({ rowsTotal, rowsToDelete, strategy }: DryRun): Partial<EntryFacts> => ({
  rowsTotal,
  rowsToDelete,
  ...(strategy && { strategy }),
});
