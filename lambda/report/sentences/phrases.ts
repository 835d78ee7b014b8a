import type { IndexNames } from '../../gms/backend.ts';
import type { CauseKind, CauseOf, Counters } from '../../model/cause.ts';
import type { Outcome, Urgency } from '../../model/outcomes.ts';
import { maxNameLength } from '../../model/policy-fields.ts';
import type { DecidedIndex } from '../../model/report-schema.ts';
import { dottedName } from '../../policy/aspects.ts';
import type { Audience, Command, Guide } from '../guide/audience.ts';
import type { Section } from '../guide/runbook.ts';
import { amount, counted, exact, moment, percentBeside, rows } from './numbers.ts';
import { oneLine } from './text.ts';

/** What is said about one index, one note, or the run, and the phrases that several of them share. */

/** Made once for each kind of cause and note, and shown by every form of a message. */
export interface Sentences {
  /**
   * What the subject adds to the outcome in parentheses, in two or three words; for a note, all that the subject says.
   */
  subject?: string;
  /** What happened, as a clause without a capital and a full stop. */
  what: string;
  /** Why, in a few sentences; left out if `what` says everything. */
  why?: string;
  urgency: Urgency;
  /** What to do, in one or two sentences. A note without it is a remark. */
  next?: string;
  /** A command that only looks. */
  inspect?: Command;
  /** A command that changes something. */
  act?: Command;
  /** What to do instead, or afterwards: below everything else. */
  instead?: Command;
  /** The runbook's section, where it is not the one of the outcome. */
  section?: Section;
}

/** What each sentence needs to know of the whole report. */
export interface Context {
  audience: Audience;
  guide: Guide;
  /** The run whose report this is: what another run has decided is said as such. */
  runId: string;
  finishedAtMillis: number;
  /** Rows are missing somewhere: no command that deletes is offered. */
  afterLoss: boolean;
  /** The policies are not live, and a command that deletes would take those that are. */
  ofChange: boolean;
}

export type CauseEntry<Kind extends CauseKind> = (
  cause: CauseOf<Kind>,
  entry: DecidedIndex,
  context: Context,
) => Sentences;

/** What each outcome is called: in subjects, before what happened, and as the heading of the runbook's section. */
export const titles: Readonly<Record<Outcome, string>> = {
  'rows-missing': 'ROWS MISSING',
  quarantined: 'quarantined',
  unknown: 'unknown',
  failed: 'failed',
  'above-ceiling': 'above the ceiling',
  incomplete: 'incomplete',
  'not-started': 'not started',
  'still-running': 'still running',
  truncated: 'truncated',
  'would-truncate': 'would be truncated',
  'below-threshold': 'below the threshold',
  'nothing-to-delete': 'nothing to delete',
  disabled: 'switched off',
};

/** An ellipsis stays: the text was cut there. */
export const withoutPeriod = (text: string): string => text.replace(/(?<!\.)\.$/, '');

export const withPeriod = (text: string): string => (text === '' || /[.!?:…]$/.test(text) ? text : `${text}.`);

/** A name keeps its first letter: `gmsUrl`, `dataset.operation`, `values.yaml:1:1`. */
export const asSentence = (text: string): string =>
  withPeriod(text.replace(/^[a-z]+(?=[\s,:]|$)/, (word) => word.charAt(0).toUpperCase() + word.slice(1)));

export const joined = (...parts: ReadonlyArray<string | number | boolean | undefined>): string =>
  parts.filter((part) => typeof part === 'string' && part !== '').join(' ');

/** Whether a task says that it has deleted at least twice as many rows, and ten more, as the counts show. */
export const isAheadOfCounts = (done: number, rowsDeleted: number): boolean =>
  done >= 2 * rowsDeleted && done >= rowsDeleted + 10;

export const nextRunTries = 'Wait for the next run, which tries again.';
export const settlesItself = { urgency: 'nothing', next: nextRunTries } as const;
export const nextRunChecks =
  'Wait for the next run, which checks again. Do not truncate the index by hand in the meantime.';
export const taskVanished = 'The server no longer knows its task: a node of the search engine may have restarted.';
export const compareIndices = 'Compare the old and the new index as the runbook says, then release the index.';
export const nothingDeleted = 'nothing was deleted';
export const quarantine = 'The index is quarantined until a person releases it.';

/** The runbook has the same request; a test compares the two, and also the next one. */
export const createToken = 'create a new token in DataHub (Settings, Access Tokens)';

/** The first step of the runbook's section "Rows missing"; a test holds both together. */
export const firstStep = 'Pause this job, and switch off the schedule of datahub-gc in DataHub (Ingestion).';
export const afterLossNext = `${firstStep} Do not upgrade DataHub: that may remove an old index with the rows.`;
/** After a delete in place no old index has the rows. */
export const afterLossInPlaceNext = `${firstStep} Then count by day, and find out what deletes here, as the runbook says.`;

/** Rows of an unavailable shard are not counted, and no answer says so. */
export const ifRed = 'If the index is red, wait for its shards. Otherwise';

/** `5,000 rows are not visible`. */
export const notVisibleText = (count: number): string => `${rows(count, 'exact')} ${isOrAre(count)} not visible`;

/** `dataset.operation`, as policies, commands and parameters name it. */
export const nameOf = (entry: IndexNames): string => oneLine(dottedName(entry), longestName);

/** Long enough for every name: with a shortened one, a command would name another index. */
const longestName = 2 * maxNameLength + 1;

export const older = ({ retentionDays }: DecidedIndex): string =>
  retentionDays === undefined ? 'past their retention' : `older than ${counted(retentionDays, 'day', 'days')}`;

/** `34.62 % of 3.5 M rows are older than 90 days`: all old rows, even if the row limit takes fewer. */
export function shareOld(entry: DecidedIndex, limit?: number): string {
  const { rowsToDelete = 0, rowsPastRetention = rowsToDelete, rowsTotal = 0 } = entry;
  const share = percentBeside(limit, rowsTotal === 0 ? 0 : (rowsPastRetention / rowsTotal) * 100);
  return `${share} of ${rows(rowsTotal)} ${isOrAre(rowsTotal)} ${older(entry)}`;
}

/** `1,200,034 of 3.4 M old rows`. */
export const ofTotal = (part: number, total: number | undefined, what = 'row'): string => {
  const noun = (count: number) => (count === 1 ? what : `${what}s`);
  return total === undefined || total < part || part === total
    ? `${amount(part)} ${noun(part)}`
    : `${amount(part)} of ${amount(total)} ${noun(total)}`;
};

export const ofHours = (maxRunHours: number | undefined): string =>
  maxRunHours === undefined ? '' : ` (maxRunHours: ${counted(maxRunHours, 'hour', 'hours')})`;

/** A few rows to keep may go on any day. */
export const alsoGone = (count = 0): string =>
  count === 0
    ? ''
    : `${rows(count, 'exact')} newer than the cutoff ${isOrAre(count)} also gone, which ordinary deletions can explain.`;

export const isOrAre = (count: number): string => (count === 1 ? 'is' : 'are');

/** Another run's counts may be days old: they "were". */
export const areOrWere = (count: number, entry: DecidedIndex, context: Context): string => {
  if (!ofAnotherRun(entry, context)) return isOrAre(count);
  return count === 1 ? 'was' : 'were';
};

export const ofAnotherRun = ({ decidedBy }: DecidedIndex, { runId }: Context): boolean =>
  decidedBy !== undefined && decidedBy !== runId;

/** The cutoff as the runbook's steps need it: readable, and in epoch milliseconds. */
export const cutoffText = (millis: number | undefined): string =>
  millis === undefined ? '' : `Cutoff: ${moment(millis)} (${millis}); older rows were due for deletion.`;

export const cutoffOf = ({ policyCutoffMillis, cutoffMillis }: DecidedIndex): string =>
  cutoffText(policyCutoffMillis ?? cutoffMillis);

/** What a task's status says of its rows: deleted by a delete, written by a reindex. A total of 0 is no total yet. */
export function rowsDone(done: number, total: number | undefined, { method }: Pick<DecidedIndex, 'method'>): string {
  const isOf = total !== undefined && total > 0 && total >= done;
  const noun = (isOf ? total : done) === 1 ? 'row' : 'rows';
  const amount = isOf ? `${exact(done)} of ${exact(total)}` : exact(done);
  return method === 'reindex' ? `${amount} ${noun} written to the new index` : `${amount} old ${noun} deleted`;
}

/** What the task's counters say besides the counts, as a sentence; about a delete they prove nothing. */
export function countersText({ conflicts = 0, cancelled, runs, done, total }: Counters, entry: DecidedIndex): string {
  const says = done === undefined ? '' : `reports ${rowsDone(done, total, entry)}`;
  const skipped = conflicts > 0 ? `skipped ${rows(conflicts, 'exact')} that something else had changed` : '';
  const parts = [cancelled ? 'was cancelled' : runs ? 'still runs' : '', says, skipped].filter((part) => part !== '');
  return parts.length === 0
    ? ''
    : `Its task ${[parts.slice(0, -1).join(', '), ...parts.slice(-1)].filter((part) => part !== '').join(' and ')}.`;
}

/** Says that the index was replaced, with the old and the current name; this comes before anything else. */
export const replaced = (before: string | undefined, now: string | undefined): string =>
  before === undefined || now === undefined || before === now
    ? ''
    : `The index was replaced: it was ${before} and is now ${now}.`;
