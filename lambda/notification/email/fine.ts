import { deletesRows, type Outcome } from '../../facts/outcomes.ts';
import type { PolicyEntry } from '../../facts/report-schema.ts';
import { aliasFor, aliasOf, expungeRequest } from '../../operations/backend.ts';
import { rows } from '../../wording/numbers.ts';
import { outcomeWords } from '../../wording/outcome-words.ts';
import { recovery } from '../../wording/recovery.ts';
import { ask } from '../../wording/repair.ts';
import { isRemarkable, nameOf, ofTotal, sentence } from '../../wording/sentences.ts';
import { countByOutcome, withResult } from '../digest/groups.ts';
import { after, type Line, linesOf } from '../lines.ts';
import { isQuiet } from '../quiet.ts';
import { names, type Telling } from './telling.ts';

/** From this many indices with the same outcome on, they share one line with a total. */
const alike = 6;
/** The same for outcomes that move or would move rows; the largest keep their own lines. */
const alikeMoved = 13;
const largest = 5;

/** Indices in order: one sentence each, or one with a total for many of the same kind. */
export function fine(telling: Telling): Line[] {
  const { report, measure, told } = telling;
  const entries = withResult(report, 'ok');
  if (entries.length === 0) return [];
  const lines: string[] = [];
  for (const [outcome] of countByOutcome(entries)) {
    const same = entries.filter((entry) => entry.outcome === outcome);
    const together = new Set(foldable(outcome, same));
    const alone = same.filter((entry) => !together.has(entry));
    for (const entry of alone.slice(0, Math.max(0, measure.fine - lines.length))) {
      told.add(entry);
      lines.push(`- ${nameOf(entry)}: ${sentence(entry)}.`);
    }
    if (together.size > 0) lines.push(`- ${foldedLine(outcome, [...together], alone.length > 0, telling)}.`);
  }
  const title = entries.length === report.policies.length ? 'INDEX BY INDEX' : 'THE OTHERS ARE FINE';
  return [title, ...lines, ...diskSpace(entries, isQuiet(report))];
}

/** Deleting this share of an index, as a neglected index's first truncation does, leaves space worth reclaiming. */
const largeShare = 0.5;

/**
 * The operator decides about merging: it costs I/O, and disk space until it is done.
 * @param withRequest only if nobody has to do anything else
 */
function diskSpace(entries: readonly PolicyEntry[], withRequest: boolean): Line[] {
  const truncated = entries.filter(({ outcome, rowsDeleted = 0 }) => outcome === 'truncated' && rowsDeleted > 0);
  if (truncated.length === 0) return [];
  const [large] = truncated
    .filter(({ strategy, rowsDeleted = 0, rowsTotal = 0 }) => {
      return strategy === 'delete-by-query' && rowsDeleted > rowsTotal * largeShare;
    })
    .sort((one, other) => (other.rowsDeleted ?? 0) - (one.rowsDeleted ?? 0));
  const comesBack = 'Disk space comes back when the search engine merges';
  if (!withRequest || !large) return [`${comesBack}, which it may have to be asked for (runbook, Disk space).`];
  const alias = large.indexName === undefined ? aliasFor(large) : aliasOf(large.indexName);
  return [
    ask(
      `${comesBack}, which can wait. After so large a deletion it may be asked to in some quiet hour: that costs I/O, and free disk space until it is done (runbook, Disk space)`,
      expungeRequest(alias),
    ),
  ];
}

/** Those of one outcome that share a line. */
function foldable(outcome: Outcome, same: readonly PolicyEntry[]): PolicyEntry[] {
  if (!deletesRows(outcome)) return same.length >= alike ? [...same] : [];
  if (same.length < alikeMoved) return [];
  const moved = ({ rowsDeleted, rowsToDelete = 0 }: PolicyEntry) => rowsDeleted ?? rowsToDelete;
  const alone = new Set([...same].sort((one, other) => moved(other) - moved(one)).slice(0, largest));
  return same.filter((entry) => !alone.has(entry) && !isRemarkable(entry));
}

function foldedLine(outcome: Outcome, entries: readonly PolicyEntry[], more: boolean, telling: Telling): string {
  const sum = (field: 'rowsTotal' | 'rowsDeleted' | 'rowsToDelete') =>
    entries.reduce((total, entry) => total + (entry[field] ?? 0), 0);
  const count = `${entries.length} ${more ? 'more ' : ''}${entries.length === 1 ? 'index' : 'indices'} ${outcomeWords[outcome]}`;
  const total =
    outcome === 'truncated'
      ? `${ofTotal(sum('rowsDeleted'), sum('rowsTotal'))} deleted`
      : outcome === 'would-truncate'
        ? `${ofTotal(sum('rowsToDelete'), sum('rowsTotal'))}`
        : `${rows(sum('rowsTotal'))} in all`;
  return `${count}, ${total}: ${names(entries, telling.measure.names, telling)}`;
}

/** What a reindex leaves behind, and what no count can show. */
export function afterReindex(telling: Telling): Line[] {
  const { report, measure } = telling;
  const reindexed = withResult(report, 'ok').filter(
    ({ outcome, strategy }) => outcome === 'truncated' && strategy === 'reindex',
  );
  if (reindexed.length === 0) return [];
  const left = reindexed
    .map((entry) => ({ entry, steps: recovery(entry, Date.parse(report.finishedAt)) }))
    .filter(({ steps }) => steps.length > 0);
  const brief = left.slice(measure.full).map(({ entry }) => entry);
  return [
    'AFTER A REINDEX',
    'The old index stays behind and uses disk space until somebody removes it.',
    ...left.slice(0, measure.full).flatMap(({ entry, steps }) => {
      const [first, ...others] = linesOf(steps);
      return [after(`- ${names([entry], 1, telling)}: `, first), ...others];
    }),
    ...(brief.length > 0 ? [`- ${names(brief, brief.length, telling)}: the same, with their own names.`] : []),
  ];
}
