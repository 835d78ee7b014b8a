import type { Action } from '../simulation/behaviour.ts';
import { amount, between, type Fault, FaultError, flag, oneOf, readNumber, unlimited } from './kinds.ts';

/** The faults, by name. */

const denials: Record<string, Action> = {
  truncate: 'truncateTimeseriesAspect',
  status: 'getEsTaskStatus',
  sizes: 'getIndexSizes',
};

export const faults: readonly Fault[] = [
  // Counts
  amount(
    'refresh-seconds',
    'SECONDS',
    [0, unlimited],
    'searches see changes this many seconds later',
    (refreshSeconds) => ({
      refreshSeconds,
    }),
  ),
  flag('refresh-off-after-reindex', 'what a reindex copies stays unseen until someone refreshes the index', {
    refreshOffAfterReindex: true,
  }),
  // Reindex
  oneOf('reindex-fails', ['400', '500'], 'a reindex fails with this status after the alias was moved', (status) => ({
    reindexFailsAfterSwap: status === '400' ? 400 : 500,
  })),
  oneOf(
    'batch-size-missing',
    ['400', '500'],
    'a reindex without batchSize fails after the alias was moved',
    (status) => ({
      reindexBatchSize: 0,
      zeroBatchStatus: status === '400' ? 400 : 500,
    }),
  ),
  flag('not-an-alias', 'indices are concrete: a reindex is refused with 400, nothing changes', { aliasBacked: false }),
  flag('codec-missing', 'a reindex fails with 500 before the alias moves: the new index cannot be created', {
    reindexFailsBeforeSwap: true,
  }),
  flag('slow-allocation', 'a reindex without timeoutSeconds dies at its first write, completed', {
    slowAllocation: true,
  }),
  flag('refuses-force-flags', 'a front that refuses forceDeleteByQuery, so that the server chooses', {
    refusesForceFlags: true,
  }),
  flag('ignores-force-flags', 'an old server: forceDeleteByQuery and forceReindex have no effect', {
    knowsForceFlags: false,
  }),
  // Tasks
  amount('abort-at', 'SHARE', [0, 1], 'tasks end, completed, after this share of their rows', (abortAtShare) => ({
    abortAtShare,
  })),
  amount('cancel-at', 'SHARE', [0, 1], 'tasks are cancelled after this share of their rows', (cancelAtShare) => ({
    cancelAtShare,
  })),
  amount(
    'restart-at',
    'SHARE',
    [0, 1],
    'the node restarts after this share: the task stops, and its record is gone',
    (share) => ({
      restartAtShare: share,
    }),
  ),
  amount(
    'flood-at',
    'SHARE',
    [0, 1],
    'the disk is full after this share of a task’s rows, until someone makes room',
    (share) => ({
      floodAtShare: share,
    }),
  ),
  flag('task-numbers-restart', 'task numbers start over when the node restarts, so ids are reused', {
    taskNumbersRestart: true,
  }),
  amount('first-search', 'MILLIS', [0, unlimited], 'a task reports zeros for this long', (firstSearchMillis) => ({
    firstSearchMillis,
  })),
  amount('batch-jitter', 'SHARE', [0, 1], 'batches are faster or slower by up to this share', (batchJitter) => ({
    batchJitter,
  })),
  flag('fails-at-first-search', 'tasks end at once, completed, with all counters at zero', { failAtFirstSearch: true }),
  amount(
    'conflicts',
    'SHARE',
    [0, 1],
    'this share of the rows changed in the meantime and is kept',
    (conflictShare) => ({
      conflictShare,
    }),
  ),
  amount('slices', 'N', [2, 256], 'counters stay at zero for a long time, then jump', (slices) => ({
    deleteSlices: Math.floor(slices),
    reindexSlices: Math.floor(slices),
  })),
  oneOf('task-id', ['uuid', 'empty', 'sentence'], 'what a real truncate answers instead of a task id', (taskIds) => ({
    taskIds,
  })),
  amount('rows-per-second', 'N', [1, unlimited], 'speed of the tasks', (rowsPerSecond) => ({ rowsPerSecond })),
  // Task status
  flag('status-lost', 'no task is found: the search engine is unreachable', { statusKnown: false }),
  flag('forgets-ended-tasks', 'the record of a task is gone once the task has ended', { forgetsEndedTasks: true }),
  oneOf('status-form', ['object', 'text', 'missing'], 'form of status inside the task status', (statusForm) => ({
    statusForm,
  })),
  flag('status-unwrapped', 'the task status is not wrapped in value', { statusWrapped: false }),
  // Sizes
  oneOf(
    'sizes',
    ['sizeInMb', 'sizeMb', 'no-names', 'failing', 'one-store'],
    'form of getIndexSizes; failing answers 500',
    (sizes) => ({ sizes }),
  ),
  flag('sizes-lag', 'deleted rows count in the size until a merge', { mergeSeconds: undefined }),
  // Privileges
  {
    name: 'denied',
    value: Object.keys(denials).join('|'),
    summary: 'this privilege is missing: 403, or 401 before 0.13.2',
    apply: (value, { denied }) => {
      const action = value === undefined ? undefined : denials[value];
      if (action === undefined) {
        throw new FaultError(
          `Fault denied takes one of ${Object.keys(denials).join(', ')} (got ${value ?? 'nothing'})`,
        );
      }
      return { denied: [...denied, action] };
    },
  },
  oneOf('denied-status', ['401', '403'], 'the status for a missing privilege', (status) => ({
    deniedStatus: status === '401' ? 401 : 403,
  })),
  // Texts
  flag('comma', 'percentages are written as 99,20%', { decimalSign: ',' }),
  oneOf(
    'sentence',
    ['usual', 'unscaled-percent', 'racing-counts', 'reworded'],
    'variants of the dry run’s text; reworded cannot be understood',
    (sentence) => ({ sentence }),
  ),
  // In between
  between('gateway-timeout', 'truncate', true, '504 after the server has acted'),
  between('bad-gateway', 'all', false, '502 with an HTML page; the server is not asked'),
  between('login-redirect', 'all', false, '302 to a login page'),
  between('login-page', 'all', false, '200 with a login page'),
  between('unauthorized-empty', 'all', false, '401 without a body'),
  between('garbage', 'all', true, 'the answer is cut off in the middle'),
  between('reset', 'truncate', true, 'the connection is reset after the server has acted'),
  between('no-answer', 'truncate', true, 'the server acts and never answers'),
  {
    name: 'throttled',
    value: '[SECONDS]',
    summary: '429 with Retry-After for every request',
    apply: (value, { interceptions }) => {
      const retryAfterSeconds = value === undefined ? 1 : readNumber('throttled', 'SECONDS', [0, unlimited], value);
      return { interceptions: [...interceptions, { kind: 'throttled', scope: 'all', acts: false, retryAfterSeconds }] };
    },
  },
  flag('engine-down', 'the search engine is unreachable: nothing is counted, and no task is found', {
    engineReachable: false,
  }),
  flag('gateway', 'behind a gateway that strips /gms: /gms/operations is answered', { strippedPrefixes: ['/gms'] }),
  flag('frontend', 'behind DataHub’s frontend: only /api/gms/operations is forwarded', {
    frontend: true,
    strippedPrefixes: ['/api/gms'],
  }),
  amount('delay', 'MILLIS', [0, unlimited], 'every answer takes this long', (delayMillis) => ({ delayMillis })),
  amount(
    'clock-skew',
    'SECONDS',
    [-unlimited, unlimited],
    'the server’s clock is ahead by this much',
    (clockSkewSeconds) => ({
      clockSkewSeconds,
    }),
  ),
  flag('no-date', 'answers without a Date header', { dateHeader: false }),
  amount(
    'gc-after',
    'SECONDS',
    [0, unlimited],
    'datahub-gc truncates to 30 days, this long after the start',
    (gcAfterSeconds) => ({
      gcAfterSeconds,
    }),
  ),
  amount(
    'upgrade-after',
    'SECONDS',
    [0, unlimited],
    'an upgrade without downtime begins this long after the start: each index is copied, then replaced, and rows come back',
    (upgradeAfterSeconds) => ({ upgradeAfterSeconds }),
  ),
];
