import type { IndexNames } from '../../gms/backend.ts';
import type { DecidedIndex } from '../../model/report-schema.ts';
import type { HandInput } from '../../model/run-input.ts';
import { searchIndex } from '../../policy/aspects.ts';
import type { Command, Guide } from '../guide/audience.ts';
import { type Context, nameOf } from './phrases.ts';

/** The commands of a message, each with a line that says what it does. */

const inConsole = (say: string, line: string, body?: string): Command => ({
  say,
  line,
  body,
  typedIn: 'search-engine',
});

const inShell = (say: string, line: string | undefined, deletes?: true): Command | undefined =>
  line === undefined ? undefined : { say, line, typedIn: 'shell', deletes };

/** Every index of this name, with whatever prefix and ending. */
const pattern = (names: IndexNames): string => `*${searchIndex(names).replace(/[^\p{Ll}\p{Lo}\p{N}_.+-]+/gu, '*')}*`;

export const listIndices = (names: IndexNames): Command =>
  inConsole(
    'See which index has the rows',
    `GET /_cat/indices/${pattern(names)}?v&h=health,index,docs.count,creation.date.string`,
  );

export const showRefresh = (names: IndexNames): Command =>
  inConsole(
    'See whether it is refreshed ("-1" means never)',
    `GET /${pattern(names)}/_settings/index.refresh_interval`,
  );

/** A name that came from a server goes into a request only if it can be one. */
const isIndexName = (text: string): boolean => /^[a-z0-9][a-z0-9_.+-]{0,254}$/.test(text);

/** Refreshes follow at once, and go on: what was written before becomes visible, and what comes later. */
const setRefresh = (names: IndexNames, index: string | undefined): Command =>
  inConsole(
    'This refreshes it',
    `PUT /${index !== undefined && isIndexName(index) ? index : pattern(names)}/_settings`,
    '{ "index": { "refresh_interval": null } }',
  );

/** For rows that are written but not visible: until the index is refreshed, nothing may copy or remove them. */
export const untilRefreshed = (names: IndexNames, index: string | undefined) =>
  ({
    next: 'Until it is refreshed, do not upgrade DataHub or reindex: such rows would be left out. If red, wait for its shards.',
    inspect: showRefresh(names),
    act: setRefresh(names, index),
    section: 'Not visible',
  }) as const;

export const showBlocks = (names: IndexNames): Command =>
  inConsole('See what blocks its deletes', `GET /${pattern(names)}/_settings/index.blocks.*`);

/** For errors that name no index. */
export const listHealth = inConsole(
  'See which indices are red or closed',
  'GET /_cat/indices?v&h=health,status,index,docs.count&s=health:desc,status',
);

export const listBlocks = inConsole('See what is blocked', 'GET /_all/_settings/index.blocks.*');

export const listMemory = inConsole(
  'See how full its memory is',
  'GET /_cat/nodes?v&h=name,heap.percent,ram.percent,cpu',
);

export const listTasks = inConsole(
  'See what the search engine is deleting or reindexing',
  'GET _tasks?actions=*byquery,*reindex&detailed',
);

/**
 * Shows the task if its id is one of a search engine, and lists all tasks if there is no id. An id in another form (the
 * UUID of a server that keeps its rows in Postgres) belongs to no task of a search engine.
 */
export function showTask({ taskId }: DecidedIndex): Command | undefined {
  if (taskId === undefined) return listTasks;
  return /^[\w-]{1,200}:\d{1,20}$/.test(taskId)
    ? inConsole('See what its task is doing', `GET _tasks/${taskId}`)
    : undefined;
}

/** A run by hand; undefined where none would work. */
const startRun = (say: string, input: HandInput, { guide }: Context, deletes?: true): Command | undefined =>
  inShell(say, guide.runByHand(input), deletes);

export const release = (
  name: string,
  context: Context,
  say = 'This counts again, and releases it only if no row is missing',
) => startRun(say, { release: [name] }, context);

/** Releases an index although rows are missing, or nobody knows whether any are. */
export const releaseAnyway = (name: string, acceptMissing: number, say: string, context: Context) =>
  startRun(say, { release: [name], acceptMissing }, context);

/** None in the preview of a change: a run takes the live policies, which may not even have the index. */
export const preview = (context: Context, name?: string) =>
  context.ofChange
    ? undefined
    : startRun(
        'This counts again and deletes nothing',
        { mode: 'preview', indices: name === undefined ? undefined : [name] },
        context,
      );

export const approve = (entry: DecidedIndex, approveRows: number, say: string, context: Context) =>
  startRun(say, { mode: 'enforce', indices: [nameOf(entry)], approveRows }, context, true);

/** A run of one index, which sends right after it has counted. */
export const enforceOne = (entry: DecidedIndex, context: Context) =>
  startRun('This deletes them, if they are due', { mode: 'enforce', indices: [nameOf(entry)] }, context, true);

/** Lets an enforcing run verify what is unresolved; it deletes nothing there before that is reported. */
export const verify = (entry: DecidedIndex, context: Context) =>
  startRun('This verifies it', { mode: 'enforce', indices: [nameOf(entry)] }, context, true);

/** Stores a new token where the job reads it; it stays out of the shell's history. */
export const storeToken = (guide: Guide) => inShell('With the token in token.txt, this stores it', guide.storeToken());

export const pause = ({ guide }: Context) => inShell('This pauses the job', guide.setPaused(true));

export const resume = ({ guide }: Context) => inShell('This resumes it', guide.setPaused(false), true);
