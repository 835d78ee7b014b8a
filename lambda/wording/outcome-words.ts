import type { Outcome } from '../facts/outcome.ts';

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
