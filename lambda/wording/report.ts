import type { DecidedFacts, PolicyEntry, Report, ReportFacts } from '../facts/report-schema.ts';
import { percentOf } from '../policy/percentage.ts';
import { causeText, withoutStop } from './causes.ts';
import { checkWords, type Place } from './checks.ts';
import { noteText } from './notes.ts';
import { recoveryText } from './recovery.ts';

/** A report with its words: what the facts are in English, for whoever reads the JSON and for every message. */
export function worded(facts: ReportFacts, place: Place = 'lambda'): Report {
  const { cause, notes, preflight, policies, ...rest } = facts;
  const now = Date.parse(facts.finishedAt);
  return {
    ...rest,
    ...(cause && { error: causeText({ ...nothing, cause }), cause }),
    ...(notes.length > 0 && { notes: notes.map(noteText), noteFacts: notes }),
    ...(preflight && { preflight: preflight.map((check) => ({ ...check, ...checkWords(check, place, now) })) }),
    policies: policies.map((entry) => wordedEntry(entry, now)),
  };
}

/** A run's error is about no index. */
const nothing = { entityType: '', aspect: '', outcome: 'failed' } as const;

/** The same for one policy, told before its run has ended. */
export function wordedEntry(facts: DecidedFacts, now: number): PolicyEntry {
  const { outcome, cause, cutoffMillis, rowsTotal, rowsToDelete, ...rest } = facts;
  return {
    ...rest,
    ...(cutoffMillis !== undefined && { cutoff: new Date(cutoffMillis).toISOString(), cutoffMillis }),
    outcome,
    cause,
    reason: reasonOf(facts, now),
    ...(rowsTotal !== undefined && { rowsTotal }),
    ...(rowsToDelete !== undefined && { rowsToDelete }),
    ...(rowsTotal !== undefined && rowsToDelete !== undefined && { percent: percentOf(rest.rowsPastRetention ?? rowsToDelete, rowsTotal) }),
  };
}

/** The whole story of an entry: its cause, how to recover, and the input that approves or clears. */
export function reasonOf(facts: DecidedFacts, now: number): string {
  const parts = [withoutStop(causeText(facts)), recoveryText(facts, now), offer(facts)].filter((part) => part !== '');
  return parts.length === 1 ? (parts[0] ?? '') : parts.map((part) => (/[.!?}]$/.test(part) ? part : `${part}.`)).join(' ');
}

/** The input of an execution that a person may start, in the words that messages use for it. */
function offer(facts: DecidedFacts): string {
  const name = `${facts.entityType}.${facts.aspect}`;
  const { cause, outcome } = facts;
  if (cause.kind === 'above-ceiling') {
    const input = { mode: 'enforce', only: [name], approveRows: cause.approveRows };
    return `To approve it once, which deletes these rows: ${JSON.stringify(input)}`;
  }
  if (outcome === 'rows-missing' || outcome === 'quarantined') {
    const input = { clear: [name] };
    return `The index stays closed to truncation until you clear it, which counts its rows first and truncates nothing: ${JSON.stringify(input)}`;
  }
  return '';
}
