/** How the server removes rows: in place, or by copying the rows to keep into a new index behind the same alias. */
export const strategies = ['delete-by-query', 'reindex'] as const;
export type Strategy = (typeof strategies)[number];

/** `unknown` if the server's answer contradicts its dry run. */
export const attemptStrategies = [...strategies, 'unknown'] as const;
export type AttemptStrategy = (typeof attemptStrategies)[number];
