/**
 * What takes time between two looks besides the Wait itself. Assumed, not measured: round figures, slower than these
 * services usually are. The looks must keep their promise despite them.
 */

/** From one state to the next. */
export const transitionMillis = 50;

/** The invocation of a function: its container is warm, or has to be started (and the function imported). */
export const startMillis = { warm: 20, cold: 800 } as const;

/** Idle containers are assumed gone after this long. */
export const containerLivesMillis = 5 * 60_000;

/** One call of DynamoDB, of Parameter Store, of SNS. */
export const awsCallMillis = 15;

/** The operations service: two `_count` queries; a submission; a task's status or the index sizes. */
export const answerMillis = { dryRun: 200, truncate: 400, read: 100 } as const;
