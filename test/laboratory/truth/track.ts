/** A real truncate, as the world knows it: what the server has done with it, and what that has cost. */
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
  /** What it had cost when the alias moved on, or at the history's end. */
  loss?: Loss;
}

export interface Acted {
  at: number;
  /** What the server made of it. */
  as: 'delete' | 'reindex' | 'nothing';
  /** Tasks that it started, by serial number. */
  serials: number[];
  /** The index that the alias has left. */
  source: string | undefined;
}

/** Rows newer than the cutoff that were there, and are out of sight through this truncation. */
export interface Loss {
  rows: number;
  /** Of these, rows that no search had found when the server acted. */
  unseen: number;
  /** Somebody else moved the alias while it was at work. */
  mixed: boolean;
}

/** What was true in the server when a verdict was written. */
export interface Truth extends ClockTruth {
  /** Rows at or before the cutoff that a search found at the call, and that are there still. */
  oldLeft: number;
  /** Rows at or before the cutoff that its own tasks have taken. */
  oldTaken: number;
  /** Rows at or before the cutoff that a search finds now. */
  oldFound: number;
  loss: Loss;
  /** The alias leads again to the index that this truncate made it leave. */
  onSource: boolean;
  acted: Acted['as'] | 'not yet' | 'never';
  /** It is at work, or will be. */
  working: boolean;
  /** For how long its task has done nothing, milliseconds. */
  stalledMillis: number;
  /** When its tasks last did something; undefined where they never did. */
  movedAt: number | undefined;
  /** It was sent to another server than the one behind the address now, whose rows are counted. */
  isElsewhere: boolean;
  /** Its tasks work on an index that no alias leads to any more. */
  isAside: boolean;
  /** What searches find in each window of the record, and what the record says was there at the call. */
  windows: { recorded: number; found: number }[];
  /** Searches do not find what is there: a refresh has not come, or is switched off. */
  unrefreshed: boolean;
}

/** How far the clocks can be trusted at that moment. */
export interface ClockTruth {
  /** Our clock is wrong by more than 10 minutes. */
  clockWrong: boolean;
  /** And no Date header of the server shows it. */
  deceived: boolean;
  /** How far our clock is ahead, milliseconds, where that is too little to count as wrong; else 0. */
  aheadMillis: number;
}
