/** Whether what to do about a server's error is told as well: a message has a next step for it. */
export type Detail = 'with-remedy' | 'without-remedy';
