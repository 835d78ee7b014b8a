import type { DecidedFacts } from '../facts/report-schema.ts';
import type { Place } from '../words/words.ts';

/** One index for a terminal: what, why, owner and note, the next step, the runbook; the first line is the short one. */
export declare function entryLines(entry: DecidedFacts, place: Place): string[];
