import type { Step } from '../../lambda/notification/next/step.ts';
import type { Instruction } from '../../lambda/wording/instruction.ts';
import type { Severity } from '../screen/colour.ts';

/** What a page shows, as data: the same for survey, preview, run and history. `render.ts` turns it into HTML. */

export interface Page {
  kind: 'survey' | 'preview' | 'run' | 'history';
  /** In the window's title. */
  title: string;
  /** The result, in a few words. */
  heading: string;
  severity: Severity;
  /** Whose data, and when. */
  about: Fact[];
  /** The headline numbers. */
  totals: Fact[];
  attention: Attention[];
  /** The sentence that is shown if nothing needs attention. */
  allWell: string;
  indices: IndexPicture[];
  /** Anything else worth knowing. */
  toKnow: string[];
  /** Indices that have no policy. */
  unmanaged: Array<{ name: string; sizeMb?: number | undefined; mbPerDay?: number | undefined }>;
  /** Suggested policies. */
  suggestions?: { reasons: string[]; json: string };
  /** The notification, as it was sent. */
  message?: { subject: string; text: string };
}

export interface Fact {
  term: string;
  text: string;
}

/** Something that needs attention. */
export interface Attention {
  severity: Severity;
  title: string;
  /** What was found. */
  lines: string[];
  /** How to fix it: what to do, and possibly the request to the search cluster that does it. */
  instructions: readonly Instruction[];
  next?: Step | undefined;
}

/** One index. */
export interface IndexPicture {
  name: string;
  /** The outcome, if there was a run. */
  badge?: { text: string; severity: Severity | 'quiet' };
  sentence?: string;
  bar?: Bar;
  facts: Fact[];
  /** What the index holds now, according to its history. */
  counts?: { rows: number; past: number };
  sizeMb?: number | undefined;
  /** True if nothing was done and nothing needs doing: among many indices it may be collapsed. */
  isQuiet?: boolean;
  /** Undefined if no memory is used. */
  nights?: readonly NightPoint[];
}

/**
 * What happens to rows.
 * - went: deleted, and verified
 * - goes: a real run deletes them
 * - later: later runs delete them, because one run takes only a bite
 * - overdue: past the retention, and kept for now
 * - missing: should have stayed, but are gone
 * - stays
 */
export type Fate = 'went' | 'goes' | 'later' | 'overdue' | 'missing' | 'stays';

/** Rows of one fate and one span of ages. */
export interface Part {
  fate: Fate;
  rows: number;
  /** Ages in days; omitted if the age is unknown or the span has no such end. */
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
  /** Decimal megabytes of the rows that would be deleted; an estimate. */
  freedMb?: number;
  /** What a reader should know about the counts. */
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
