/**
 * What is assumed not to happen. Each has its reason in docs/testing.md; a history that needs one of these to go wrong is
 * no violation, and the laboratory draws none of them.
 */
export const assumptions = {
  'forward-clocks': 'the clocks of our own functions run forwards, and are right where the server sends no `Date`',
  'one-stage': 'one server belongs to one stage: no other, with a ledger of its own, truncates in the same minutes',
  'ledger-kept': 'the ledger is neither deleted nor restored to an earlier day',
  'own-task-id': 'a task id names our task',
  'acts-in-time': 'what has not begun 20 minutes after the call never begins',
  'repeating-proxy': 'nothing in between stores a request and sends it again, or answers with an older answer',
  'fsync-holds': 'what was flushed to the ledger folder is still there after a power loss',
  'rows-have-timestamps': 'every row has a timestamp',
  'older-content': 'a row that is written again while a copy runs may fall back to its older content',
  'silent-copy': 'a server that copies although it announced a delete tells the status of its task',
  'same-rows': 'no other process deletes the rows of a call that may not have been sent, before its verdict',
  'hidden-delete': 'late rows older than the cutoff do not arrive as fast as a delete without a task id removes them',
  'released-copy': 'a copy that a person has released does not go on',
} as const;
