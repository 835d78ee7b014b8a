import type { DecidedFacts, PolicyEntry, Report, ReportFacts } from '../facts/report-schema.ts';
import { percentOf } from '../policy/percentage.ts';
import { causeText } from './causes.ts';
import { checkWords, type Place } from './checks.ts';
import { toldNote } from './notes.ts';
import { iso } from './numbers.ts';
import { offer, type Withheld, withheldIn } from './offers.ts';
import { withoutStop } from './punctuation.ts';
import { recoveryText } from './recovery.ts';

/** Adds the wording to a report: its facts in English, for readers of the JSON and for every message. */
export function worded(facts: ReportFacts, place: Place = 'lambda'): Report {
  const { cause, notes, preflight, policies, ...rest } = facts;
  const now = Date.parse(facts.finishedAt);
  const withheld = withheldIn(facts);
  return {
    ...rest,
    ...(cause && { error: causeText({ ...nothing, cause }), cause }),
    ...(notes.length > 0 && { notes: notes.map(toldNote) }),
    ...(preflight && { preflight: preflight.map((check) => ({ ...check, ...checkWords(check, place, now) })) }),
    policies: policies.map((entry) => wordedEntry(entry, now, withheld)),
  };
}

/** A run's error is not about a single index. */
const nothing = { entityType: '', aspect: '', outcome: 'failed' } as const;

/**
 * The same for one policy, which may be shown before its run has ended.
 * @param now real time, epoch milliseconds
 */
export function wordedEntry(facts: DecidedFacts, now: number, withheld?: Withheld): PolicyEntry {
  const { outcome, cause, cutoffMillis, rowsTotal, rowsToDelete, ...rest } = facts;
  return {
    ...rest,
    ...(cutoffMillis !== undefined && { cutoff: iso(cutoffMillis), cutoffMillis }),
    outcome,
    cause,
    reason: reasonOf(facts, now, withheld),
    ...(rowsTotal !== undefined && { rowsTotal }),
    ...(rowsToDelete !== undefined && { rowsToDelete }),
    ...(rowsTotal !== undefined &&
      rowsToDelete !== undefined && { percent: percentOf(rest.rowsPastRetention ?? rowsToDelete, rowsTotal) }),
  };
}

/**
 * The whole story of an entry: its cause, how to recover, and the input that approves or clears.
 * @param withheld why no command that deletes is offered
 */
function reasonOf(facts: DecidedFacts, now: number, withheld: Withheld | undefined): string {
  const cause = withoutStop(causeText(facts));
  const parts = [recoveryText(facts, now), offer(facts, withheld)].filter((part) => part !== '');
  return parts.length === 0
    ? cause
    : [cause, ...parts].map((part) => (/[.!?}]$/.test(part) ? part : `${part}.`)).join(' ');
}
