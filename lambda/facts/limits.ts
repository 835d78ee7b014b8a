/** Every tunable of the run, with its unit in its name and the reason next to it. */

const second = 1000;
const minute = 60 * second;
export const hourMillis = 60 * minute;
export const dayMillis = 24 * hourMillis;

/** Timeouts of the functions. Plan and Poll may wait 120 s for each of four attempts; 900 s is Lambda's maximum. */
export const functionTimeoutSeconds = { plan: 900, truncate: 600, poll: 900, report: 120 } as const;

/** The longest a server may take to answer (its frontend gives up after 120 s). */
export const answerTimeoutMillis = 120 * second;
export const connectTimeoutMillis = 5 * second;

/** Four attempts in total per read: enough to survive a pod restart without hammering a dead server for minutes. */
export const readAttempts = 4;

/** Time reserved after `sendBy` for the answer and for recording it. */
export const sendMarginMillis = answerTimeoutMillis + 30 * second;

/** Truncate sends nothing later than this after its start. */
export const longestToSendMillis = functionTimeoutSeconds.truncate * second - sendMarginMillis;

/** The answer to the dry run that justifies a truncate is at most this old when the call goes out. */
export const dryRunValidMillis = 60 * second;

/** How often Poll checks for release while an abandoned Truncate may still send and another run holds its index. */
export const settlingSeconds = 60;

/** Plan and Poll stop asking this long before their time runs out, so they can still return what they know. */
export const deadlineMarginMillis = 30 * second;

/** Parallel dry runs in Plan: two counts each, gentle on a production cluster. */
export const planConcurrency = 8;

/** Time for a preview's preflight to make its own requests. */
export const preflightMillis = 30 * second;

/** Parallel looks in Poll. */
export const pollConcurrency = 4;

/** A server whose clock is off by more may delete fresh rows. */
export const maxClockSkewMillis = 10 * minute;

/** A schedule's event comes after its time. One whose time is further ahead would block every event until then. */
export const maxScheduledAheadMillis = hourMillis;

/** If a run's start is further in our future than this, the start is wrong, and its cutoff would be too late. */
export const maxStartAheadMillis = 60 * second;

/** An index that holds less than this share of the rows of its last verdict's window has lost rows. */
export const rowsAfterShare = 0.5;

/** Missing rows count only above both limits: entities are deleted on ordinary nights. */
export const missingShare = 0.02;
export const missingRows = 10;

/**
 * Rows younger than this arrive late on ordinary nights: if a truncation may copy, one window ends this long before
 * the run.
 */
export const settledMillis = 2 * dayMillis;

/**
 * A reindex starts only on an index whose name is older than this: another process may still be copying into a younger
 * one. An upgrade without downtime, which puts its version into the name, keeps catching up for days.
 */
export const leastAgeMillis = { reindexed: 36 * hourMillis, upgraded: 14 * dayMillis } as const;

/**
 * The name of an index made by our reindex carries a time between `sending` and this long after the answer: GMS names
 * the index, then waits for its search engine, then answers.
 */
export const nameAfterAnswerMillis = 10 * minute;

/** If fewer than this share of a proven copy's rows can be found, its index is not being refreshed. */
export const invisibleShare = 0.1;

/** A truncate may exceed `maxRowsPerRun` by this much: rows keep ageing between Plan and the call. */
export const biteTolerance = 0.01;

/** Remaining rows count only above both limits. */
export const incompleteShare = 0.01;
export const incompleteRows = 10;

/** The rows-to-delete counts around the window's count may differ by this much; otherwise they are counted again. */
export const windowShare = 0.01;

/** How long a verification waits for the search engine's refresh (1 s to 30 s in practice). */
export const refreshPatienceMillis = 90 * second;

/** The same in real time when waits are cut short: DataHub's indices refresh every 3 s. */
export const refreshPatienceRealMillis = 5 * second;

/** If a task status or index sizes fail this often in a run, the run does not ask again. */
export const maxFailuresOfOptional = 2;

/** A truncation counts as still after max(10 min, 20 % of its time) without progress, at most 2 h. */
export const still = { minMillis: 10 * minute, share: 0.2, maxMillis: 2 * hourMillis } as const;

/**
 * A truncation left by an earlier run holds the others back while it makes progress, but for at most this long (half of
 * `maxRunHours`, if that is less): a hanging task must not hold up every policy.
 */
export const heldBackMillis = 2 * hourMillis;

/** Age at which an unresolved record without progress may be closed. */
export const abandonAfterMillis = 20 * hourMillis;

/**
 * A correct clock never writes a `judgeableAt` further ahead than this: 10 min to send, and 10 min for its function.
 */
export const maxRecordAheadMillis = 20 * minute;

/** A wrong clock wrote any time further ahead than this (20 h plus a correct `judgeableAt` make 21 h). */
export const farAheadMillis = 48 * hourMillis;

/** The next look comes after max(10 s, 10 % of the time run), at most 30 min. */
export const look = { minSeconds: 10, share: 0.1, maxSeconds: 1800 } as const;

/** How long to remember the ids of runs that sent: longer than any `maxRunHours`, after which a run sends nothing. */
export const sentByMemoryMillis = 72 * hourMillis;

/** How long in advance to announce a token's expiry. */
export const tokenExpiryNoticeMillis = 14 * dayMillis;

/** Forecasts further ahead than this are not reported. */
export const forecastNights = 400;

/** A Step Functions execution ends at this many history events, without a Catch. */
export const maxHistoryEvents = 25_000;

/** Policies of one stage: DataHub has about ten time series aspects. */
export const maxPolicies = 48;

/**
 * Entries of one run: its policies, and unresolved truncations without one. With every text at its longest they take
 * 200 KiB, and Step Functions ends an execution whose state has 256 KiB, without any Catch.
 */
export const maxEntries = 64;

/** The longest text from elsewhere that a run keeps, in bytes of the run state. */
export const maxTextBytes = 240;

/** The same for one of our own sentences, which end with what to do. */
export const maxSentenceBytes = 600;
