import type { PolicyEntry, Report } from '../../facts/report-schema.ts';
import { nameOf } from '../../wording/sentences.ts';
import type { MessageContext } from '../context.ts';
import type { Line } from '../lines.ts';
import { commandsOf, type Step } from '../next/step.ts';
import { runbookFile, runbookLink } from '../runbook.ts';

/** How much of a long report people are shown; the rest is counted. */
export interface Measure {
  /** Problems described in full. */
  full: number;
  /** Names of policies that share one paragraph. */
  names: number;
  /** Further problems, one line each. */
  brief: number;
  /** Policies without a problem, one line each. */
  fine: number;
  notes: number;
  /** Characters of a cause or a note. */
  text: number;
}

/** What the parts of one email share. */
export interface Telling {
  report: Report;
  context: MessageContext;
  measure: Measure;
  /** Policies that the email names, or counts among others. */
  told: Set<PolicyEntry>;
  /** Steps and links that the email already contains. */
  given: Set<string>;
}

/** Names in one line; those beyond `most` are counted. All of them then count as mentioned. */
export function names(entries: readonly PolicyEntry[], most: number, { told }: Telling): string {
  for (const entry of entries) told.add(entry);
  const shown = entries.slice(0, most).map(nameOf).join(', ');
  const more = entries.length - Math.min(most, entries.length);
  return more === 0 ? shown : `${shown} and ${more} more`;
}

/**
 * A next step, once: a refused token can affect the run, many policies and a note. A step without a command names
 * nothing, and may be repeated.
 */
export function stepLines(step: Step | undefined, { given }: Telling): Line[] {
  if (!step) return [];
  const key = JSON.stringify(step);
  if (step.command && given.has(key)) return [];
  given.add(key);
  return [`Next: ${step.text}`, ...commandsOf(step)];
}

/** A link to the runbook; once. */
export function link(heading: string, { context, given }: Telling): string[] {
  if (given.has(heading)) return [];
  given.add(heading);
  return [`More: ${context.runbookUrl ? runbookLink(context.runbookUrl, heading) : `${runbookFile}, "${heading}"`}`];
}
