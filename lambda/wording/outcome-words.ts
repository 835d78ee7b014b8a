import { type Outcome, outcomes, type Urgency } from '../facts/outcomes.ts';
import { date, exact } from './numbers.ts';

/** Every outcome in words: without a cause, after a number (`3 failed`, `3 indices failed`), and in a subject. */
const words: Record<Outcome, { alone: string; counted: string; inSubject: string }> = {
  'rows-missing': {
    alone: 'rows newer than the cutoff disappeared',
    counted: 'with rows missing',
    inSubject: 'ROWS MISSING',
  },
  emptied: {
    alone: 'the index lost most of its rows, and not through this job',
    counted: 'emptied by others',
    inSubject: 'EMPTIED',
  },
  quarantined: { alone: 'closed until a person clears it', counted: 'in quarantine', inSubject: 'quarantine' },
  unknown: {
    alone: 'a truncation may have started; its state is unknown',
    counted: 'in an unknown state',
    inSubject: 'truncation unclear',
  },
  failed: { alone: 'nothing was started', counted: 'failed', inSubject: 'failed' },
  'above-ceiling': {
    alone: 'blocked by the ceiling',
    counted: 'blocked by the ceiling',
    inSubject: 'above the ceiling',
  },
  incomplete: { alone: 'the task ended, but rows to delete remain', counted: 'incomplete', inSubject: 'incomplete' },
  'not-started': { alone: 'due, but not started', counted: 'not started', inSubject: 'not started' },
  'in-flight': {
    alone: 'another truncation of this index is unresolved',
    counted: 'with another truncation unfinished',
    inSubject: 'busy',
  },
  'still-running': {
    alone: 'the run ended first; the next run goes on watching',
    counted: 'still running',
    inSubject: 'still running',
  },
  truncated: { alone: 'truncated and verified', counted: 'truncated', inSubject: 'truncated' },
  'would-truncate': {
    alone: 'a real run would truncate it',
    counted: 'would be truncated',
    inSubject: 'would be truncated',
  },
  'below-threshold': { alone: 'not worth it yet', counted: 'below the threshold', inSubject: 'below the threshold' },
  'nothing-to-delete': {
    alone: 'nothing is older than its retention',
    counted: 'with nothing to delete',
    inSubject: 'nothing to delete',
  },
  disabled: { alone: 'the policy is switched off', counted: 'switched off', inSubject: 'switched off' },
};

const each = (form: 'alone' | 'counted' | 'inSubject') =>
  Object.fromEntries(outcomes.map((outcome) => [outcome, words[outcome][form]])) as Record<Outcome, string>;

/** What an outcome says if its cause says nothing. */
export const outcomeAlone = each('alone');
/** What an outcome is called after a number of policies or indices. */
export const outcomeWords = each('counted');
/** What an outcome is called in a subject, before `in` and the name of an index. */
export const outcomeInSubject = each('inSubject');

/**
 * When something is lost for good unless someone acts: at a given time, or when the only snapshots with it are gone.
 */
export type Before = number | 'snapshots-expire';

/** How urgent something is, in the words of the runbook. */
export function urgencyText(urgency: Urgency, before?: Before): string {
  switch (urgency) {
    case 'act':
      if (before === 'snapshots-expire') return 'act before the snapshots with the rows expire';
      return before === undefined ? 'act before any DataHub upgrade' : `act before ${date(before)}`;
    case 'week':
      return 'this week';
    case 'change':
      return 'when you next change something';
    case 'nothing':
      return 'nothing to do';
  }
}

/**
 * `second night`; empty for the first one.
 * @param now the run's start: the next night's comes less than a day after a verdict, a run by hand within a few hours
 */
export function nightText(since: number, now: number): string {
  const night = Math.floor((now - since) / 86_400_000 + 0.75) + 1;
  if (!(night > 1)) return '';
  return ['second', 'third', 'fourth', 'fifth'][night - 2]?.concat(' night') ?? `for ${exact(night)} nights now`;
}
