/** Whether to include what to do about a server's error: a message has a next step for that. */
export type Detail = 'with-remedy' | 'without-remedy';
