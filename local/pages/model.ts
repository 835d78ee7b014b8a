import type { Severity } from '../screen/colour.ts';

/** What a page shows, as data: the same for survey, preview, run and history. `render.ts` makes HTML of it. */

export interface Page {
  kind: 'survey' | 'preview' | 'run' | 'history';
  /** In the window's title. */
  title: string;
  /** What came of it, in a few words. */
  heading: string;
  severity: Severity;
  /** Whose data, and when. */
  about: Fact[];
  /** The numbers in large. */
  totals: Fact[];
  attention: Attention[];
  /** Where nothing needs attention. */
  allWell: string;
  indices: IndexPicture[];
  /** What a person should know beside it. */
  toKnow: string[];
  /** Indices that have no policy. */
  unmanaged: Array<{ name: string; sizeMb?: number | undefined; mbPerDay?: number | undefined }>;
  /** Policies to begin with. */
  suggestions?: { reasons: string[]; json: string };
  /** As it was sent. */
  message?: { subject: string; text: string };
}

export interface Fact {
  term: string;
  text: string;
}

/** Something that a person has to look at. */
export interface Attention {
  severity: Severity;
  title: string;
  /** What was found. */
  lines: string[];
  /** How to put it right: what to do, and perhaps the request to the search cluster that does it. */
  instructions: Array<{ say: string; request?: string | undefined }>;
  next?: NextStep | undefined;
}

/** What to do; a command has above it what it does. */
export interface NextStep {
  text: string;
  command?: { effect: string; line: string } | undefined;
}

/** One index. */
export interface IndexPicture {
  name: string;
  /** The outcome, where there was a run. */
  badge?: { text: string; severity: Severity | 'quiet' };
  sentence?: string;
  bar?: Bar;
  facts: Fact[];
  sizeMb?: number | undefined;
  /** Nothing was done and nothing has to be: among many it may be folded away. */
  isQuiet?: boolean;
  /** Undefined where no memory is asked. */
  nights?: readonly NightPoint[];
}

/**
 * What becomes of rows.
 * - went: deleted, and verified
 * - goes: a real run deletes them
 * - later: later runs delete them, because one takes a bite only
 * - overdue: past the retention, and kept for now
 * - missing: should have stayed, and are gone
 * - stays
 */
export type Fate = 'went' | 'goes' | 'later' | 'overdue' | 'missing' | 'stays';

/** Rows of one fate and one span of ages. */
export interface Part {
  fate: Fate;
  rows: number;
  /** Days; left out where the age is not known, or has no such end. */
  from?: number;
  to?: number;
}

/** The rows of an index, the oldest first. */
export interface Bar {
  parts: Part[];
  /** Days: older rows are past the retention. */
  cutDays?: number;
  /** Percent of the rows. */
  threshold?: number;
  ceiling?: number;
  /** What a reader should know of the counts. */
  remark?: string;
}

/** What one night saw. */
export interface NightPoint {
  /** Epoch milliseconds. */
  at: number;
  rows?: number | undefined;
  overdue?: number | undefined;
  mb?: number | undefined;
  deleted?: number | undefined;
  outcome?: string | undefined;
}
