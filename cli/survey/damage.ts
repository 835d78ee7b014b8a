import { dayMillis } from '../../lambda/model/time.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import { listIndices } from '../../lambda/report/sentences/commands.ts';
import { duration, rows } from '../../lambda/report/sentences/numbers.ts';
import type { Creation, DamageLine, Survey, SurveyedIndex } from '../events/findings.ts';

/**
 * Indices that some reindex has emptied. A truncation by reindexing moves the alias to an empty index before it
 * reindexes (reindexInPlaceAsync in DataHub's ESIndexBuilder.java), and several releases fail between the two: then
 * every row is still in the index that the alias pointed to before. datahub-gc asks for such a truncation once a day.
 */

/**
 * A system-update deletes an index without an alias once it is older than this, so older damage leaves no trace.
 */
const foundForDays = 60;

/**
 * An unused aspect stays empty after an upgrade has recreated its index: without any rows, only fresh indices are
 * reported.
 */
const emptyForDays = 3;

type Damaged = SurveyedIndex & { counts: { rowsTotal: number; created: Creation } };

/** Whether an index was created recently and its rows begin there. */
export function isDamaged(index: SurveyedIndex, now: number): index is Damaged {
  const { counts } = index;
  if (counts.kind !== 'counted' || counts.created === undefined || counts.created.rowsBefore > 0) return false;
  const days = (now - counts.created.at) / dayMillis;
  if (counts.rowsTotal === 0) return days <= emptyForDays;
  // If the rows begin later than the index, something deletes old rows; nothing was lost when it was created.
  return days <= foundForDays && (counts.created.rowsSoonAfter ?? 0) > 0;
}

/** Shown before everything else: which indices may have been emptied, where their rows are, and what to leave alone. */
export function damageLines({ indices }: Survey, now: number): DamageLine[] {
  const damaged = indices.filter((index) => isDamaged(index, now));
  const one = damaged.length === 1;
  if (damaged.length === 0) return [];
  const paragraph = (text: string): DamageLine => ({ kind: 'paragraph', text });
  return [
    paragraph(
      `Look at this first: ${one ? 'an index may have lost its rows. It was' : `${damaged.length} indices may have lost their rows. They were`} ` +
        `recreated and ${one ? 'holds' : 'hold'} no rows from before.`,
    ),
    ...damaged.map((index): DamageLine => ({ kind: 'item', text: `${dottedName(index)}: ${stateOf(index, now)}` })),
    paragraph(
      'A truncation by reindexing that fails half-way leaves an index like that; datahub-gc asks for one once a day. ' +
        'The rows are then still in the index that the alias pointed to before. To see it, list the indices of each alias in the search cluster:',
    ),
    ...damaged.map((index): DamageLine => ({ kind: 'command', text: listIndices(index).line })),
    paragraph(
      'If one holds the missing rows, truncate nothing, and run no DataHub upgrade (it deletes indices without an alias) until they are ' +
        'back: "Rows missing" in docs/runbook.md has the commands. An index that never had older rows is fine.',
    ),
  ];
}

function stateOf({ counts: { rowsTotal, created }, indexName }: Damaged, now: number): string {
  const days = Math.floor((now - created.at) / dayMillis);
  const age = days >= 2 ? `${days} days` : duration(Math.max(0, now - created.at) / 1000);
  return `${rowsTotal === 0 ? 'no row' : rows(rowsTotal, 'exact')} in ${indexName}, created ${age} ago`;
}
