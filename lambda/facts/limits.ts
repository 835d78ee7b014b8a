/** Every tunable of the run, with its unit in its name and its reason beside it. */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
export const dayMillis = 24 * hour;

/** Time-outs of the functions. Plan and Poll may meet 120 s answers tried four times; 900 s is Lambda's maximum. */
export const functionTimeoutSeconds = { plan: 900, truncate: 600, poll: 900, report: 120 } as const;

/** The longest that a server may take to answer (its frontend gives up after 120 s). */
export const answerTimeoutMillis = 120 * second;
export const connectTimeoutMillis = 5 * second;

/** Reads are tried four times in all: a restart of one pod is survived, a dead server is not asked for minutes. */
export const readAttempts = 4;

/** Before `sendBy` there must be room for the answer, and for writing it down. */
export const sendMarginMillis = answerTimeoutMillis + 30 * second;

/** A Truncate sends nothing later than this after it began. */
export const longestToSendMillis = functionTimeoutSeconds.truncate * second - sendMarginMillis;

/**
 * The longest time after a run's start at which any run may send: `maxRunHours` is at most 47. A `sendBy` beyond it was
 * written by a clock that was wrong.
 */
export const latestSendMillis = 47 * hour;

/** The answer to the dry run that justifies a truncate is at most this old when the call goes out. */
export const dryRunValidMillis = 60 * second;

/** While a Truncate that was given up may still send and another run holds its index, Poll checks this often whether it is released. */
export const settlingSeconds = 60;

/** Plan and Poll stop asking this long before their time ends, so that what they know still leaves them. */
export const deadlineMarginMillis = 30 * second;

/** Dry runs side by side in Plan: two counts each, gentle on a production cluster. */
export const planConcurrency = 8;

/**
 * The same for indices that the server, which tells its indices, does not tell of: there is nothing to count in them. 500 policies
 * with mistyped names are answered within a minute by a server that takes 4 s for each.
 */
export const planConcurrencyOfAbsent = 64;

/** A preview's preflight has this long for questions of its own. */
export const preflightMillis = 30 * second;

/** Looks side by side in Poll. */
export const pollConcurrency = 4;

/** A server whose clock is further off may delete fresh rows. */
export const maxClockSkewMillis = 10 * minute;

/** A run that starts later than this by our clock was given a wrong start, and its cutoff would be too late. */
export const maxStartAheadMillis = 60 * second;

/**
 * Fewer rows to delete than this share of Plan's count: somebody else has been deleting. Counted again after the pause, a
 * further fall by more than the second share shows that they still are.
 */
export const deletedByOthersShare = 0.01;
export const recountMillis = 30 * second;
export const stillDeletingShare = 0.001;

/** An index that holds less than this share of the rows of its last verdict's window has lost rows. */
export const rowsAfterShare = 0.5;

/** Missing rows are judged above both: entities are deleted in ordinary nights. */
export const missingShare = 0.02;
export const missingRows = 10;

/**
 * Small losses of the last 30 days, added up, are judged above this share (and `missingRows`). 50 entity deletions a day cost a
 * busy index 0.1 % while its truncation runs, 3 % in 30 nights.
 */
export const missingShareOfSum = 0.05;
export const shrinkMemoryMillis = 30 * dayMillis;

/**
 * Before a reindex the window up to two days before the run must not change between Plan and Truncate, at least a minute
 * apart: a copy that somebody's reindex is still at makes it grow. Younger rows come in late in ordinary nights.
 */
export const copyingRows = 10;
export const settledMillis = 2 * dayMillis;
export const copyingPauseMillis = minute;

/**
 * The name of an index that our reindex made bears a time between `sending` and this long after the answer: GMS names the
 * index, then waits for its search engine, then answers.
 */
export const nameAfterAnswerMillis = 10 * minute;

/** Remaining rows are judged above both. */
export const incompleteShare = 0.01;
export const incompleteRows = 10;

/** The rows-to-delete counts around the window's count may differ by this much; otherwise they are counted again. */
export const windowShare = 0.01;

/** How long a verification waits for the search engine's refresh (1 s to 30 s in practice). */
export const refreshPatienceMillis = 90 * second;

/** The same in real time, where waits are cut short: DataHub's indices refresh every 3 s. */
export const refreshPatienceRealMillis = 5 * second;

/** A task status or index sizes that fail this often in a run are not asked for again in it. */
export const maxFailuresOfOptional = 2;

/** A truncation is still when nothing moved for max(10 min, 20 % of its time), at most 2 h. */
export const still = { minMillis: 10 * minute, share: 0.2, maxMillis: 2 * hour } as const;

/**
 * A truncation that an earlier run left holds the others back while it moves, and for at most this long (half of
 * `maxRunHours`, if that is less): a task that hangs must not hold up every policy.
 */
export const heldBackMillis = 2 * hour;

/** When an unresolved record that is still may be closed. */
export const abandonAfterMillis = 20 * hour;

/** The next look comes after max(10 s, 10 % of the time run), at most 30 min. */
export const look = { minSeconds: 10, share: 0.1, maxSeconds: 1800 } as const;

/** Run ids that sent are remembered this long: more than any `maxRunHours`, after which a run sends nothing. */
export const sentByMemoryMillis = 72 * hour;

/** Announced this long before a token expires. */
export const tokenExpiryNoticeMillis = 14 * dayMillis;

/** The run state stays below this; Step Functions ends an execution at 256 KiB without a Catch. */
export const maxStateBytes = 200 * 1024;

/** Nothing is said of what lies more nights ahead. */
export const forecastNights = 400;

/** A Step Functions execution ends at this many history events, without a Catch. */
export const maxHistoryEvents = 25_000;

/** Entries of one run; the rest is one entry that says how many. More would not fit into the run state, whatever they say. */
export const maxEntries = 600;
