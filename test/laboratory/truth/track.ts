/** A real truncate as the world knows it: what the server did with it, and what that cost. */
export interface Track {
  /** The search index. */
  index: string;
  /** As the engine names it: `dataset.operation`. */
  name: string;
  /** Which of the world's servers it was sent to. */
  server: number;
  attemptId: string | undefined;
  runId: string;
  runStartMillis: number;
  cutoffMillis: number;
  /** Real time at which it was written to the wire. */
  sentAt: number;
  /** Until when the server may still act on it; undefined once it has acted, or never will. */
  pendingUntil?: number;
  acted?: Acted;
  /** What it had cost when the alias moved on, or at the end of the history. */
  loss?: Loss;
}

export interface Acted {
  at: number;
  /** What the server turned it into. */
  as: 'delete' | 'reindex' | 'nothing';
  /** Tasks that it started, by serial number. */
  serials: number[];
  /** The index that the alias has left. */
  source: string | undefined;
}

/** Rows newer than the cutoff that were there, and that this truncation made invisible. */
export interface Loss {
  rows: number;
  /** Of these, rows that no search had found when the server acted. */
  unseen: number;
  /** Another process moved the alias while it was running. */
  mixed: boolean;
}

/** What was true in the server when a verdict was written. */
export interface Truth extends ClockTruth {
  /** Rows at or before the cutoff that a search found at the call, and that are still there. */
  oldLeft: number;
  /** Rows at or before the cutoff that its own tasks have deleted. */
  oldTaken: number;
  /** Rows at or before the cutoff that a search finds now. */
  oldFound: number;
  loss: Loss;
  /** The alias points again to the index from which this truncate moved it. */
  onSource: boolean;
  acted: Acted['as'] | 'not yet' | 'never';
  /** It is running, or will be. */
  working: boolean;
  /** For how long its task has done nothing, milliseconds. */
  stalledMillis: number;
  /** When its tasks last did something; undefined if they never did. */
  movedAt: number | undefined;
  /** It was sent to another server than the one behind the address now, whose rows are counted. */
  isElsewhere: boolean;
  /** Its tasks work on an index that no alias points to any more. */
  isAside: boolean;
  /** What searches find in each window of the record, and what the record says was there at the call. */
  windows: { recorded: number; found: number }[];
  /** Searches do not find what is there: no refresh yet, or refreshing is off. */
  unrefreshed: boolean;
}

/** How far the clocks can be trusted at that moment. */
export interface ClockTruth {
  /** Our clock is wrong by more than 10 minutes. */
  clockWrong: boolean;
  /** Also, no Date header of the server shows it. */
  deceived: boolean;
  /** How far our clock is ahead, milliseconds, if that is too little to count as wrong; else 0. */
  aheadMillis: number;
}
