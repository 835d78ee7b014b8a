import type { Note } from '../facts/note.ts';
import type { DecidedFacts, PolicyEntry, Report, ReportFacts } from '../facts/report-schema.ts';
import { iso, percentOf } from './numbers.ts';
import { sentences } from './parts.ts';
import { asSentence } from './punctuation.ts';
import type { Reader } from './reader.ts';
import type { Place, Words } from './table.ts';
import { errorWordsOf, noteWordsOf, placeOf, wordsOf } from './words.ts';

/** Without an address to start anything: commands are an execution's input. */
const anywhere: Reader = { kind: 'aws' };

/** Adds the English to a report: for readers of its JSON, and for every message made from it. */
export function worded(facts: ReportFacts, reader: Reader = anywhere): Report {
  const place = placeOf(facts, reader);
  const { cause, notes, policies, ...rest } = facts;
  return {
    ...rest,
    error: cause && whole(errorWordsOf(cause, place)),
    cause,
    notes: notes.length === 0 ? undefined : notes.map((note) => ({ ...note, text: noteText(note, place) })),
    policies: policies.map((entry) => wordedEntry(entry, place)),
  };
}

function wordedEntry(facts: DecidedFacts, place: Place): PolicyEntry {
  const { cutoffMillis, rowsTotal, rowsToDelete } = facts;
  return {
    ...facts,
    cutoff: cutoffMillis === undefined ? undefined : iso(cutoffMillis),
    reason: whole(wordsOf(facts, place)),
    percent: rowsTotal === undefined || rowsToDelete === undefined ? undefined : percentOf(rowsToDelete, rowsTotal),
  };
}

/** A note in one text. */
export const noteText = (note: Note, place: Place): string => whole(noteWordsOf(note, place));

/** Everything in one field: what, why, the next step, and the command that approves or releases. */
const whole = ({ what, why, next = '', act }: Words): string =>
  sentences(asSentence(what), asSentence(why), asSentence(next), act && `${act.say}: ${act.line}`);
