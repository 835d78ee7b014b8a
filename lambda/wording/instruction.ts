/** Something to type, with what it does. */
export interface Command {
  /** What it does, without a full stop: it ends with a colon if the line follows below, otherwise with a full stop. */
  say: string;
  line: string;
  /** The search engine's console takes requests; a shell takes everything else, including an execution's input. */
  typedIn: 'search-engine' | 'shell';
  /** What it does that cannot simply be undone: it deletes rows, opens an index to truncation, moves an alias, copies rows. */
  danger?: 'deletes' | 'opens' | 'moves' | 'copies';
}

/** One of several things to do in order: a command, or something that no command can do. */
export type Instruction = Command | { say: string; line?: undefined };

/** Where to type requests: once in a message that has any. */
export const whereToType = 'GET, PUT and POST go into the console of the search engine (Dev Tools).';
