import { deletesRows, type Outcome, resultOf } from '../../../lambda/facts/outcomes.ts';
import type { PolicyEntry, Report } from '../../../lambda/facts/report-schema.ts';
import type { Night } from '../../../lambda/memory/night.ts';
import { summary } from '../../../lambda/notification/digest/totals.ts';
import type { ComposedMessage, MessageContext } from '../../../lambda/notification/message.ts';
import { dottedName, searchIndex } from '../../../lambda/policy/aspects.ts';
import type { Policy } from '../../../lambda/policy/schema.ts';
import { duration, moment } from '../../../lambda/wording/numbers.ts';
import { grouped, share, size } from '../../screen/text.ts';
import type { Older } from '../by-age.ts';
import type { Fact, Fate, IndexPicture, Page } from '../model.ts';
import { nightPoints } from '../night-points.ts';
import { attentionOf, nameOf, sentenceOf, toKnowOf } from './attention.ts';
import { barOf } from './bars.ts';

/** A run or a preview, as a page. */

export interface ShownRun {
  report: Report;
  message: ComposedMessage;
  context: MessageContext;
  server: string;
  /** By index. */
  policies: ReadonlyMap<string, Policy>;
  /** Rows by age, as far as they were counted. */
  older: ReadonlyMap<string, Older>;
  /** Indices with rows whose ages were not counted. */
  uncounted: number;
  /** By search index. */
  nights: ReadonlyMap<string, readonly Night[]>;
}

export function runPage(run: ShownRun): Page {
  const { report, message, context, server, uncounted } = run;
  const isPreview = report.mode === 'preview';
  const indices = [...report.policies].sort(worstAndLargestFirst).map((entry) => pictureOf(entry, run));
  const seconds = (Date.parse(report.finishedAt) - Date.parse(report.startedAt)) / 1000;
  return {
    kind: isPreview ? 'preview' : 'run',
    title: `DataHub retention: ${isPreview ? 'preview' : 'run'}`,
    heading: capitalised(summary(report)),
    severity: report.result,
    about: [
      { term: 'Server', text: server },
      { term: isPreview ? 'Previewed' : 'Started', text: moment(Date.parse(report.startedAt)) },
      ...(seconds >= 1
        ? [{ term: 'Took', text: `${duration(seconds)}${context.waitsCutShort ? ', its waits cut short' : ''}` }]
        : []),
      { term: 'Run', text: report.runId },
    ],
    totals: totalsOf(indices, isPreview),
    attention: attentionOf(report, context),
    allWell: isPreview
      ? 'Nothing needs attention. Nothing was deleted: this is a preview.'
      : 'Nothing needs attention.',
    indices,
    toKnow: [...toKnowOf(report, context), ...agesText(run, uncounted), ...nightsText(run)],
    unmanaged: report.unmanagedIndices.map(({ indexName, entityType, aspect, sizeMb, mbPerDay }) => ({
      name: entityType && aspect ? dottedName({ entityType, aspect }) : indexName,
      sizeMb,
      mbPerDay,
    })),
    message: { subject: message.subject, text: message.email.trimEnd() },
  };
}

function agesText({ older }: ShownRun, uncounted: number): string[] {
  const when = 'Ages were counted when the run had ended, by dry runs.';
  if (uncounted === 0) return older.size > 0 ? [when] : [];
  const bars = `${grouped(uncounted)} ${uncounted === 1 ? 'index was' : 'indices were'} not counted by age: the bar only has what goes and what stays.`;
  return [older.size > 0 ? `${when} ${bars}` : bars];
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function nightsText({ nights, report }: ShownRun): string[] {
  if (report.policies.length === 0 || [...nights.values()].some((those) => those.length > 0)) return [];
  return ['No earlier night is remembered: runs that truncate remember what they see, previews leave no trace.'];
}

/** By urgency as in the message, then by how much there is to see. */
function worstAndLargestFirst(one: PolicyEntry, other: PolicyEntry): number {
  const rank = ({ outcome }: PolicyEntry) => ['failed', 'attention', 'ok'].indexOf(resultOf[outcome]);
  const rows = ({ rowsTotal = -1 }: PolicyEntry) => rowsTotal;
  return rank(one) - rank(other) || rows(other) - rows(one) || nameOf(one).localeCompare(nameOf(other));
}

function totalsOf(indices: readonly IndexPicture[], isPreview: boolean): Fact[] {
  const of = (...fates: Fate[]) =>
    indices
      .flatMap(({ bar }) => bar?.parts ?? [])
      .filter(({ fate }) => fates.includes(fate))
      .reduce((sum, { rows }) => sum + rows, 0);
  const total = of('went', 'goes', 'later', 'overdue', 'missing', 'stays');
  if (total === 0) return [];
  const gone = isPreview ? of('goes') : of('went');
  const later = of('later');
  const freed = indices.flatMap(({ bar }) => bar?.freedMb ?? []);
  const missing = of('missing');
  return [
    { term: isPreview ? 'rows' : 'rows before the run', text: grouped(total) },
    { term: `${isPreview ? 'would go' : 'went'} (${share(gone, total)})`, text: grouped(gone) },
    ...(freed.length > 0
      ? [{ term: 'would be freed, estimated', text: size(freed.reduce((sum, one) => sum + one, 0)) }]
      : []),
    ...(later > 0 ? [{ term: 'go in later runs', text: grouped(later) }] : []),
    ...(of('overdue') > 0 ? [{ term: 'past retention, kept for now', text: grouped(of('overdue')) }] : []),
    ...(missing > 0
      ? [{ term: 'MISSING: should have stayed', text: grouped(missing) }]
      : [{ term: 'stay', text: grouped(of('stays')) }]),
  ];
}

function pictureOf(entry: PolicyEntry, { report, policies, older, nights }: ShownRun): IndexPicture {
  const name = nameOf(entry);
  const policy = policies.get(searchIndex(entry));
  const bar = barOf(entry, policy, older.get(name), Date.parse(report.startedAt));
  return {
    name,
    badge: { text: badgeWords[entry.outcome], severity: isQuiet(entry.outcome) ? 'quiet' : resultOf[entry.outcome] },
    sentence: sentenceOf(entry),
    ...(bar && { bar }),
    facts: factsOf(entry, policy),
    isQuiet: isQuiet(entry.outcome),
    // Sizes right after a truncation mean nothing: disk space comes back with later merges.
    sizeMb: entry.sizeBeforeMb,
    nights: nightPoints(nights.get(searchIndex(entry)) ?? []),
  };
}

const isQuiet = (outcome: Outcome): boolean => resultOf[outcome] === 'ok' && !deletesRows(outcome);

/** The terms of report and runbook, worded a little more naturally. */
const badgeWords = Object.fromEntries(
  Object.keys(resultOf).map((outcome) => [outcome, outcome.replaceAll('-', ' ')]),
) as Record<Outcome, string>;

function factsOf(entry: PolicyEntry, policy: Policy | undefined): Fact[] {
  const { retentionDays, sizeBeforeMb, strategy, rowsPerDay, mbPerDay, indexName, taskId, cause } = entry;
  const fact = (term: string, text: string | undefined): Fact[] => (text === undefined ? [] : [{ term, text }]);
  const growth = [
    ...(rowsPerDay === undefined ? [] : [`${grouped(rowsPerDay)} rows`]),
    ...(mbPerDay === undefined || mbPerDay < 0 ? [] : [size(mbPerDay)]),
  ];
  return [
    ...fact('Retention', retentionDays === undefined ? undefined : `${grouped(retentionDays)} days`),
    ...fact(
      'Ceiling',
      policy && (policy.maxDeletePercent === undefined ? 'not all rows' : `${policy.maxDeletePercent} %`),
    ),
    ...fact('Bite', policy?.maxRowsPerRun === undefined ? undefined : biteText(policy.maxRowsPerRun, entry)),
    ...fact(
      'Takes',
      'seconds' in cause && typeof cause.seconds === 'number' && cause.seconds > 0
        ? `about ${duration(cause.seconds)} (last time)`
        : undefined,
    ),
    ...fact('Strategy', strategy),
    ...fact('Grows', growth.length === 0 ? undefined : `${growth.join(', ')} a day`),
    ...fact(
      entry.outcome === 'truncated' ? 'Size before' : 'Size',
      sizeBeforeMb === undefined ? undefined : size(sizeBeforeMb),
    ),
    ...fact('Task', taskId),
    ...fact('Index', indexName),
    ...fact('Owner', entry.owner),
    ...fact('Note', entry.note),
  ];
}

/** The maximum of one run, and how many runs are needed. */
function biteText(bite: number, { rowsPastRetention, rowsToDelete = 0, cause }: PolicyEntry): string {
  const past = rowsPastRetention ?? rowsToDelete;
  const text = `${grouped(bite)} rows a run`;
  if (past <= bite) return past === 0 ? text : `${text}, enough for all of them`;
  const nights =
    'nights' in cause && typeof cause.nights === 'number' && (cause.kind === 'due' || cause.kind === 'verified')
      ? cause.nights
      : undefined;
  return `${text} of ${grouped(past)}${nights === undefined ? '' : `; all of them in about ${nights} ${nights === 1 ? 'night' : 'nights'}`}`;
}
