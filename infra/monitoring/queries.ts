import { countedOutcomes } from '../../lambda/model/outcomes.ts';

/** Queries for CloudWatch Logs Insights, over the fields that `lambda/aws/log.ts` and the steps write. */

/**
 * What happened to index X in the last 30 days: one line per decision, oldest first, from the logs of all four
 * functions.
 */
export const indexHistoryQuery = {
  name: 'What happened to an index in the last 30 days',
  text: [
    '# Put your index in place of dataset_operationaspect_v1 (entity type, underscore, aspect, aspect_v1; all in lower case),',
    '# and set the time range to 30 days.',
    'fields @timestamp, step, phase, outcome, cause.kind, rowsToDelete, rowsTotal, rowsDeleted, taskId, runId, message',
    "| filter index = 'dataset_operationaspect_v1'",
    '| filter toMillis(@timestamp) > (now() - 30 * 86400) * 1000',
    '| sort @timestamp asc',
    '| limit 1000',
  ].join('\n'),
};

/** Rows of each index and those past its retention, as the last plan counted them. */
export const rowsByIndexQuery = {
  name: 'Rows and deletable rows of each index',
  text: [
    "filter message = 'planned' and ispresent(rowsTotal)",
    // Under the row limit, fewer rows are deleted than are past the retention.
    '| fields coalesce(rowsPastRetention, rowsToDelete) as past',
    '| stats latest(rowsTotal) as rows, latest(past) as deletable, latest(@timestamp) as counted by index',
    '| sort rows desc',
    '| limit 200',
  ].join('\n'),
};

/** Rows that finished truncations removed from each index. */
export const deletedByIndexQuery = {
  name: 'Deleted rows of each index',
  text: [
    `filter message = 'verdict' and outcome in [${countedOutcomes.map((one) => `'${one}'`).join(', ')}]`,
    '| stats sum(rowsDeleted) as deleted, count(*) as truncations, latest(@timestamp) as last by index',
    '| sort deleted desc',
    '| limit 200',
  ].join('\n'),
};

export const decisionsQuery = {
  name: 'Decisions',
  text: [
    'fields @timestamp, index, outcome, cause.kind, runId',
    '| filter ispresent(outcome)',
    '| sort @timestamp desc',
    '| limit 100',
  ].join('\n'),
};
