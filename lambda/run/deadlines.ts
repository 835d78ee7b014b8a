import { truncateTimeoutMillis } from '../gms/transport.ts';
import { secondMillis } from '../model/time.ts';

/** Each step's timeout, and the margin that it reserves. */

/** Timeouts of the functions. Plan and Poll may wait 60 s for each of several requests; 900 s is Lambda's maximum. */
export const functionTimeoutSeconds = { plan: 900, truncate: 600, poll: 900, report: 120 } as const;

/** Time kept free at the end of Report, to log and count a report that was not accepted. */
export const publishMarginMillis = 10 * secondMillis;

export const publishMillis = functionTimeoutSeconds.report * secondMillis - publishMarginMillis;

/** Time kept free between `sendBy` and the end of the function, for the answer and for recording it. */
export const sendMarginMillis = truncateTimeoutMillis + 30 * secondMillis;

/** Plan and Poll stop asking this long before their time runs out, so they can still return what they know. */
export const deadlineMarginMillis = 30 * secondMillis;
