import type { Note } from '../facts/note.ts';
import { outcomes, resultOf } from '../facts/outcomes.ts';
import type { PolicyEntry, Report } from '../facts/report-schema.ts';
import { clip, mapTexts } from '../text/text.ts';

/** Stages of cutting a report down for machines; each removes harmless parts first. */
interface Cut {
  /** Characters of a text; a harmless policy's reason goes at once. */
  text: number;
  policies: number;
  unmanaged: number;
  notes: number;
}

const cuts: readonly Cut[] = [
  { text: 1000, policies: 500, unmanaged: 50, notes: 50 },
  { text: 300, policies: 120, unmanaged: 5, notes: 10 },
  // Always fits, whatever the texts: 20 policies with a dozen texts each, at worst six bytes a character.
  { text: 60, policies: 20, unmanaged: 0, notes: 2 },
];

/**
 * The first version of the report that fits: the report itself, or one that is cut down and says so in its first note.
 * Every version is valid against the report's schema.
 * @param textOf gives a note its text
 */
export function shorten(report: Report, fits: (candidate: Report) => boolean, textOf: (note: Note) => string): Report {
  if (fits(report)) return report;
  const candidates = cuts.map((cut) => cutDown(report, cut, textOf));
  return candidates.find(fits) ?? candidates.at(-1) ?? report;
}

function cutDown(report: Report, cut: Cut, textOf: (note: Note) => string): Report {
  const harm = (entry: PolicyEntry) => (entry.untold === undefined ? outcomes.indexOf(entry.outcome) : 0);
  const byHarm = [...report.policies].sort((one, other) => harm(one) - harm(other));
  const kept = new Set(byHarm.slice(0, cut.policies));
  const policies = report.policies.filter((entry) => kept.has(entry)).map(withoutReason);
  const unmanagedIndices = report.unmanagedIndices.slice(0, cut.unmanaged);
  const note: Note = {
    kind: 'shortened',
    policies: report.policies.length - policies.length,
    of: report.policies.length,
    indices: report.unmanagedIndices.length - unmanagedIndices.length,
    indicesOf: report.unmanagedIndices.length,
  };
  const notes = (report.notes ?? []).slice(0, cut.notes);
  // Enum values are shorter than any cut.
  const clipped = mapTexts({ ...report, policies, unmanagedIndices, notes }, (text) => clip(text, cut.text));
  return { ...clipped, notes: [{ ...note, text: textOf(note) }, ...(clipped.notes ?? [])] };
}

const withoutReason = (entry: PolicyEntry): PolicyEntry =>
  resultOf[entry.outcome] === 'ok' ? { ...entry, reason: '' } : entry;
