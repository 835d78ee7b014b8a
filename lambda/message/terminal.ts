import type { DecidedFacts } from '../facts/report-schema.ts';
import type { Place } from '../words/words.ts';
import { itemOf } from './items.ts';
import { paragraph } from './paragraph.ts';

/**
 * One index for a terminal: what happened on the first line, then why, owner and note, the next step with its commands,
 * and the runbook's section, as far as there is anything to say.
 */
export const entryLines = (entry: DecidedFacts, place: Place): string[] => paragraph(itemOf(entry, place), place);
