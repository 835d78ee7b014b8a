import type { Note } from '../facts/note.ts';
import { resultOf } from '../facts/outcomes.ts';
import type { PolicyEntry, Report } from '../facts/report-schema.ts';
import { clip } from '../facts/text.ts';
import { toldNote } from '../wording/notes.ts';
import { byUrgency, countByOutcome } from './digest/groups.ts';

/** Stages of cutting a report down for machines; each one removes harmless parts first. */
interface Cut {
  /** Characters of a harmless policy's reason, and of any other text. */
  harmlessReason: number;
  text: number;
  /** Policies; the harmless ones are dropped first. */
  policies: number;
  unmanaged: number;
  notes: number;
}

const cuts: readonly Cut[] = [
  { harmlessReason: 60, text: 4000, policies: Number.POSITIVE_INFINITY, unmanaged: 50, notes: 50 },
  { harmlessReason: 0, text: 1000, policies: Number.POSITIVE_INFINITY, unmanaged: 20, notes: 20 },
  { harmlessReason: 0, text: 500, policies: 200, unmanaged: 10, notes: 20 },
  { harmlessReason: 0, text: 300, policies: 120, unmanaged: 5, notes: 10 },
  { harmlessReason: 0, text: 200, policies: 60, unmanaged: 0, notes: 5 },
  // Always fits, whatever the texts: 20 policies with eleven texts each, at worst six bytes per character.
  { harmlessReason: 0, text: 60, policies: 20, unmanaged: 0, notes: 2 },
];

/**
 * The first version of the report that fits: the report itself, or one that is cut down and says so in a note.
 * Every version is valid against the report's schema. Returns the last one even if it does not fit.
 */
export function shorten(report: Report, fits: (candidate: Report) => boolean): Report {
  if (fits(report)) return report;
  for (const cut of cuts) {
    const candidate = cutDown(report, cut);
    if (fits(candidate) || cut === cuts.at(-1)) return candidate;
  }
  return report;
}

function cutDown(report: Report, cut: Cut): Report {
  const kept = new Set(byUrgency(report.policies).slice(0, cut.policies));
  const policies = report.policies.filter((entry) => kept.has(entry));
  const dropped = report.policies.filter((entry) => !kept.has(entry));
  const unmanaged = [...report.unmanagedIndices]
    .sort((a, b) => (b.sizeMb ?? 0) - (a.sizeMb ?? 0))
    .slice(0, cut.unmanaged);
  const notes = (report.notes ?? []).slice(0, cut.notes);
  const shorter = clipTexts({ ...report, policies: policies.map((entry) => withShortReason(entry, cut)) }, cut.text);
  const missing = whatIsMissing(report, dropped, unmanaged.length);
  return {
    ...shorter,
    notes: [toldNote(missing), ...notes.map((note) => clipTexts(note, cut.text))],
    unmanagedIndices: unmanaged.map((index) => clipTexts(index, cut.text)),
  };
}

const withShortReason = (entry: PolicyEntry, cut: Cut): PolicyEntry =>
  resultOf[entry.outcome] === 'ok' ? { ...entry, reason: clip(entry.reason, cut.harmlessReason) } : entry;

function whatIsMissing(report: Report, dropped: readonly PolicyEntry[], unmanaged: number): Note {
  return {
    kind: 'shortened',
    policies: dropped.length,
    of: report.policies.length,
    outcomes: Object.fromEntries(countByOutcome(dropped)),
    indices: report.unmanagedIndices.length - unmanaged,
    indicesOf: report.unmanagedIndices.length,
  };
}

/** Clips every text in the value; enum values are shorter than any cut and stay unchanged. */
function clipTexts<T>(value: T, max: number): T {
  if (typeof value === 'string') return clip(value, max) as T;
  if (Array.isArray(value)) return value.map((item) => clipTexts(item, max)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clipTexts(item, max)])) as T;
}
