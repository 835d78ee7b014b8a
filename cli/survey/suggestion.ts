import type { IndexNames } from '../../lambda/gms/backend.ts';
import type { CauseOf } from '../../lambda/model/cause.ts';
import { dueOf } from '../../lambda/model/outcomes.ts';
import { maxNameLength, maxPolicies } from '../../lambda/model/policy-fields.ts';
import type { ServerError } from '../../lambda/model/server-error.ts';
import { dottedName, searchIndex } from '../../lambda/policy/aspects.ts';
import { decide, policyCutoff, type Rejection } from '../../lambda/policy/decision.ts';
import { type PolicyInput, policySchema } from '../../lambda/policy/schema.ts';
import { counted, exact } from '../../lambda/report/sentences/numbers.ts';
import { rowLimit } from '../../lambda/truncation/row-limit.ts';
import {
  type Age,
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
 */
export const suggest = ({ indices }: Survey, own: OwnTruncations, known: Known): Suggestion[] =>
  indices
    .filter(hasPolicyNames)
    .flatMap((index) => {
      if (index.counts.kind !== 'counted' || index.protected) return [];
      const work = own.get(searchIndex(index));
      const suggested = isDamaged(index, known.now)
        ? switchedOff(index, mayHaveLost)
        : work
          ? keepPolicy(index, index.counts, work)
          : isCutAt30Days(index)
            ? switchedOff(index, isCutByOthers)
            : suggestOne(index, index.counts);
      const safe = index.counts.reindexes ? withSaferReindex(suggested, known.version) : suggested;
      return [{ ...safe, ...firstRun(index, safe, known) }];
    })
    .slice(0, maxPolicies);

/** What is known besides counts and truncations. */
interface Known {
  now: number;
  /** What the server says that it is. */
  version?: string | undefined;
  /** Search indices whose last truncation is under way, not reported, or quarantined: runs leave them alone. */
  held?: ReadonlySet<string>;
  taskStatusError?: ServerError | undefined;
}

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

function keepPolicy(
  { entityType, aspect }: SurveyedIndex,
  counts: Counted,
  { retentionDays = 365, quarantined }: OwnTruncation,
): SuggestedPolicy {
  const policy = { entityType, aspect, retentionDays };
  const why = quarantined
    ? `${retentionDays} days, as before: the ledger says that it is quarantined (${quarantined.outcome}), so its counts suggest nothing`
    : `${retentionDays} days, ${retentionDays === 365 ? 'or what its policy says: ' : 'as in its policy: '}this job has truncated it, so its counts show what that policy has left`;
  return quarantined ? { policy, why } : withRowLimit({ policy, why }, counts);
}

/**
 * Of a server that announces a reindex. Without timeoutSeconds DataHub's bulk requests wait 0 s: one row with a field
 * that the new index lacks takes longer, and ends the reindex. With 30 s every row was there; a primary shard may need
 * 60 s.
 */
function withSaferReindex({ policy, why }: SuggestedPolicy, version: string | undefined): SuggestedPolicy {
  const [fields, because] = losesRowsByReindex(version)
    ? [{ refuseReindex: true }, 'refuseReindex, because this release is known to lose rows when it reindexes']
    : [{ timeoutSeconds: 60 }, 'timeoutSeconds, because a reindex without it ends at the first write that has to wait'];
  return { policy: { ...policy, ...fields }, why: `${why}. ${because}` };
}

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

function suggestOne({ entityType, aspect }: SurveyedIndex, counts: Counted): SuggestedPolicy {
  const [retentionDays, because] = retentionFor({ entityType, aspect }, counts);
  const policy = { entityType, aspect, retentionDays };
  return withRowLimit({ policy, why: `${retentionDays} days, because ${because}` }, counts);
}

function retentionFor(names: IndexNames, counts: Counted): [days: number, because: string] {
  if (holdsLatestState(names.aspect))
    return [365, 'DataHub shows the newest row as the current result, even if it is months old'];
  const { older, rowsTotal } = counts;
  const isLong = older[365] >= longHistory * rowsTotal;
  const age = candidates.find((days) => {
    if (days < 365 && !isLong) return false;
    const outcome = decided({ ...names, retentionDays: days }, counts)?.outcome;
    return outcome === undefined || dueOf[outcome] !== 'no';
  });
  if (age === undefined)
    return [
      365,
      'DataHub shows usage of up to a year, and too few rows are older to say whether fewer days are enough',
    ];
  const part = `${share(older[age], rowsTotal)} of its rows (${exact(older[age])}) are older`;
  if (age === 365) return [365, `${part}, and DataHub shows usage of up to a year`];
  const atYear = share(older[365], rowsTotal);
  return [
    age,
    `it goes back more than a year and nothing has cut it since: ${part}; at 365 days it would be ${atYear}`,
  ];
}

function withRowLimit({ policy, why }: SuggestedPolicy, counts: Counted): SuggestedPolicy {
  const rows = rowsPast(counts, policy);
  if (rows <= bigNightRows || wouldReindex(counts, policy)) return { policy, why };
  const limit = `At most ${exact(limitRows)} of ${exact(rows)} rows are deleted a night, so that the first run is no heavier than later ones`;
  const kept = defaults.minDeletePercent / 100;
  const nights = Math.ceil((rows - kept * counts.rowsTotal) / (limitRows - kept * limitRows));
  const until = `: about ${counted(nights, 'night', 'nights')}, until less than ${defaults.minDeletePercent} % of its rows are that old`;
  const isDue = decided(policy, counts) === undefined;
  return { policy: { ...policy, maxRowsPerRun: limitRows }, why: `${why}. ${limit}${isDue ? until : ''}` };
}

/** What a policy has in each field that it does not set. */
const defaults = schema.parse({ entityType: 'dataset', aspect: 'operation', retentionDays: 1 });

/** What a run would decide by these counts; undefined if it truncates. */
function decided(policy: PolicyInput, counts: Counted, clockSkewMillis?: number, taskStatusError?: ServerError) {
  const method = wouldReindex(counts, policy) ? 'reindex' : 'delete';
  return decide('plan', {
    policy: { ...defaults, ...policy },
    dryRun: { rowsToDelete: rowsPast(counts, policy), rowsTotal: counts.rowsTotal, method, clockSkewMillis },
    taskStatusError,
    runStartMillis: 0,
    nowMillis: 0,
    cutoffMillis: policyCutoff(0, policy),
    minRetentionDays: 1,
    isLimited: false,
  });
}

/** In a clause, why a first run deletes nothing, as far as a survey can know it. */
const notMore: Record<Rejection['outcome'] | CauseOf<'guard'>['which'], string | undefined> = {
  'nothing-to-delete': undefined,
  'not-started': undefined,
  'below-threshold': `they are less than ${defaults.minDeletePercent} % of its rows (minDeletePercent)`,
  'above-ceiling': 'they are all its rows, and a person has to approve that',
  failed: undefined,
  'server-clock': "the server's clock and ours do not agree",
  'start-in-future': undefined,
  floor: undefined,
  counts: undefined,
  'refuse-reindex': 'this server would reindex, which the policy refuses',
  'task-status': 'this server would reindex, and no task status can be read',
};

/** Without forceDeleteByQuery, DataHub reindexes if more than half of the index would go: then no row limit applies. */
const wouldReindex = ({ reindexes, deletesAt }: Counted, { retentionDays }: PolicyInput): boolean =>
  reindexes && !deletesAt?.has(retentionDays);

/** Every retention that is suggested was counted. */
const rowsPast = ({ rowsTotal, older }: Counted, { retentionDays }: PolicyInput): number =>
  Math.min(older[retentionDays] ?? 0, rowsTotal);

/** How many rows past the retention a first run would delete. */
function firstRun(index: SurveyedIndex, { policy }: SuggestedPolicy, known: Known): Omit<Suggestion, 'policy' | 'why'> {
  const { counts } = index;
  if (counts.kind !== 'counted' || policy.enabled === false) return { rowsPastRetention: 0, rowsToDelete: 0 };
  const rowsPastRetention = rowsPast(counts, policy);
  const deletes = (rowsToDelete: number, whyNotMore?: string) => ({ rowsPastRetention, rowsToDelete, whyNotMore });
  if (rowsPastRetention === 0) return deletes(0);
  if (known.held?.has(searchIndex(index))) return deletes(0, 'its last truncation is not settled yet');
  const { outcome, cause } = decided(policy, counts, counts.clockSkewMillis, known.taskStatusError) ?? {};
  if (outcome) return deletes(0, notMore[cause?.kind === 'guard' ? cause.which : outcome]);
  const most = wouldReindex(counts, policy) ? undefined : rowLimit(policy.maxRowsPerRun, rowsPastRetention);
  if (most === undefined) return deletes(rowsPastRetention);
  return deletes(most, `a run deletes at most ${exact(most)} rows (maxRowsPerRun)`);
}

/**
 * What a first run would do with the rows of all indices, with the disk space that this would free, as far as sizes are
 * known.
 */
export function firstRunGain({ indices }: Survey, suggestions: readonly Suggestion[]): Findings['gain'] {
  const suggested = new Map(suggestions.map((one) => [dottedName(one.policy), one]));
  let [rows, of, mb, isMost] = [0, 0, 0, false];
  for (const index of indices) {
    const { rowsToDelete = 0, whyNotMore }: Partial<Suggestion> = suggested.get(dottedName(index)) ?? {};
    rows += rowsToDelete;
    isMost ||= rowsToDelete > 0 && whyNotMore !== undefined;
    of += rowsOf(index);
    mb += freedMb(rowsToDelete, rowsOf(index), index.sizeMb) ?? 0;
  }
  return { rows, of, mb, isMost };
}

/** Profiles, results and states of runs: the newest row of an entity is what its page shows. */
const holdsLatestState = (aspect: string): boolean => /profile|assertion|runevent/i.test(aspect);
