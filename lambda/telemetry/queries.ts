/** Saved queries of CloudWatch Logs Insights over the fields that `log.ts` and the steps write. */

export interface SavedQuery {
  name: string;
  /** For Logs Insights' own query language. */
  text: string;
}

/** What happened to index X in the last 30 days: one line per decision, the oldest first, from the logs of all four functions. */
export const indexHistoryQuery: SavedQuery = {
  name: 'What happened to an index in the last 30 days',
  text: [
    '# Put your index in place of dataset_operationaspect_v1 (entity type, underscore, aspect, aspect_v1; all in lower case),',
    '# and set the time range to 30 days.',
    'fields @timestamp, step, outcome, cause.kind, rowsToDelete, rowsTotal, rowsDeleted, taskId, runId, message',
    "| filter index = 'dataset_operationaspect_v1'",
    '| filter toMillis(@timestamp) > (now() - 30 * 86400) * 1000',
    '| sort @timestamp asc',
    '| limit 1000',
  ].join('\n'),
};
