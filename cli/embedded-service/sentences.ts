/** What the service says in words (specification 4.1 and 4.2), in those of DataHub's own OperationsResource. */

/** @param percent the share of the rows, with two decimals */
export function dryRunSentence(old: number, total: number, percent: string, how: 'delete' | 'reindex'): string {
  const way = {
    delete: 'Issuing a delete by query request.',
    reindex: 'Reindexing the aspect without the deleted records.',
  }[how];
  return `Delete ${old} out of ${total} rows (${percent}%). ${way} This was a dry run. Run with dryRun = false to execute.`;
}

/** The text in `value` if a task's status cannot be obtained. */
export const statusError = (task: string): string => JSON.stringify({ error: `Could not get task status for ${task}` });
