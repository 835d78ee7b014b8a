import { dayMillis } from '../facts/limits.ts';
import type { Attempt } from '../ledger/record.ts';

/** DataHub's system-update deletes unaliased indices created longer ago than this (ELASTICSEARCH_BUILD_INDICES_RETENTION_VALUE, default 60 days). */
const orphanRetentionDays = 60;

/**
 * What a person does after `rows-missing`: which index holds the rows, the alias commands, the deadline, how to clear.
 * Rows of time series aspects exist in the search engine alone, so nothing in DataHub restores them.
 */
export function recoveryText(attempt: Attempt, indexNameAfter: string | undefined): string {
  const before = attempt.baseline?.indexName;
  const { entityType, aspect } = attempt.fields;
  const name = `${entityType}.${aspect}`;
  const clear = JSON.stringify({ mode: 'enforce', only: [name], clear: [name] });
  // What failed once in this server fails again (1.2 to 1.4 do it every time).
  const change =
    attempt.strategy === 'delete-by-query'
      ? ''
      : 'Before you release the index, unless the copy was only invisible, set the strategy of its policy to delete-by-query-only: the next reindex would end the same way. ';
  const ending = `${change}This index stays closed to truncation until you clear it: ${clear}`;
  if (before !== undefined && indexNameAfter !== undefined && before !== indexNameAfter) {
    const alias = before.replace(/_\d{13}$/, '');
    const actions = { actions: [{ remove: { index: indexNameAfter, alias } }, { add: { index: before, alias } }] };
    return [
      `The alias ${alias} has moved from ${before} to ${indexNameAfter}; the rows should still be in ${before} (compare GET ${before}/_count with GET ${indexNameAfter}/_count).`,
      ...(attempt.strategy === 'delete-by-query'
        ? []
        : [
            `First see whether the copy is only not visible yet: POST /${indexNameAfter}/_refresh; if the counts agree then, nothing is lost.`,
          ]),
      `To go back: POST /_aliases ${JSON.stringify(actions)}, then POST /_reindex ${JSON.stringify({ source: { index: indexNameAfter }, dest: { index: before } })} for rows written since.`,
      `${deadline(before, attempt.sendingSince ?? attempt.runStartMillis)} ${ending}`,
    ].join(' ');
  }
  const orphan = `an older index without an alias (GET /_cat/indices/*${entityType.toLowerCase()}_${aspect.toLowerCase()}aspect_v1*?v); point the alias back to it before the next DataHub upgrade deletes it.`;
  const unseen = before === undefined || indexNameAfter === undefined ? ` Look as well for ${orphan}` : '';
  const look =
    attempt.strategy === 'delete-by-query'
      ? `Look for who else deletes here (datahub-gc, a person, entity deletion) and restore from a snapshot of the search engine where these rows matter.${unseen}`
      : `Look whether the copy is there but not yet visible (POST /${indexNameAfter ?? '<index>'}/_refresh), and for ${orphan}`;
  return `${look} ${ending}`;
}

/** The index that holds the rows, by such a text; undefined where it names none. */
export const fullIndexIn = (text: string): string | undefined => /the rows should still be in (\S+)/.exec(text)?.[1];

/** @param sentAt epoch milliseconds: a verdict follows within days, and a day that was past by then is past */
function deadline(indexName: string, sentAt: number): string {
  const created = Number(/_(\d{13})$/.exec(indexName)?.[1]);
  if (Number.isNaN(created)) {
    return 'Run no DataHub upgrade before this is done: its system-update deletes old indices without an alias.';
  }
  const end = created + orphanRetentionDays * dayMillis;
  if (end <= sentAt) {
    return `Run no DataHub upgrade before this is done: its system-update would delete ${indexName} at once, because it is older than ${orphanRetentionDays} days.`;
  }
  const date = new Date(end).toISOString().slice(0, 10);
  return `Run no DataHub upgrade before this is done: from ${date} on, its system-update deletes ${indexName}.`;
}
