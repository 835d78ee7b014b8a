/** Something to type, with what it does. */
export interface Command {
  /** What it does. No stop at its end: a colon stands there where the line stands below it, a full stop where it does not. */
  say: string;
  line: string;
  /** The console of the search engine takes requests; a shell takes the rest, of which an execution's input is a part. */
  typedIn: 'search-engine' | 'shell';
  /** What it does that cannot simply be undone: it deletes rows, opens an index to truncation, moves an alias, copies rows. */
  danger?: 'deletes' | 'opens' | 'moves' | 'copies';
}

/** One of several things to do in their order: a command, or what no command can do. */
export type Instruction = Command | { say: string; line?: undefined };

/** Where requests are typed: once for a message that has any. */
export const whereToType = 'GET, PUT and POST go into the console of the search engine (Dev Tools).';
