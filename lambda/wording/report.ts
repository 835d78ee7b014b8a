import type { DecidedFacts, PolicyEntry, Report, ReportFacts } from '../facts/report-schema.ts';
import { percentOf } from '../policy/percentage.ts';
import { causeText } from './causes.ts';
import { checkWords, type Place } from './checks.ts';
import { noteText } from './notes.ts';
import { iso } from './numbers.ts';
import { withoutStop } from './punctuation.ts';
import { recoveryText } from './recovery.ts';

/** Adds the wording to a report: its facts in English, for readers of the JSON and for every message. */
export function worded(facts: ReportFacts, place: Place = 'lambda'): Report {
  const { cause, notes, preflight, policies, ...rest } = facts;
  const now = Date.parse(facts.finishedAt);
  const isFailedPreview = facts.mode === 'preview' && facts.result === 'failed';
  return {
    ...rest,
    ...(cause && { error: causeText({ ...nothing, cause }), cause }),
    ...(notes.length > 0 && { notes: notes.map(noteText), noteFacts: notes }),
    ...(preflight && { preflight: preflight.map((check) => ({ ...check, ...checkWords(check, place, now) })) }),
    policies: policies.map((entry) => wordedEntry(entry, now, isFailedPreview)),
  };
}

/** A run's error does not concern a single index. */
const nothing = { entityType: '', aspect: '', outcome: 'failed' } as const;

/**
 * The same for one policy, which may be shown before its run has ended.
 * @param now real time, epoch milliseconds
 */
export function wordedEntry(facts: DecidedFacts, now: number, isFailedPreview = false): PolicyEntry {
  const { outcome, cause, cutoffMillis, rowsTotal, rowsToDelete, ...rest } = facts;
  return {
    ...rest,
    ...(cutoffMillis !== undefined && { cutoff: iso(cutoffMillis), cutoffMillis }),
    outcome,
    cause,
    reason: reasonOf(facts, now, isFailedPreview),
    ...(rowsTotal !== undefined && { rowsTotal }),
    ...(rowsToDelete !== undefined && { rowsToDelete }),
    ...(rowsTotal !== undefined &&
      rowsToDelete !== undefined && { percent: percentOf(rest.rowsPastRetention ?? rowsToDelete, rowsTotal) }),
  };
}

/**
 * The whole story of an entry: its cause, how to recover, and the input that approves or clears.
 * @param isFailedPreview then no enforcing step is offered
 */
function reasonOf(facts: DecidedFacts, now: number, isFailedPreview: boolean): string {
  const cause = withoutStop(causeText(facts));
  const parts = [recoveryText(facts, now), offer(facts, isFailedPreview)].filter((part) => part !== '');
  return parts.length === 0
    ? cause
    : [cause, ...parts].map((part) => (/[.!?}]$/.test(part) ? part : `${part}.`)).join(' ');
}

/** The input of an execution that someone may start, as messages word it. */
function offer(facts: DecidedFacts, isFailedPreview: boolean): string {
  const name = `${facts.entityType}.${facts.aspect}`;
  const { cause, outcome } = facts;
  if (cause.kind === 'above-ceiling' && !isFailedPreview) {
    const input = { mode: 'enforce', only: [name], approveRows: cause.approveRows };
    return `To approve it once, which deletes these rows: ${JSON.stringify(input)}`;
  }
  if (outcome === 'rows-missing' || outcome === 'quarantined') {
    const input = { clear: [name] };
    return `The index stays closed to truncation until you clear it, which counts its rows, opens it if they are all there, and truncates nothing: ${JSON.stringify(input)}`;
  }
  return '';
}
