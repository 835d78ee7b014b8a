import { isProtected } from '../policy/aspects.ts';
import type { Report } from '../run/report-schema.ts';
import { oneLine } from './clean.ts';
import { percent, size } from './numbers.ts';
import { nameOf } from './sentences.ts';

/** How many of each are named. */
const shown = 3;

/** What is coming: policies that will soon be truncated, and large indices that nobody looks after. Empty where there is neither. */
export function outlook(report: Report): string {
  const next = report.policies
    .filter(({ outcome, percent: share }) => outcome === 'below-threshold' && share !== undefined && share > 0)
    .sort((a, b) => b.percent! - a.percent!)
    .slice(0, shown)
    .map((entry) => `${nameOf(entry)} (${percent(entry.percent!)})`);
  const unmanaged = report.unmanagedIndices
    // State of stateful ingestion is no candidate, whatever its size.
    .filter(
      ({ sizeMb, aspect, indexName }) =>
        (sizeMb ?? 0) >= 1 && !isProtected(aspect ?? '') && !/checkpoint/i.test(indexName),
    )
    .sort((a, b) => b.sizeMb! - a.sizeMb!)
    .slice(0, shown)
    .map((index) => `${indexLabel(index)} (${size(index.sizeMb!)})`);
  const sentences = [
    ...(next.length > 0 ? [`- Most to delete below the threshold: ${next.join(', ')}.`] : []),
    ...(unmanaged.length > 0 ? [`- Largest without a policy: ${unmanaged.join(', ')}.`] : []),
  ];
  return sentences.length > 0 ? ['COMING UP', ...sentences].join('\n') : '';
}

const indexLabel = ({ indexName, entityType, aspect }: Report['unmanagedIndices'][number]): string =>
  entityType && aspect ? nameOf({ entityType, aspect }) : oneLine(indexName, 100);
