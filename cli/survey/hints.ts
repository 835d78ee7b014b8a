import { isUnresolved, type StoredRecord, type Verdict } from '../../lambda/ledger/record.ts';
import { dottedName, searchIndex } from '../../lambda/policy/aspects.ts';
import { duration, exact, moment, rows, size } from '../../lambda/report/sentences/numbers.ts';
import type { Survey, SurveyedIndex } from '../events/findings.ts';

/** What to know before writing policies, one paragraph each. */
export function hints({ indices, unnamed }: Survey, own: OwnTruncations, refusesForceField: boolean): string[] {
  return [
    ...(indices.some(({ sizeMb }) => sizeMb !== undefined) ? ['Sizes are of primaries; replicas are extra.'] : []),
    ...quarantinedByThisJob(indices, own),
    ...firstRun(indices),
    ...truncatedByThisJob(indices, own),
    ...cutAt30Days(indices.filter((index) => !own.has(searchIndex(index)))),
    ...emptyButLarge(indices),
    ...reindexing(indices, refusesForceField),
    ...protectedState(indices),
    ...withoutNames(unnamed, indices),
    ...withoutSizes(indices),
  ];
}

/** Rows from which on a first truncation is worth a plan. */
const manyRows = 10_000_000;

/** Rows that a delete removes in a second, in production and on an idle cluster (docs/choosing-days.md). */
const [slowest, fastest] = [1000, 16_500];

/** How long the first truncation takes, and the space that it needs. */
function firstRun(indices: readonly SurveyedIndex[]): string[] {
  const oldIn = ({ counts }: SurveyedIndex) => (counts.kind === 'counted' ? counts.older[90] : 0);
  const [first] = indices
    .filter((index) => !index.protected && !wouldReindex(index))
    .sort((one, other) => oldIn(other) - oldIn(one));
  if (first === undefined || oldIn(first) < manyRows) return [];
  const [soonest, latest] = [fastest, slowest].map((rate) => duration(oldIn(first) / rate));
  const space = first.sizeMb === undefined ? '' : `, ${size(first.sizeMb * 1.5)} (primaries alone)`;
  return [
    `To delete the ${exact(oldIn(first))} rows of ${dottedName(first)} that are older than 90 days takes ${soonest} to ${latest}, ` +
      `at ${exact(fastest)} to ${exact(slowest)} rows a second (docs/choosing-days.md); maxRowsPerRun divides it into nights. ` +
      `Have one and a half times the index's size free${space}: above 95 % of a disk (flood stage) the search engine refuses deletes.`,
  ];
}

export type OwnTruncations = ReadonlyMap<string, OwnTruncation>;

export interface OwnTruncation {
  /** Epoch milliseconds. */
  at: number;
  /** Of its policy at that time, where the record still has it. */
  retentionDays?: number;
  /** It is quarantined: what its last verdict was. */
  quarantined?: Verdict;
}

/** What this job's own ledger says about truncations, under way or verified. */
export const ownTruncations = (records: readonly StoredRecord[]): OwnTruncations =>
  new Map(
    records.flatMap((record): Array<[string, OwnTruncation]> => {
      if (record.state === 'unreadable') return [];
      const { lastVerdict: last } = record;
      const { rowsDeleted = 0, rowsLeftBehind = 0 } = last?.verdict ?? {};
      const isWork = record.state === 'quarantined' || rowsDeleted + rowsLeftBehind > 0;
      const ended = isWork ? last?.decided.atMillis : undefined;
      const at = isUnresolved(record) ? record.attempt.sendingSince : ended;
      const quarantined = record.state === 'quarantined' ? record.lastVerdict.verdict : undefined;
      return at === undefined
        ? []
        : [[record.index, { at, retentionDays: record.attempt?.retentionDays, quarantined }]];
    }),
  );

function truncatedByThisJob(indices: readonly SurveyedIndex[], own: OwnTruncations): string[] {
  const ours = indices.flatMap((index) => {
    const work = own.get(searchIndex(index));
    return work === undefined || work.quarantined ? [] : [`${dottedName(index)} (${moment(work.at)})`];
  });
  return ours.length === 0 ? [] : [`This job has truncated ${ours.join(', ')}: its rows end where the policy cuts.`];
}

/** What the ledger says of indices that a person has to release. */
const quarantinedByThisJob = (indices: readonly SurveyedIndex[], own: OwnTruncations): string[] =>
  indices.flatMap((index) => {
    const { at = 0, quarantined } = own.get(searchIndex(index)) ?? {};
    if (quarantined === undefined) return [];
    const { outcome, rowsMissing = 0, rowsNotVisible = 0 } = quarantined;
    const counts = [
      ...(rowsMissing > 0 ? [`${rows(rowsMissing, 'exact')} missing`] : []),
      ...(rowsNotVisible > 0 ? [`${rows(rowsNotVisible, 'exact')} not visible`] : []),
    ];
    return [
      `${dottedName(index)} is QUARANTINED since ${moment(at)} (${[outcome, ...counts].join(', ')}): nothing is deleted there until a person releases it. Its counts are no reason for a policy.`,
    ];
  });

/** Custom entities with an underscore in their names; or one store for everything, as in the Postgres backend. */
function withoutNames(unnamed: readonly string[], indices: readonly SurveyedIndex[]): string[] {
  if (unnamed.length === 0) return [];
  return indices.some(({ indexName }) => indexName !== undefined)
    ? [`Not surveyed, because the name does not reveal entity type and aspect: ${unnamed.join(', ')}.`]
    : [`The server only reports the size of its store (${unnamed.join(', ')}), so DataHub's known aspects were tried.`];
}

/** Where the server tells sizes, what it leaves out of them. */
function withoutSizes(indices: readonly SurveyedIndex[]): string[] {
  if (indices.every(({ indexName }) => indexName === undefined)) return [];
  const left = indices.filter(({ indexName }) => indexName === undefined).map(dottedName);
  if (left.length === 0) return [];
  return [
    `The server's sizes leave out ${left.join(', ')}: the index is closed, or its name is not what DataHub expects. ` +
      'In the search cluster, GET _cat/indices?v&expand_wildcards=all shows its status.',
  ];
}

/**
 * Whether an index reaches back 30 days and no further: probably DataHub's own datahub-gc, a system source that every
 * installation has, switched on and with 30 days for everything (ingestion-datahub-gc.yaml). Its recipe's template
 * turns the value false into the default true, so only the number of days can safely be set through the environment.
 */
export const isCutAt30Days = ({ counts }: SurveyedIndex): boolean =>
  counts.kind === 'counted' &&
  counts.around30 !== undefined &&
  counts.around30.days32 === 0 &&
  counts.around30.days25 > 0;

function cutAt30Days(indices: readonly SurveyedIndex[]): string[] {
  const cut = indices.filter(isCutAt30Days);
  if (cut.length === 0) return [];
  return [
    `Something else already cuts at 30 days: ${cut.map(dottedName).join(', ')} ${cut.length === 1 ? 'reaches' : 'reach'} back that far and no further. ` +
      'That is what datahub-gc does, the system ingestion source that DataHub ships, once a day. ' +
      'A policy with more days does nothing there until it stops: in DataHub under Ingestion > Sources (show system sources) ' +
      'set truncate_indices: false in the recipe of datahub-gc. An upgrade may rewrite the recipe (docs/moving-from-datahub-gc.md).',
  ];
}

/** Megabytes that an index without rows cannot have (an empty one has a few hundred bytes). */
const notEmptyMb = 1;

function emptyButLarge(indices: readonly SurveyedIndex[]): string[] {
  return indices.flatMap((index) => {
    if (index.counts.kind !== 'counted' || index.counts.rowsTotal > 0 || (index.sizeMb ?? 0) < notEmptyMb) return [];
    return [
      `${dottedName(index)} counts no row, but has ${size(index.sizeMb!)}: either its rows were deleted and the segments have not been ` +
        'merged yet, or a reindex left the index with its refresh switched off and new rows stay invisible ' +
        `(GET ${index.indexName}/_settings: refresh_interval must not be -1).`,
    ];
  });
}

const wouldReindex = ({ counts }: SurveyedIndex): boolean => counts.kind === 'counted' && counts.reindexes;

/** What the largest of the new indices takes beside the old one. */
function spaceOfReindex(indices: readonly SurveyedIndex[]): string[] {
  const newIndices = indices.flatMap((index) => {
    const { counts, sizeMb = 0 } = index;
    if (index.protected || counts.kind !== 'counted' || counts.rowsTotal === 0 || sizeMb < notEmptyMb) return [];
    return [{ index, sizeMb, newMb: sizeMb * Math.max(0, 1 - counts.older[90] / counts.rowsTotal) }];
  });
  const [largest] = newIndices.sort((one, other) => other.newMb - one.newMb);
  if (largest === undefined) return [];
  return [
    `With 90 days of rows, the new index of ${dottedName(largest.index)} takes ${size(largest.newMb)} beside the ${size(largest.sizeMb)} of the old one, which stays ` +
      '(primaries alone). Above 85 % of a disk the search engine allocates no replica there, above 90 % it moves shards away, above 95 % it refuses writes.',
  ];
}

function reindexing(indices: readonly SurveyedIndex[], refusesForceField: boolean): string[] {
  const refused = refusesForceField
    ? [
        'The server does not know the field forceDeleteByQuery, so requests leave it out: such a server may choose to reindex.',
      ]
    : [];
  const reindexed = indices.filter(wouldReindex);
  const names = reindexed.map(dottedName);
  if (names.length === 0) return refused;
  const all = names.length === indices.length ? 'every index' : names.join(', ');
  const although = refusesForceField ? '' : ', although it is asked to delete in place';
  return [
    ...refused,
    `This server says that it would reindex (${all})${although}. A run follows it, and verifies ` +
      'the result more strictly, because a reindex that fails can lose rows; "refuseReindex": true in a policy sends nothing instead.',
    ...spaceOfReindex(reindexed),
  ];
}

function protectedState(indices: readonly SurveyedIndex[]): string[] {
  const names = indices.filter((index) => index.protected).map(dottedName);
  if (names.length === 0) return [];
  return [
    `${names.join(', ')} is the state of stateful ingestion, not history. It must not be truncated; policies for it are refused.`,
  ];
}
