import { maxNameLength } from '../facts/policy-fields.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import type { ServerError } from '../facts/server-error.ts';
import type { IndexNames } from '../operations/backend.ts';
import { dottedName, searchIndex } from '../policy/aspects.ts';
import { oneLine } from '../text/text.ts';
import { amount, counted, exact, moment, percentOf, rows } from './numbers.ts';
import { asSentence } from './punctuation.ts';
import { type Command, type HandInput, runByHand, setParameter } from './reader.ts';
import { diagnosis, errorWords } from './server-errors.ts';
import type { Place, Words } from './table.ts';

/** Pieces that several entries of the tables share. */

export const nextRunTries = 'Wait for the next run, which tries again.';
export const nextRunLooks =
  'Wait for the next run, which looks again. Do not truncate the index by hand in the meantime.';
export const noUpgrade = 'Do not upgrade DataHub yet: that may remove an old index with the rows.';

type Counters = {
  conflicts?: number;
  done?: number;
  total?: number;
  cancelled?: boolean;
};

/** `dataset.operation`, as policies, commands and parameters name it. */
export const nameOf = (entry: IndexNames): string => oneLine(dottedName(entry), longestName);

/** Whole, or a command would name another index. */
const longestName = 2 * maxNameLength + 1;

export const older = ({ retentionDays }: DecidedFacts): string =>
  retentionDays === undefined ? 'past their retention' : `older than ${retentionDays} days`;

export const share = ({ rowsToDelete = 0, rowsPastRetention = rowsToDelete, rowsTotal = 0 }: DecidedFacts): string =>
  `${percentOf(rowsPastRetention, rowsTotal)} %`;

/** `1,200,034 of 3.4 M rows`. */
export const ofTotal = (part: number, total: number | undefined): string =>
  total === undefined || part === total ? rows(part) : `${amount(part)} of ${rows(total)}`;

export const ofHours = (maxRunHours: number): string => ` (maxRunHours: ${counted(maxRunHours, 'hour', 'hours')})`;

/** What another run has counted may be days old, and is no longer said as of today. */
export const areOrWere = ({ untold }: DecidedFacts): string => (untold === undefined ? 'are' : 'were');

export const isOrAre = (count: number): string => (count === 1 ? 'is' : 'are');

/** The cutoff as the runbook's steps need it: readable, and in epoch milliseconds. */
export const cutoffText = (millis: number | undefined): string =>
  millis === undefined ? '' : `Cutoff: ${moment(millis)} (${millis}); older rows were due for deletion.`;

/** What the counters say besides the counts, as a sentence; a remark, never a proof. */
export function countersText({ conflicts = 0, cancelled, done, total }: Counters): string {
  const parts = [
    ...(cancelled ? ['was cancelled'] : []),
    ...(done === undefined ? [] : [`says ${exact(done)}${total === undefined ? '' : ` of ${exact(total)}`} done`]),
    ...(conflicts > 0 ? [`skipped ${rows(conflicts, 'exact')} that something else had changed`] : []),
  ];
  return parts.length === 0 ? '' : `Its task ${parts.join(', ')}.`;
}

/** Those that are said, one after another. */
export const sentences = (...parts: ReadonlyArray<string | number | boolean | undefined>): string =>
  parts.filter((part) => typeof part === 'string' && part !== '').join(' ');

/** Every index of this name, with whatever prefix and ending. */
const pattern = (names: IndexNames): string => `*${searchIndex(names).replace(/[^\p{Ll}\p{Lo}\p{N}_.+-]+/gu, '*')}*`;

/** The request that lists every index of this name with its rows and age. */
export const lookAtIndices = (entry: IndexNames): Command => ({
  say: 'See which index has the rows',
  line: `GET /_cat/indices/${pattern(entry)}?v&h=health,index,docs.count,creation.date.string`,
  typedIn: 'search-engine',
});

/** What its index says about refreshes, by its alias. */
export const lookAtRefresh = (entry: IndexNames): Command => ({
  say: 'See whether it is refreshed ("-1" means never)',
  line: `GET /${pattern(entry)}/_settings/index.refresh_interval`,
  typedIn: 'search-engine',
});

export const lookAtTasks: Command = {
  say: 'See what the search engine is deleting or copying',
  line: 'GET _tasks?actions=*byquery,*reindex&detailed',
  typedIn: 'search-engine',
};

/**
 * The task itself, where the search engine knows it by its id, and all of them where there is no id. One in another form
 * (the UUID of a server that keeps its rows in Postgres) is no task of a search engine: nothing can be looked at.
 */
export function lookAtTask({ taskId }: DecidedFacts): Command | undefined {
  if (taskId === undefined) return lookAtTasks;
  return /^[\w-]{1,200}:\d{1,20}$/.test(taskId)
    ? { say: 'See what its task is doing', line: `GET _tasks/${taskId}`, typedIn: 'search-engine' }
    : undefined;
}

/** A run by hand as a command; undefined where none would work. */
export const byHand = (say: string, input: HandInput, place: Place, deletes?: true): Command | undefined =>
  inShell(say, runByHand(input, place), deletes);

/** The plain release. */
export const releaseOf = (name: string, place: Place): Command | undefined =>
  byHand('This counts again, and releases it only if no row is missing', { release: [name] }, place);

export const previewOf = (place: Place, index?: string): Command | undefined =>
  byHand(
    'This counts again and deletes nothing',
    { mode: 'preview', indices: index === undefined ? undefined : [index] },
    place,
  );

/** Where a person corrects policies. */
export const inPolicies = (place: Place): string =>
  place.kind === 'aws'
    ? `in the stage file and deploy, or in its parameter${place.parameterPrefix ? ` below ${place.parameterPrefix}/policies` : ''}`
    : 'in the policies file';

/** The words of a server's error: what came back, and what fixes it. */
export function ofServer(error: ServerError, place: Place): Omit<Words, 'what'> {
  const { brief, next, nextOn, urgency, token } = errorWords(error);
  return {
    subject: brief,
    why: asSentence(diagnosis(error)),
    urgency,
    next: `${nextOn?.[place.kind] ?? next}.`,
    ...(token ? { act: storeToken(place), section: 'Token' as const } : {}),
  };
}

/** Stores a new token where the job reads it; it stays out of the shell's history. */
export const storeToken = (place: Place): Command | undefined =>
  inShell('With the token in token.txt, this stores it', setParameter('token', 'file://token.txt', place));

/** Lets a paused job run again. */
export const resumeCommand = (place: Place): Command | undefined =>
  inShell('This resumes it', setParameter('paused', 'false', place));

const inShell = (say: string, line: string | undefined, deletes?: true): Command | undefined =>
  line === undefined ? undefined : { say, line, typedIn: 'shell', deletes };

/** The index that was there before, and the one that is there now, said before anything else. */
export const replaced = (before: string | undefined, now: string | undefined): string =>
  before === undefined || now === undefined || before === now
    ? ''
    : `The index was replaced during the run (by a reindex or an upgrade): it was ${before} and is now ${now}.`;
