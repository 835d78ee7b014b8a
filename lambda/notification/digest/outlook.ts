import type { PolicyEntry, Report } from '../../facts/report-schema.ts';
import { oneLine } from '../../facts/text.ts';
import { isProtected } from '../../policy/aspects.ts';
import { percentOf } from '../../policy/percentage.ts';
import { percent, size } from '../../wording/numbers.ts';
import { nameOf } from '../../wording/sentences.ts';

/** How many of each are named. */
const shown = 3;

/** What is coming: policies that will soon be truncated, and large indices that nobody looks after. Empty where there is neither. */
export function outlook(report: Report): string {
  const next = report.policies
    .flatMap(nearThreshold)
    .sort((a, b) => b.nearness - a.nearness)
    .slice(0, shown)
    .map(({ text }) => text);
  const unmanaged = report.unmanagedIndices
    // State of stateful ingestion is no candidate, whatever its size.
    .filter(
      ({ sizeMb, aspect, indexName }) =>
        (sizeMb ?? 0) >= 1 && !isProtected(aspect ?? '') && !/checkpoint/i.test(indexName),
    )
    .sort((a, b) => (b.sizeMb ?? 0) - (a.sizeMb ?? 0))
    .slice(0, shown)
    .map((index) => `${indexLabel(index)} (${size(index.sizeMb ?? 0)})`);
  const sentences = [
    ...(next.length > 0 ? [`- Near their threshold: ${next.join(', ')}.`] : []),
    ...(unmanaged.length > 0 ? [`- Largest without a policy: ${unmanaged.join(', ')}.`] : []),
  ];
  return sentences.length > 0 ? ['COMING UP', ...sentences].join('\n') : '';
}

/** From this part of its threshold on a policy is near it. */
const near = 0.8;

function nearThreshold(entry: PolicyEntry): Array<{ nearness: number; text: string }> {
  const { cause, rowsToDelete, rowsTotal } = entry;
  if (cause.kind !== 'below-threshold' || rowsToDelete === undefined || rowsTotal === undefined) return [];
  const threshold = cause.minDeletePercent;
  if (!(threshold > 0)) return [];
  const share = percentOf(rowsToDelete, rowsTotal);
  if (share / threshold < near) return [];
  return [
    {
      nearness: share / threshold,
      text: `${nameOf(entry)} (${percent(share)}, truncated from ${percent(threshold)} on)`,
    },
  ];
}

const indexLabel = ({ indexName, entityType, aspect }: Report['unmanagedIndices'][number]): string =>
  entityType && aspect ? nameOf({ entityType, aspect }) : oneLine(indexName, 100);
