import type { Note } from '../../model/note.ts';
import { resultOf } from '../../model/outcomes.ts';
import type { PolicyEntry, Report } from '../../model/report-schema.ts';
import { type Destination, serialize } from '../destination.ts';
import { textOfNote } from '../sentences/sentences.ts';
import { mapTexts, oneLine } from '../sentences/text.ts';

/** As much as SNS carries. */
const maxCharacters = 260_000;

/**
 * The report itself, for programs: exactly the report, unless that had to be shortened (a note in it says so) or
 * contained a secret or a stack trace.
 */
export const json = {
  name: 'json',
  what: 'the report',
  limits: { characters: maxCharacters },
  render: ({ report, context }, fits = (body) => serialize(body).length <= maxCharacters) =>
    shorten(report, fits, (note) => textOfNote(note, context)),
} as const satisfies Destination;

/** Stages of cutting a report down for machines; each removes harmless parts first. No policy is ever left out. */
interface Cut {
  /** The most characters of a text; reasons of harmless policies are left out at every stage. */
  text: number;
  unmanaged: number;
  notes: number;
}

const cuts: readonly Cut[] = [
  { text: 1000, unmanaged: 50, notes: 80 },
  { text: 300, unmanaged: 5, notes: 80 },
  { text: 100, unmanaged: 0, notes: 80 },
  // This always fits, whatever the texts say: 64 policies with a dozen texts each. Times and our own words are no
  // longer than that.
  { text: 24, unmanaged: 0, notes: 20 },
];

/** Names of indices stay whole, and are short by themselves. */
const names: readonly string[] = ['entityType', 'aspect', 'index', 'names', 'quarantined'];

/**
 * The first version of the report that fits: the report itself, or one that is cut down and says so in its first note.
 * Every version is valid against the report's schema.
 * @param textOf gives a note its text
 */
function shorten(report: Report, fits: (candidate: Report) => boolean, textOf: (note: Note) => string): Report {
  if (fits(report)) return report;
  const candidates = cuts.map((cut) => cutDown(report, cut, textOf));
  return candidates.find(fits) ?? candidates.at(-1) ?? report;
}

function cutDown(report: Report, cut: Cut, textOf: (note: Note) => string): Report {
  const policies = report.policies.map(withoutReason);
  const unmanagedIndices = report.unmanagedIndices.slice(0, cut.unmanaged);
  const notes = (report.notes ?? []).slice(0, cut.notes);
  const isName = (key: string, value: unknown) =>
    names.includes(key) && JSON.stringify(value).length <= Math.max(cut.text, 130);
  const clipped = mapTexts({ ...report, policies, unmanagedIndices, notes }, (text) => oneLine(text, cut.text), isName);
  const { length } = report.unmanagedIndices;
  const note: Note = { kind: 'shortened', indices: length - unmanagedIndices.length, indicesOf: length };
  return { ...clipped, notes: [{ ...note, text: textOf(note) }, ...clipped.notes] };
}

const withoutReason = (entry: PolicyEntry): PolicyEntry =>
  resultOf[entry.outcome] === 'ok' ? { ...entry, reason: '' } : entry;
