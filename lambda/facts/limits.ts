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

/** A Truncate that was given up may still send, and another run holds its index: how often Poll looks whether it lets go. */
export const settlingSeconds = 60;

/** Plan and Poll stop asking this long before their time ends, so that what they know still leaves them. */
export const deadlineMarginMillis = 30 * second;

/** Dry runs side by side in Plan: two counts each, gentle on a production cluster. */
export const planConcurrency = 8;

/** A preview's preflight has this long for questions of its own; beside the dry runs it is not noticed. */
export const preflightMillis = 30 * second;

/** Looks side by side in Poll. */
export const pollConcurrency = 4;

/** A server whose clock is further off may delete fresh rows. */
export const maxClockSkewMillis = 10 * minute;

/** Fewer rows to delete than this share of Plan's count: somebody else is deleting. */
export const deletedByOthersShare = 0.01;

/** An index that holds less than this share of what the last verdict left has lost rows. */
export const rowsAfterShare = 0.5;

/** Missing rows are judged above both: entities are deleted in ordinary nights. */
export const missingShare = 0.02;
export const missingRows = 10;

/** Rows of the closed window that come in between Plan and a reindex, above both: a copy is going on. Late rows are few. */
export const copyingShare = 0.0001;
export const copyingRows = 10;

/** Remaining rows are judged above both. */
export const incompleteShare = 0.01;
export const incompleteRows = 10;

/** The rows-to-delete counts around the window's count may differ by this much; otherwise they are counted again. */
export const windowShare = 0.01;

/** How long a verification waits for the search engine's refresh (1 s to 30 s in practice). */
export const refreshPatienceMillis = 90 * second;

/** Looks in a row whose task status failed, after which counts are watched beside it. */
export const maxStatusFailures = 3;

/** The same in real time, where waits are cut short: DataHub's indices refresh every 3 s. */
export const refreshPatienceRealMillis = 5 * second;

/** A truncation is still when nothing moved for max(10 min, 20 % of its time), at most 2 h. */
export const still = { minMillis: 10 * minute, share: 0.2, maxMillis: 2 * hour } as const;

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

/** A Step Functions execution ends at this many history events, without a Catch. */
export const maxHistoryEvents = 25_000;
