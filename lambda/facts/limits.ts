/** Every tunable of the run, with its unit in its name and the reason next to it. */

const second = 1000;
const minute = 60 * second;
export const hourMillis = 60 * minute;
export const dayMillis = 24 * hourMillis;

/** Timeouts of the functions. Plan and Poll may wait 60 s for each of several requests; 900 s is Lambda's maximum. */
export const functionTimeoutSeconds = { plan: 900, truncate: 600, poll: 900, report: 120 } as const;

/** How long a read may take unless the command line says otherwise. */
export const readTimeoutMillis = 60 * second;

/** The longest a real truncate may take to answer (DataHub's frontend gives up after 120 s). */
export const truncateTimeoutMillis = 120 * second;
export const connectTimeoutMillis = 5 * second;

/** Attempts of a read in all: enough to survive a pod restart without hammering a dead server for minutes. */
export const readAttempts = { failed: 4, timedOut: 2 } as const;

/** Time kept free between `sendBy` and the end of the function, for the answer and for recording it. */
export const sendMarginMillis = truncateTimeoutMillis + 30 * second;

/** The answer to the dry run that justifies a truncate is at most this old when the call goes out. */
export const dryRunValidMillis = 60 * second;

/** Plan and Poll stop asking this long before their time runs out, so they can still return what they know. */
export const deadlineMarginMillis = 30 * second;

/** Parallel dry runs in Plan: two counts each, gentle on a production cluster. */
export const planConcurrency = 8;

/** Parallel checks in Poll. */
export const pollConcurrency = 4;

/** A server whose clock is off by more may delete fresh rows. */
export const maxClockSkewMillis = 10 * minute;

/** If a run's start is further in our future than this, the start is wrong, and its cutoff would be too late. */
export const maxStartAheadMillis = 60 * second;

/** A scheduled time further than this before the execution's start was copied by a person from another input. */
export const maxScheduledBehindMillis = 2 * hourMillis;

/** One further than this after it, too: nothing starts that early. */
export const maxScheduledAheadMillis = 10 * minute;

/** A last sender's start further in our future than this came from a wrong clock, and counts as past. */
export const maxSenderAheadMillis = dayMillis;

/** Rows to keep that are missing count only above both limits after a delete: entities are deleted on ordinary days. */
export const missing = { share: 0.02, rows: 10 } as const;

/** A reindex is in place once fewer than this share of the rows to delete are left: the alias leads to the new index. */
export const inPlaceShare = 0.5;

/** A reindex that is accounted for, and shows less than this share of its rows to keep, is probably not refreshed. */
export const unrefreshedShare = 0.1;

/** Rows of a window that have gone since they were counted are worth a note above both limits. */
export const fewerBetweenRuns = { share: 0.1, rows: 10 } as const;

/** Rows to delete that are left count only above both limits, or when they are half or more of what there was. */
export const remaining = { share: 0.01, rows: 10, most: 0.5 } as const;

/** How far baseline and last dry run may differ in rows to delete before a delete is put off. */
export const changedRows = { share: 0.01, rows: 10 } as const;

/** Where the window between two runs begins: this far from the policy's cutoff to the run's start. */
export const betweenRunsShare = 0.25;

/** A verdict other than `truncated` needs two checks this far apart that agree: the search engine's refresh. */
export const agreeingChecksMillis = 90 * second;

/** A truncation is still after max(10 min, 20 % of its age) without movement, at most 2 h. */
export const still = { minMillis: 10 * minute, share: 0.2, maxMillis: 2 * hourMillis } as const;

/** Age at which an unresolved record without movement is closed, and from when on a release is accepted. */
export const abandonAfterMillis = 20 * hourMillis;

/** A record is closed for its age only after two checks this far apart have shown no movement. */
export const abandonChecksMillis = 10 * minute;

/** The next check comes after max(10 s, 10 % of the truncation's age), at most 30 min. */
export const check = { minMillis: 10 * second, share: 0.1, maxMillis: 30 * minute } as const;

/** Turns of Poll in one run: an execution has 25,000 history events, and a turn takes about 11 of them. */
export const maxPolls = 2000;

/** Real calls of one run without a task id, after which it starts nothing more. */
export const maxCallsWithoutTask = 2;

/** A report that is published longer after its run's start says so first: a redrive may be a week late. */
export const longestRunMillis = 24 * hourMillis;

/** How long in advance to announce a token's expiry. */
export const tokenExpiryNoticeMillis = 14 * dayMillis;

/** Rows per batch where no policy says otherwise; a count sends it only because requests always have the field. */
export const usualBatchSize = 10_000;

/** Policies of one stage: DataHub has about ten time series aspects. */
export const maxPolicies = 48;

/**
 * Entries of one run: its policies, and unresolved truncations without one. With every text at its longest they take
 * 204 KiB, and Step Functions ends an execution whose state has 256 KiB, without any Catch.
 */
export const maxEntries = 64;

/** The longest text from elsewhere that a run keeps, in bytes of the run state. */
export const maxTextBytes = 240;

/** The same for one of our own sentences, which end with what to do. */
export const maxSentenceBytes = 600;
