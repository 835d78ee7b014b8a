import { nearest } from '../../lambda/policy/nearest.ts';
import type { Behavior, InterceptionKind, Scope } from './simulation/behavior.ts';

/** The faults, by name: what `--fault NAME[=VALUE]` takes, and `Engine.fault`. */

export interface Fault {
  name: string;
  /** How its value is written, in brackets if optional; omitted if it takes none. */
  value?: string;
  summary: string;
  apply(value: string | undefined, current: Behavior): Partial<Behavior>;
}

/** An unknown fault or value; `message` says what is wrong with it and what to do. */
export class FaultError extends Error {
  override readonly name = 'FaultError';
}

/**
 * What a fault changes.
 * @param text `NAME` or `NAME=VALUE`
 * @throws FaultError
 */
export function parseFault(text: string, current: Behavior): Partial<Behavior> {
  const [name = '', ...rest] = text.split('=');
  const fault = faults.find((one) => one.name === name);
  if (fault) return fault.apply(rest.length === 0 ? undefined : rest.join('='), current);
  const names = faults.map((one) => one.name);
  const meant = nearest(name, names);
  throw new FaultError(`There is no fault ${name}: ${meant ? `did you mean ${meant}?` : '--help lists them'}`);
}

/** How a fault is written: `conflicts=SHARE`, `reset[=SCOPE]`, `no-date`. */
export function faultUsage({ name, value }: Fault): string {
  if (value === undefined) return name;
  return value.startsWith('[') ? `${name}[=${value.slice(1)}` : `${name}=${value}`;
}

/** The values of SCOPE. */
export const scopes: readonly Scope[] = ['all', 'truncate', 'dry-run', 'status', 'sizes'];

const flag = (name: string, summary: string, changes: Partial<Behavior>): Fault => ({
  name,
  summary,
  apply(value) {
    if (value !== undefined) throw new FaultError(`Fault ${name} takes no value (got ${value})`);
    return changes;
  },
});

const amount = (
  name: string,
  unit: string,
  summary: string,
  changes: (amount: number) => Partial<Behavior>,
): Fault => ({
  name,
  value: unit,
  summary,
  apply(value) {
    const number = value ? Number(value) : Number.NaN;
    const isInRange = unit === 'SHARE' ? number >= 0 && number <= 1 : Number.isFinite(number);
    if (!isInRange)
      throw new FaultError(`Fault ${name} takes a number, as ${name}=${unit} (got ${value ?? 'nothing'})`);
    return changes(number);
  },
});

const oneOf = <T extends string>(
  name: string,
  values: readonly T[],
  summary: string,
  changes: (value: T, current: Behavior) => Partial<Behavior>,
): Fault => ({
  name,
  value: values.join('|'),
  summary,
  apply: (value, current) => changes(known(name, values, value), current),
});

function known<T extends string>(name: string, values: readonly T[], value: string | undefined): T {
  const found = values.find((one) => one === value);
  if (found) return found;
  throw new FaultError(`Fault ${name} takes one of ${values.join(', ')} (got ${value ?? 'nothing'})`);
}

/** Something in front of the server; without a value it affects the given scope. */
const between = (kind: InterceptionKind, scope: Scope, acts: boolean, summary: string): Fault => ({
  name: kind,
  value: '[SCOPE]',
  summary: `${summary} (${scope === 'all' ? 'every request' : 'real truncates'} unless said otherwise)`,
  apply: (value, { interceptions }) => ({
    interceptions: [...interceptions, { kind, acts, scope: value === undefined ? scope : known(kind, scopes, value) }],
  }),
});

const privileges = {
  truncate: 'truncateTimeseriesAspect',
  status: 'getEsTaskStatus',
  sizes: 'getIndexSizes',
} as const;

export const faults: readonly Fault[] = [
  amount('refresh-seconds', 'SECONDS', 'searches see changes this many seconds later', (refreshSeconds) => ({
    refreshSeconds,
  })),
  // Reindex
  flag('refuses-force-flags', 'a front that refuses forceDeleteByQuery, so that the server chooses', {
    refusesForceFlags: true,
  }),
  flag('ignores-force-flags', 'an old server: forceDeleteByQuery has no effect', { knowsForceFlags: false }),
  oneOf('reindex-fails', ['400', '500'], 'a reindex fails with this status after the alias was moved', (status) => ({
    reindexFailsAfterSwap: status === '400' ? 400 : 500,
  })),
  amount('in-place-after', 'SECONDS', 'a reindex moves the alias this much later than its call', (seconds) => ({
    inPlaceAfterSeconds: seconds,
  })),
  flag('refresh-off-after-reindex', 'what a reindex writes stays unseen until someone refreshes the index', {
    refreshOffAfterReindex: true,
  }),
  flag('not-an-alias', 'indices are concrete: a reindex is refused with 400, nothing changes', { aliasBacked: false }),
  // Tasks
  amount('abort-at', 'SHARE', 'tasks end, completed, after this share of their rows', (abortAtShare) => ({
    abortAtShare,
  })),
  amount('cancel-at', 'SHARE', 'tasks are cancelled after this share of their rows', (cancelAtShare) => ({
    cancelAtShare,
  })),
  amount('restart-at', 'SHARE', 'the node restarts after this share: a task stops, its record is gone', (share) => ({
    restartAtShare: share,
  })),
  flag('fails-at-first-search', 'tasks end at once, completed, with all counters at zero', { failAtFirstSearch: true }),
  amount('conflicts', 'SHARE', 'this share of the rows changed in the meantime and is kept', (conflictShare) => ({
    conflictShare,
  })),
  oneOf('task-id', ['empty', 'sentence'], 'what a real truncate answers instead of a task id', (taskIds) => ({
    taskIds,
  })),
  amount('rows-per-second', 'N', 'speed of the tasks', (rowsPerSecond) => ({ rowsPerSecond })),
  // Task status
  flag('forgets-ended-tasks', 'the record of a task is gone once the task has ended', { forgetsEndedTasks: true }),
  // Privileges, texts
  oneOf(
    'denied',
    ['truncate', 'status', 'sizes'],
    'this privilege is missing: 403, or 401 before 0.13.2',
    (privilege, { denied }) => ({ denied: [...denied, privileges[privilege]] }),
  ),
  oneOf(
    'sentence',
    ['racing-counts', 'reworded'],
    'variants of the dry run’s text; reworded cannot be understood',
    (sentence) => ({ sentence }),
  ),
  // In between
  between('gateway-timeout', 'truncate', true, '504 after the server has acted'),
  between('bad-gateway', 'all', false, '502 with an HTML page; the server is not asked'),
  between('login-redirect', 'all', false, '302 to a login page'),
  between('login-page', 'all', false, '200 with a login page'),
  flag('engine-down', 'the search engine is unreachable: nothing is counted, and no task is found', {
    engineReachable: false,
  }),
  amount('delay', 'MILLIS', 'every answer takes this long', (delayMillis) => ({ delayMillis })),
  amount('clock-skew', 'SECONDS', 'the server’s clock is ahead by this much', (clockSkewSeconds) => ({
    clockSkewSeconds,
  })),
  flag('no-date', 'answers without a Date header', { dateHeader: false }),
];
