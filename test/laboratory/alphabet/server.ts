import type { Behaviour } from '../../operations-service/simulation/behaviour.ts';

/** What a server may be like for a night, or for good. */

export interface Mood {
  says: string;
  changes: Partial<Behaviour>;
}

export const moods = {
  'aborts at 99 %': { says: 'tasks end, completed, at 99 % of their rows', changes: { abortAtShare: 0.99 } },
  'aborts half-way': { says: 'the same at half', changes: { abortAtShare: 0.5 } },
  cancelled: { says: 'tasks are cancelled at 60 %', changes: { cancelAtShare: 0.6 } },
  'node restarts': { says: 'the node restarts at 40 % of a task', changes: { restartAtShare: 0.4 } },
  'disk fills up': { says: 'the disk is full at 30 % of a task: it waits, and dies', changes: { floodAtShare: 0.3 } },
  'first search fails': { says: 'tasks die at their first search, completed', changes: { failAtFirstSearch: true } },
  'first search is slow': { says: 'tasks report zeros for 40 s', changes: { firstSearchMillis: 40_000 } },
  'reindex fails after the swap': {
    says: 'every reindex fails when the alias has moved',
    changes: { reindexFailsAfterSwap: 500 },
  },
  'refresh stays off': { says: 'what a reindex copies stays unseen', changes: { refreshOffAfterReindex: true } },
  'refresh after 30 s': { says: 'counts lag by up to 30 s', changes: { refreshSeconds: 30 } },
  'source unrefreshed': {
    says: 'a reindex does not see what was written last',
    changes: { refreshSourceBeforeReindex: false, refreshSeconds: 30 },
  },
  sliced: { says: 'counters stand at zero for long, then jump', changes: { deleteSlices: 3, reindexSlices: 3 } },
  uuid: { says: 'ids that no status can be asked for', changes: { taskIds: 'uuid' } },
  'empty task id': { says: 'an empty id', changes: { taskIds: 'empty' } },
  'sentence for a task id': { says: 'a sentence instead of an id', changes: { taskIds: 'sentence' } },
  'status unknown': { says: 'no task is ever found', changes: { statusKnown: false } },
  'status denied': { says: 'the privilege to read statuses is missing', changes: { denied: ['getEsTaskStatus'] } },
  'forgets ended tasks': { says: 'the record of a task goes when it ends', changes: { forgetsEndedTasks: true } },
  'status missing': { says: 'a status without counters', changes: { statusForm: 'missing' } },
  'sizes fail': { says: 'getIndexSizes answers 500', changes: { sizes: 'failing' } },
  'sizes denied': { says: 'the privilege to read sizes is missing', changes: { denied: ['getIndexSizes'] } },
  'truncate denied': {
    says: 'the privilege to truncate is missing',
    changes: { denied: ['truncateTimeseriesAspect'] },
  },
  conflicts: { says: 'a fifth of the rows changed meanwhile and stays', changes: { conflictShare: 0.2 } },
  'all conflicts': { says: 'every row changed meanwhile', changes: { conflictShare: 1 } },
  'flags ignored': { says: 'it reindexes although it is asked to delete', changes: { knowsForceFlags: false } },
  'always reindexes': {
    says: 'it reindexes whatever the share, and whatever it is asked',
    changes: { knowsForceFlags: false, mode: 'always-reindex' },
  },
  'no Date header': { says: 'answers do not say what time it is', changes: { dateHeader: false } },
  reworded: { says: 'dry runs that nobody understands', changes: { sentence: 'reworded' } },
  'racing counts': { says: 'more rows to delete than there are', changes: { sentence: 'racing-counts' } },
  'slow batches': { says: '200 s for each batch', changes: { batchOverheadMillis: 200_000 } },
  'stalling batches': { says: 'three hours for each batch', changes: { batchOverheadMillis: 10_800_000 } },
  'numbers begin anew': { says: 'task numbers begin anew at a restart', changes: { taskNumbersRestart: true } },
} as const satisfies Record<string, Mood>;
export type MoodName = keyof typeof moods;

/** What a server refuses, or is, from the first day to the last. */
export const lasting = {
  'no sizes, ever': { says: 'index sizes are refused for ever', changes: { denied: ['getIndexSizes'] } },
  'no status, ever': { says: 'task statuses are refused for ever', changes: { denied: ['getEsTaskStatus'] } },
  'flags ignored, ever': {
    says: 'a generation that knows no force flags (0.10.5)',
    changes: { knowsForceFlags: false },
  },
  'ids come back': { says: 'task numbers begin anew at each restart', changes: { taskNumbersRestart: true } },
  'refreshes seldom': { says: 'counts lag by up to 30 s', changes: { refreshSeconds: 30 } },
} as const satisfies Record<string, Mood>;
export type LastingName = keyof typeof lasting;
