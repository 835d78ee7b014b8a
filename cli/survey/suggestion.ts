import { dueOf } from '../../lambda/model/outcomes.ts';
import { maxNameLength, maxPolicies } from '../../lambda/model/policy-fields.ts';
import { dottedName, searchIndex } from '../../lambda/policy/aspects.ts';
import { decide, policyCutoff, type Rejection } from '../../lambda/policy/decision.ts';
import { type PolicyInput, policySchema } from '../../lambda/policy/schema.ts';
import { counted, exact } from '../../lambda/report/sentences/numbers.ts';
import { rowLimit } from '../../lambda/truncation/row-limit.ts';
import {
  type Age,
  ages,
  type Findings,
  freedMb,
  type IndexCounts,
  rowsOf,
  type Suggestion,
  type Survey,
  type SurveyedIndex,
  share,
} from '../events/findings.ts';
import { isDamaged } from './damage.ts';
import { isCutAt30Days, type OwnTruncation, type OwnTruncations } from './hints.ts';
import { losesRowsByReindex } from './version.ts';

/**
 * One suggestion for each index that could be counted and may be truncated.
 * @param own what this job has truncated itself: there, the counts show only what its own policy has left
 * @param version what the server says that it is
 */
export const suggest = (
  { indices }: Survey,
  own: OwnTruncations,
  { now, version }: { now: number; version?: string | undefined },
): Suggestion[] =>
  indices
    .filter(hasPolicyNames)
    .flatMap((index) => {
      if (index.counts.kind !== 'counted' || index.protected) return [];
      const work = own.get(searchIndex(index));
      const suggested = isDamaged(index, now)
        ? switchedOff(index, mayHaveLost)
        : work
          ? keepPolicy(index, work)
          : isCutAt30Days(index)
            ? switchedOff(index, isCutByOthers)
            : suggestOne(index, index.counts);
      const safer = losesRowsByReindex(version) ? withoutReindex : withTimeout;
      const safe = index.counts.reindexes ? safer(suggested) : suggested;
      return [{ ...safe, ...firstRun(index, safe) }];
    })
    .slice(0, maxPolicies);

const schema = policySchema(1);
const hasPolicyNames = ({ entityType, aspect }: SurveyedIndex): boolean =>
  schema.safeParse({ entityType, aspect, retentionDays: 1 }).success;

/** What they leave out: a run has to take the file as it is. */
export function notSuggested({ indices }: Survey, { length }: readonly Suggestion[]): string[] {
  const left = indices.filter((one) => one.counts.kind === 'counted' && !one.protected).length - length;
  if (left <= 0) return [];
  const limits = `a run takes at most ${maxPolicies}, with names of at most ${maxNameLength} letters, digits, _ and -`;
  return [`No policy is suggested for ${counted(left, 'index', 'indices')}: ${limits}.`];
}

type Counted = IndexCounts & { kind: 'counted' };

type SuggestedPolicy = Pick<Suggestion, 'policy' | 'why'>;

const switchedOff = ({ entityType, aspect }: SurveyedIndex, why: string): SuggestedPolicy => ({
  policy: { entityType, aspect, retentionDays: 365, enabled: false },
  why: `switched off${why}`,
});

const mayHaveLost = ' until it is known whether it has lost rows (see above)';
const isCutByOthers =
  ', because something else already cuts it at 30 days (see above); switch it on when that has stopped';

const keepPolicy = (
  { entityType, aspect }: SurveyedIndex,
  { retentionDays = 365, quarantined }: OwnTruncation,
): SuggestedPolicy => ({
  policy: { entityType, aspect, retentionDays },
  why: quarantined
    ? `${retentionDays} days, as before: the ledger says that it is quarantined (${quarantined.outcome}), so its counts suggest nothing`
    : `${retentionDays} days, ${retentionDays === 365 ? 'or what its policy says: ' : 'as in its policy: '}this job has truncated it, so its counts show what that policy has left`,
});

/** Such a server announces a reindex, and its reindexes are known to lose rows. */
const withoutReindex = ({ policy, why }: SuggestedPolicy): SuggestedPolicy => ({
  policy: { ...policy, refuseReindex: true },
  why: `${why}. refuseReindex, because this release is known to lose rows when it reindexes`,
});

/**
 * Without it DataHub's bulk requests wait 0 s: one row with a field that the new index lacks takes longer, and ends the
 * reindex. With 30 s every row was there; a primary shard may need 60 s.
 */
const withTimeout = ({ policy, why }: SuggestedPolicy): SuggestedPolicy => ({
  policy: { ...policy, timeoutSeconds: 60 },
  why: `${why}. timeoutSeconds, because a reindex without it ends at the first write that has to wait`,
});

/** Deleting more rows in the first night means hours of load, merges, and a disk that grows before it shrinks. */
const bigNightRows = 10_000_000;
const limitRows = 5_000_000;

/** The longest retention comes first, because deletion cannot be undone. 30 days are never suggested. */
const candidates: readonly Age[] = [365, 180, 90];

/**
 * Less than a year is suggested only where at least this share of the rows is older than that: something has cut every
 * other index, this job perhaps, and each survey would suggest less than the one before it.
 */
const longHistory = 0.03;

function suggestOne(index: SurveyedIndex, counts: Counted): SuggestedPolicy {
  const { entityType, aspect } = index;
  const with365 = { entityType, aspect, retentionDays: 365 };
  if (holdsLatestState(aspect)) {
    const why = '365 days, because DataHub shows the newest row as the current result, even if it is months old';
    return withRowLimit({ policy: with365, why }, counts.older[365], counts.reindexes);
  }
  const isLong = counts.older[365] >= longHistory * counts.rowsTotal;
  const age = candidates.find((days) => {
    if (days < 365 && !isLong) return false;
    const outcome = decided({ entityType, aspect, retentionDays: days }, counts, counts.older[days])?.outcome;
    return outcome === undefined || dueOf[outcome] !== 'no';
  });
  if (age === undefined) {
    const why =
      '365 days, because DataHub shows usage of up to a year, and too few rows are older to say whether fewer days are enough';
    return { policy: with365, why };
  }
  const part = `${share(counts.older[age], counts.rowsTotal)} of its rows (${exact(counts.older[age])}) are older`;
  const why =
    age === 365
      ? `365 days, because ${part}, and DataHub shows usage of up to a year`
      : `${age} days, because it goes back more than a year and nothing has cut it since: ${part}; at 365 days it would be ${share(counts.older[365], counts.rowsTotal)}`;
  return withRowLimit({ policy: { entityType, aspect, retentionDays: age }, why }, counts.older[age], counts.reindexes);
}

/** A server that reindexes anyway reindexes everything, however little is deleted. */
function withRowLimit({ policy, why }: SuggestedPolicy, rows: number, reindexes: boolean | undefined): SuggestedPolicy {
  if (rows <= bigNightRows || reindexes) return { policy, why };
  const nights = Math.ceil(rows / limitRows);
  const limit = `At most ${exact(limitRows)} of ${exact(rows)} rows are deleted a night, so that the first run is no heavier than later ones: about ${nights} nights`;
  return { policy: { ...policy, maxRowsPerRun: limitRows }, why: `${why}. ${limit}` };
}

/** What a policy has in each field that it does not set. */
const defaults = schema.parse({ entityType: 'dataset', aspect: 'operation', retentionDays: 1 });

/** What a run would decide by these counts; undefined if it truncates. */
function decided(policy: PolicyInput, { rowsTotal, reindexes }: Counted, rowsToDelete: number): Rejection | undefined {
  return decide('plan', {
    policy: { ...defaults, ...policy },
    dryRun: { rowsToDelete, rowsTotal, method: reindexes ? 'reindex' : 'delete' },
    runStartMillis: 0,
    nowMillis: 0,
    cutoffMillis: policyCutoff(0, policy),
    minRetentionDays: 1,
    isLimited: false,
  });
}

/** In a clause, why a first run deletes nothing. */
const notMore: Record<Rejection['outcome'], string | undefined> = {
  'nothing-to-delete': undefined,
  'not-started': undefined,
  'below-threshold': `they are less than ${defaults.minDeletePercent} % of its rows (minDeletePercent)`,
  'above-ceiling': 'they are all its rows, and a person has to approve that',
  failed: 'this server would reindex, which the policy refuses',
};

/**
 * How many rows past the retention a first run would delete. If the retention is not one of the ages that were counted,
 * the next age up is used.
 */
function firstRun({ counts }: SurveyedIndex, { policy }: SuggestedPolicy): Omit<Suggestion, keyof SuggestedPolicy> {
  if (counts.kind !== 'counted' || policy.enabled === false) return { rowsPastRetention: 0, rowsToDelete: 0 };
  const { rowsTotal, older, reindexes } = counts;
  const age = ages.find((days) => days >= policy.retentionDays);
  const rowsPastRetention = age === undefined ? 0 : Math.min(older[age], rowsTotal);
  const rejection = decided(policy, counts, rowsPastRetention);
  if (rejection) return { rowsPastRetention, rowsToDelete: 0, whyNotMore: notMore[rejection.outcome] };
  const most = reindexes ? undefined : rowLimit(policy.maxRowsPerRun, rowsPastRetention, undefined);
  if (most === undefined) return { rowsPastRetention, rowsToDelete: rowsPastRetention };
  return {
    rowsPastRetention,
    rowsToDelete: most,
    whyNotMore: `a run deletes at most ${exact(most)} rows (maxRowsPerRun)`,
  };
}

/**
 * What a first run would do with the rows of all indices, with the disk space that this would free, as far as sizes are
 * known.
 */
export function firstRunGain({ indices }: Survey, suggestions: readonly Suggestion[]): Findings['gain'] {
  const suggested = new Map(suggestions.map((one) => [dottedName(one.policy), one]));
  let [rows, of, mb] = [0, 0, undefined as number | undefined];
  for (const index of indices) {
    const { rowsToDelete = 0 } = suggested.get(dottedName(index)) ?? {};
    const freed = freedMb(rowsToDelete, rowsOf(index), index.sizeMb);
    rows += rowsToDelete;
    of += rowsOf(index);
    if (freed !== undefined) mb = (mb ?? 0) + freed;
  }
  return { rows, of, mb };
}

/** Profiles, results and states of runs: the newest row of an entity is what its page shows. */
const holdsLatestState = (aspect: string): boolean => /profile|assertion|runevent/i.test(aspect);
