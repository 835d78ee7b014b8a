import type { Outcome, Urgency } from '../facts/outcomes.ts';
import { date, exact } from './numbers.ts';

/** What an outcome is called when several policies are counted together. */
export const outcomeWords: Record<Outcome, string> = {
  truncated: 'truncated',
  'would-truncate': 'would be truncated',
  'below-threshold': 'below the threshold',
  'nothing-to-delete': 'with nothing to delete',
  disabled: 'switched off',
  'above-ceiling': 'blocked by the ceiling',
  'in-flight': 'with another truncation unfinished',
  quarantined: 'in quarantine',
  'still-running': 'still running',
  incomplete: 'incomplete',
  emptied: 'emptied by others',
  'not-started': 'not started',
  failed: 'failed',
  unknown: 'in an unknown state',
  'rows-missing': 'with rows missing',
};

/** How urgent something is, in the words of the runbook. `before` is the moment at which something is lost for good. */
export function urgencyText(urgency: Urgency, before?: number): string {
  switch (urgency) {
    case 'act':
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
