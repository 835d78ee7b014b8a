/**
 * What is assumed not to happen. Each has its reason in docs/testing.md; a history that needs one of these to go wrong is no
 * violation, and the laboratory draws none of them.
 */
export const assumptions = {
  'acts-in-time':
    'a server acts on a request within 10 minutes of the last moment at which it may have been sent, or never',
  'repeating-proxy': 'nothing in between stores a request and sends it again, or answers with an older answer',
  'one-stage': 'one server belongs to one stage: no other, with a ledger of its own, truncates in the same minutes',
  'ledger-kept': 'the ledger is neither deleted nor restored to an earlier day',
  'fsync-holds': 'what was flushed to the ledger file is still there after a power loss',
  'rows-have-timestamps': 'every row has a timestamp',
  'older-content': 'a row that is written again while a reindex copies it may fall back to its older content',
  'two-wrong-clocks':
    'our clock and the server’s are not wrong by the same amount; without a Date header ours is right',
  'clock-across-looks':
    'our wall clock does not jump ahead by minutes between two looks at a server without a Date header, nor by less than 10 minutes at any server',
  'nameless-replacement':
    'another index behind the same alias, or another server behind the same address, has a different name, and the server reports it (getIndexSizes)',
  'silent-reindex':
    'a server that reindexes although it promised to delete reports the name of its index or the counters of its task',
  'slow-first-batch':
    'a delete by query whose status nobody can read has deleted its first batch when it is judged: 10 minutes after the last moment at which it may have been sent, or later',
  'same-rows':
    'no other process deletes the rows of a call that may not have been sent, between `sending` and the verdict',
  'hidden-delete':
    'late rows older than the cutoff do not arrive as fast as a delete by query with an unknown id removes them',
  'day-long-hang':
    'a delete by query that has made no progress for 20 hours does not resume, nor does a copy that a person has cleared by its counts',
  'twin-task':
    'after a node restart, no complete copy by another process, of about the same number of rows, gets the task number of our copy while late rows refill what ours had not copied',
  'day-long-copy':
    'another process’s copy into an index has ended 36 hours after the time in the index’s name, or 14 days if that name has a version',
} as const;
export type Assumption = keyof typeof assumptions;
