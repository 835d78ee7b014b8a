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
  'fsync-holds': 'what the ledger file was told to keep is there after a power loss',
  'rows-have-timestamps': 'every row has a timestamp',
  'older-content': 'a row that is written again while a reindex copies it may fall back to its older content',
  'two-wrong-clocks':
    'our clock and the server’s are not wrong by the same amount; without a Date header ours is right',
  'clock-across-looks':
    'our clock of the wall does not jump ahead by minutes between two looks at a server without a Date header, nor by less than 10 minutes at any',
  'nameless-replacement':
    'another server behind the same address has other names of indices, and tells them (getIndexSizes)',
  'silent-reindex':
    'a server that reindexes what it has promised to delete tells the name of its index or the status of its task',
  'slow-first-batch':
    'a delete by query whose status nobody can read has deleted its first batch when it is judged: 10 minutes after the last moment at which it may have been sent, or later',
  'hidden-delete':
    'rows older than the cutoff do not come in late as fast as a delete by query of which nobody knows the id takes them',
  'day-long-hang':
    'a delete by query that has stood still for 20 hours does not go on afterwards, nor a copy that a person has cleared by its counts',
  'twin-task':
    'after a node restart, no complete copy by another process, of about the same number of rows, gets the task number of our copy while late rows refill what ours had not copied',
  'day-long-copy':
    'somebody’s copy into an index has ended 36 hours after the time in its name, or 14 days where the name has a version',
} as const;
export type Assumption = keyof typeof assumptions;
