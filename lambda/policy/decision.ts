import type { DryRun } from '../gms/operations.ts';
import type { Cause, CauseOf } from '../model/cause.ts';
import type { Method } from '../model/method.ts';
import type { Outcome } from '../model/outcomes.ts';
import type { ServerError } from '../model/server-error.ts';
import { dayMillis, minuteMillis, secondMillis } from '../model/time.ts';
import type { PolicySettings } from './schema.ts';

/** A server whose clock is off by more may delete fresh rows. */
export const maxClockSkewMillis = 10 * minuteMillis;

/** If a run's start is further in our future than this, the start is wrong, and its cutoff would be too late. */
const maxStartAheadMillis = 60 * secondMillis;

/** How far baseline and last dry run may differ in rows to delete before a delete is put off. */
const changedRows = { share: 0.01, rows: 10 } as const;

/** By how much rows to delete may have grown since Plan counted what a person has agreed to (rule 3). */
const agreedRows = { share: 0.1, rows: 10 } as const;

/** The same where nobody was asked: more than twice as many are not what the plan was about. */
const unasked = { share: 1 } as const;

/** What a decision is based on. Times are epoch milliseconds. */
export interface DecisionInput {
  policy: PolicySettings;
  dryRun: DryRun;
  runStartMillis: number;
  cutoffMillis: number;
  nowMillis: number;
  /** The stage's floor, days. */
  minRetentionDays: number;
  /** The operator lets this policy pass its ceiling in this run, up to this many rows. */
  approveRows?: number;
  /** The row limit made the cutoff older: threshold and ceiling were decided with the policy's own cutoff. */
  isLimited: boolean;
  /** Plan: why task statuses may not be read, if so. */
  taskStatusError?: ServerError;
  /** Truncate: what there is to compare with. */
  before?: {
    /** Why the settings, read again just now, forbid it: a pause, a policy that changed. */
    settings: Cause | undefined;
    planned: { rowsToDelete: number; method: Method };
    /** A person has agreed to what Plan counted. */
    isAgreed: boolean;
    /** Rows to delete, counted just before the dry run. */
    baselineRows: number;
  };
}

export interface Rejection {
  outcome: Extract<Outcome, 'failed' | 'above-ceiling' | 'not-started' | 'below-threshold' | 'nothing-to-delete'>;
  cause: Cause;
}

type Step = 'plan' | 'truncate';

/** Whether a step makes this check (`limited`: of the part that a row limit leaves) and, if not, why it need not. */
type Applies = 'asked' | `not asked: ${string}`;

type Check = Record<Step | 'limited', Applies> & { rejection(input: DecisionInput): Rejection | undefined };

const always = { plan: 'asked', truncate: 'asked', limited: 'asked' } as const;
/** What is about the share of all old rows. */
const ofAllRows = { ...always, limited: "not asked: the policy's own cutoff decides" } as const;
const inTruncate = { ...always, plan: 'not asked: there is nothing to compare with' } as const;

/**
 * Every reason why an index is not truncated, as a list of checks in the order in which they are made (rules 2 and 3).
 * A new one has to say whether each step asks it; a test goes through the list. Whether a policy is enabled and can be
 * read comes before any dry run.
 */
export const checks = {
  settings: {
    ...inTruncate,
    plan: 'not asked: it has just read them, and a pause ends the run before Truncate',
    rejection: (input) => {
      const { settings } = before(input);
      return settings && { outcome: 'not-started', cause: settings };
    },
  },
  serverClock: {
    ...always,
    rejection: ({ dryRun: { clockSkewMillis = 0 } }) =>
      Math.abs(clockSkewMillis) > maxClockSkewMillis
        ? guard({ kind: 'guard', which: 'server-clock', found: clockSkewMillis })
        : undefined,
  },
  startInFuture: {
    ...always,
    rejection: ({ runStartMillis, nowMillis }) => {
      const found = runStartMillis - nowMillis;
      return found > maxStartAheadMillis ? guard({ kind: 'guard', which: 'start-in-future', found }) : undefined;
    },
  },
  floor: {
    ...always,
    rejection: ({ runStartMillis, nowMillis, cutoffMillis, minRetentionDays, dryRun: { clockSkewMillis = 0 } }) => {
      // Cutoffs are counted from the run's start, so the other two clocks get the tolerance that they have above:
      // otherwise a policy of exactly `minRetentionDays` would fail whenever one of them is a second behind.
      const present = Math.min(
        runStartMillis,
        nowMillis + maxStartAheadMillis,
        nowMillis + clockSkewMillis + maxClockSkewMillis,
      );
      // Written as a negation, so that NaN fails, too.
      const isOldEnough = present - cutoffMillis >= Math.max(1, minRetentionDays * dayMillis);
      return isOldEnough ? undefined : guard({ kind: 'guard', which: 'floor', expected: minRetentionDays });
    },
  },
  counts: {
    ...always,
    rejection: ({ dryRun }) =>
      dryRun.rowsToDelete > dryRun.rowsTotal ? guard({ kind: 'guard', which: 'counts' }) : undefined,
  },
  nothingToDelete: {
    ...always,
    rejection: ({ dryRun }) =>
      dryRun.rowsToDelete === 0 ? { outcome: 'nothing-to-delete', cause: { kind: 'not-due' } } : undefined,
  },
  grown: {
    ...inTruncate,
    rejection: (input) => {
      const { planned, isAgreed } = before(input);
      const { rowsToDelete: was } = planned;
      const { rowsToDelete: now } = input.dryRun;
      if (now <= (input.approveRows ?? 0)) return undefined;
      const more = isAgreed ? was * agreedRows.share : was * unasked.share;
      return now - was > Math.max(agreedRows.rows, more) ? changed('grown', was, now) : undefined;
    },
  },
  threshold: {
    ...ofAllRows,
    rejection: ({ policy: { minDeletePercent }, dryRun }) =>
      compareShare(dryRun.rowsToDelete, dryRun.rowsTotal, minDeletePercent) < 0
        ? { outcome: 'below-threshold', cause: { kind: 'not-due', minDeletePercent } }
        : undefined,
  },
  ceiling: {
    ...ofAllRows,
    rejection: ({ policy, dryRun, approveRows: approved }) => {
      const { rowsToDelete } = dryRun;
      if (rowsToDelete <= (approved ?? 0) || !isAboveCeiling(policy, dryRun)) return undefined;
      const { maxDeletePercent } = policy;
      const approveRows = withHeadroom(rowsToDelete);
      return {
        outcome: 'above-ceiling',
        cause: { kind: 'above-ceiling', maxDeletePercent, approveRows, approved },
      };
    },
  },
  refuseReindex: {
    ...always,
    rejection: ({ policy, dryRun }) =>
      policy.refuseReindex && dryRun.method === 'reindex'
        ? guard({ kind: 'guard', which: 'refuse-reindex' })
        : undefined,
  },
  taskStatus: {
    ...always,
    truncate: 'not asked: a right does not change within a run, and a reindex that cannot be judged is quarantined',
    rejection: ({ taskStatusError: error, dryRun }) =>
      error && dryRun.method === 'reindex' ? guard({ kind: 'guard', which: 'task-status', error }) : undefined,
  },
  methodChanged: {
    ...inTruncate,
    rejection: (input) => {
      const { method } = input.dryRun;
      if (method === before(input).planned.method) return undefined;
      return { outcome: 'not-started', cause: { kind: 'changed', what: 'method', method } };
    },
  },
  rowsChanged: {
    ...inTruncate,
    rejection: (input) => {
      const { baselineRows: was } = before(input);
      const { rowsToDelete: now, method } = input.dryRun;
      const tolerated = method === 'delete' ? Math.max(changedRows.rows, was * changedRows.share) : 0;
      return Math.abs(now - was) > tolerated ? changed('rows', was, now) : undefined;
    },
  },
  rowLimit: {
    ...inTruncate,
    plan: 'not asked: it looks for a cutoff within the limit',
    rejection: (input) => {
      const { policy, dryRun, approveRows = 0 } = input;
      // No limit applies to a reindex. Old rows may have arrived since Plan found a delete within the limit.
      if (policy.maxRowsPerRun === undefined || dryRun.method === 'reindex') return undefined;
      const isWithin = dryRun.rowsToDelete <= Math.max(policy.maxRowsPerRun, approveRows);
      return isWithin ? undefined : changed('rows', before(input).planned.rowsToDelete, dryRun.rowsToDelete);
    },
  },
} as const satisfies Record<string, Check>;

/**
 * The one decision: why this step does not truncate the index. Pure; Plan calls it with its dry run, and Truncate again
 * with its own, made just before the call.
 * @returns undefined if the truncation is due
 */
export function decide(step: Step, input: DecisionInput): Rejection | undefined {
  for (const check of Object.values<Check>(checks)) {
    const isAsked = check[step] === 'asked' && (check.limited === 'asked' || !input.isLimited);
    const rejection = isAsked ? check.rejection(input) : undefined;
    if (rejection) return rejection;
  }
  return undefined;
}

/** What is missing must not disable the check that needs it. */
function before({ before: known }: DecisionInput): NonNullable<DecisionInput['before']> {
  if (known === undefined) throw new Error('Truncate decides by what it has read just before');
  return known;
}

const guard = (cause: CauseOf<'guard'>): Rejection => ({ outcome: 'failed', cause });

const changed = (what: 'rows' | 'grown', was: number, now: number): Rejection => ({
  outcome: 'not-started',
  cause: { kind: 'changed', what, was, now },
});

/** The policy deletes rows with a timestamp at or before this moment. */
export const policyCutoff = (
  runStartMillis: number,
  { retentionDays }: Pick<PolicySettings, 'retentionDays'>,
): number => runStartMillis - retentionDays * dayMillis;

/** The number to approve: rows keep ageing until someone has read the message. */
export const withHeadroom = (rows: number): number => Math.ceil(rows * 1.05);

/** Without a ceiling of its own, a policy may delete any share of an index except all of it. */
export function isAboveCeiling({ maxDeletePercent }: PolicySettings, { rowsToDelete, rowsTotal }: DryRun): boolean {
  if (maxDeletePercent === undefined) return rowsToDelete >= rowsTotal;
  return compareShare(rowsToDelete, rowsTotal, maxDeletePercent) > 0;
}

/**
 * Compares a share of rows with a percentage, exactly: the policy's decimal number is taken literally, so that 29 of
 * 100 rows satisfy "at least 29 %", which floating point would deny.
 * @returns negative when part / whole is below `percent`, 0 when it is exactly that, positive when above
 */
export function compareShare(part: number, whole: number, percent: number): -1 | 0 | 1 {
  const [digits = '0', exponent = '0'] = percent.toExponential().split('e');
  const fraction = digits.split('.')[1] ?? '';
  const mantissa = BigInt(digits.replace('.', ''));
  const power = Number(exponent) - fraction.length;
  const scale = 10n ** BigInt(Math.abs(power));
  const left = BigInt(part) * 100n * (power < 0 ? scale : 1n);
  const right = mantissa * BigInt(whole) * (power < 0 ? 1n : scale);
  return left < right ? -1 : left > right ? 1 : 0;
}
