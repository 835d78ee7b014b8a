import type { ToldNote } from '../../facts/note.ts';
import { oneLine } from '../../facts/text.ts';
import { counted } from '../../wording/numbers.ts';
import { asSentence } from '../../wording/punctuation.ts';
import { recovery, recoveryOfNote } from '../../wording/recovery.ts';
import { causeSentence, nameOf, sentence } from '../../wording/sentences.ts';
import { type Group, problemGroups } from '../digest/groups.ts';
import { isAboutClearing, notesBeside } from '../digest/notes.ts';
import { ownersAndNotes } from '../digest/owners.ts';
import { urgencyOf } from '../digest/urgency.ts';
import { type Line, linesOf } from '../lines.ts';
import { pause } from '../next/commands.ts';
import { entryStep } from '../next/entry-steps.ts';
import { noteStep } from '../next/run-steps.ts';
import { clearHeading, outcomeHeading } from '../runbook.ts';
import { link, names, stepLines, type Telling } from './telling.ts';

/** What needs an operator: each problem with its cause, how to recover, and the next step; a paragraph each. */
export function problems(telling: Telling): Line[][] {
  const { report, measure, told } = telling;
  const groups = problemGroups(report);
  if (groups.length === 0) return [];
  const full = groups.slice(0, measure.full).map((group) => problem(group, telling));
  const brief = groups
    .slice(measure.full)
    .flatMap(({ entries }) => entries)
    .slice(0, measure.brief)
    .map((entry) => {
      told.add(entry);
      return `- ${nameOf(entry)}: ${sentence(entry)}.`;
    });
  const heading = urgencyOf(report).urgency === 'nothing' ? 'FOR INFORMATION' : 'NEEDS ATTENTION';
  return [[heading], ...full, ...(brief.length > 0 ? [['Also:', ...brief]] : [])];
}

function problem({ outcome, entries }: Group, telling: Telling): Line[] {
  const { report, context, measure } = telling;
  const [first] = entries;
  return [
    `${names(entries, measure.names, telling)}: ${sentence(first)}.`,
    causeSentence(first, measure.text, 'without-remedy'),
    ...ownersAndNotes(entries),
    ...linesOf(recovery(first, Date.parse(report.finishedAt), pause(context))),
    ...stepLines(entryStep(entries, report, context), telling),
    ...link(outcomeHeading(outcome), telling),
  ];
}

/** The result for each index that an operator asked to clear. */
export function clearing(telling: Telling): Line[] {
  const { report, measure } = telling;
  const about = notesBeside(report).filter(isAboutClearing);
  if (about.length === 0) return [];
  // The steps for one index take a page, but every index is named.
  const refused = about.filter(({ kind }) => kind === 'not-released');
  const brief = new Set(refused.slice(measure.full));
  return [
    'CLEARING',
    ...about.flatMap((told) => (brief.has(told) ? [noteLine(told, measure.text)] : noteLines(told, telling))),
    ...(brief.size > 0 ? [`What to do about the last ${brief.size} is the same, with their own names.`] : []),
  ];
}

export function notes(telling: Telling): Line[] {
  const { report, measure } = telling;
  const all = notesBeside(report).filter((told) => !isAboutClearing(told));
  if (all.length === 0) return [];
  const shown = all.slice(0, measure.notes);
  const more = all.length > shown.length ? [`- ${counted(all.length - shown.length, 'note', 'notes')} more.`] : [];
  return ['TO KNOW', ...shown.flatMap((told) => noteLines(told, telling)), ...more];
}

const noteLine = ({ text }: ToldNote, max: number): string => `- ${asSentence(oneLine(text, max))}`;

function noteLines(note: ToldNote, telling: Telling): Line[] {
  const { report, context, measure } = telling;
  return [
    noteLine(note, measure.text),
    ...linesOf(recoveryOfNote(note, Date.parse(report.finishedAt), pause(context))),
    ...stepLines(noteStep(note, context), telling),
    ...(note.kind === 'not-released' ? link(clearHeading, telling) : []),
  ];
}
