import type { PolicyEntry, Report } from '../../facts/report-schema.ts';
import { oneLine } from '../../facts/text.ts';
import { isProtected } from '../../policy/aspects.ts';
import { percentOf } from '../../policy/percentage.ts';
import { amount, counted, percent, rows, size } from '../../wording/numbers.ts';
import { nameOf } from '../../wording/sentences.ts';

/** How many of each are named. */
const shown = 3;

/**
 * What is coming: policies that will soon be truncated, how the largest indices grow, and large indices without a
 * policy. Empty if there is nothing to report.
 */
export function outlook(report: Report): string[] {
  const next = report.policies
    .flatMap(nearThreshold)
    .sort((a, b) => b.nearness - a.nearness)
    .slice(0, shown)
    .map(({ text }) => text);
  const growing = report.policies
    .flatMap(growth)
    .sort((a, b) => b.rowsPerDay - a.rowsPerDay)
    .slice(0, shown)
    .map(({ text }) => text);
  const unmanaged = report.unmanagedIndices.filter(isCandidate);
  const bySize = [...unmanaged].sort((a, b) => (b.sizeMb ?? 0) - (a.sizeMb ?? 0)).slice(0, shown);
  const [fastest] = unmanaged
    .filter(({ mbPerDay = 0 }) => mbPerDay >= 1)
    .sort((a, b) => (b.mbPerDay ?? 0) - (a.mbPerDay ?? 0));
  const sentences = [
    ...(next.length > 0 ? [`- Near their threshold: ${next.join(', ')}.`] : []),
    ...growing.map((text) => `- ${text}.`),
    ...(bySize.length > 0 ? [`- Largest without a policy: ${bySize.map(unmanagedText).join(', ')}.`] : []),
    ...(fastest ? [`- Largest growth without a policy: ${indexLabel(fastest)}, ${perDay(fastest)}.`] : []),
  ];
  return sentences.length > 0 ? ['COMING UP', ...sentences] : [];
}

type Unmanaged = Report['unmanagedIndices'][number];

/** State of stateful ingestion is not a candidate, whatever its size. */
const isCandidate = ({ sizeMb, aspect, indexName }: Unmanaged): boolean =>
  (sizeMb ?? 0) >= 1 && !isProtected(aspect ?? '') && !/checkpoint/i.test(indexName);

const unmanagedText = (index: Unmanaged): string => `${indexLabel(index)} (${size(index.sizeMb ?? 0)})`;

const perDay = ({ mbPerDay = 0 }: Unmanaged): string => `${size(mbPerDay)} a day`;

/** Growth below this is not worth a line. */
const leastRowsPerDay = 1000;

/** How an index grows, and how many rows its retention holds in the long run. */
function growth(entry: PolicyEntry): Array<{ rowsPerDay: number; text: string }> {
  const { rowsPerDay = 0, mbPerDay, retentionDays, rowsTotal = 0 } = entry;
  if (rowsPerDay < leastRowsPerDay || retentionDays === undefined) return [];
  const mb = mbPerDay !== undefined && mbPerDay >= 1 ? ` and ${size(mbPerDay)}` : '';
  const held = rowsPerDay * retentionDays;
  const change = held > rowsTotal * 1.1 || held < rowsTotal / 1.1 ? ` (now ${amount(rowsTotal)})` : '';
  const days = counted(retentionDays, 'day holds', 'days hold');
  return [
    {
      rowsPerDay,
      text: `${nameOf(entry)} grows by ${rows(rowsPerDay)}${mb} a day; at this growth ${days} ${rows(held)}${change}`,
    },
  ];
}

/** From this fraction of its threshold on, a policy counts as near it. */
const near = 0.8;
/** The same, judging by the growth of the last nights. */
const soonNights = 14;

const inNights = (nights: number | undefined): string =>
  nights === undefined ? '' : `, in about ${counted(nights, 'night', 'nights')}`;

function nearThreshold(entry: PolicyEntry): Array<{ nearness: number; text: string }> {
  const { cause, rowsToDelete, rowsTotal } = entry;
  if (cause.kind !== 'below-threshold' || rowsToDelete === undefined || rowsTotal === undefined) return [];
  const threshold = cause.minDeletePercent;
  if (!(threshold > 0)) return [];
  const share = percentOf(rowsToDelete, rowsTotal);
  if (share / threshold < near && (cause.nights ?? Number.POSITIVE_INFINITY) > soonNights) return [];
  return [
    {
      nearness: share / threshold,
      text: `${nameOf(entry)} (${percent(share)}, truncated from ${percent(threshold)} on${inNights(cause.nights)})`,
    },
  ];
}

const indexLabel = ({ indexName, entityType, aspect }: Report['unmanagedIndices'][number]): string =>
  entityType && aspect ? nameOf({ entityType, aspect }) : oneLine(indexName, 100);
