import { describe, expect, test } from 'vitest';
import type { Cause } from '../../../lambda/facts/cause.ts';
import type { Outcome } from '../../../lambda/facts/outcomes.ts';
import { breakerOf } from '../../../lambda/run/breaker.ts';

const opens = (outcome: Outcome, cause: Cause) =>
  breakerOf({ entityType: 'dataset', aspect: 'operation', outcome, cause });
const open = (outcome: Outcome) => ({ kind: 'stopped', by: 'breaker', index: 'dataset.operation', outcome });
const error = (status: number) => ({ kind: 'unauthorized', operation: 'truncate', status }) as const;

describe('the circuit breaker', () => {
  test.each<[string, Outcome, Cause, unknown]>([
    ['rows are missing', 'rows-missing', { kind: 'missing', expected: 2, found: 1 }, open('rows-missing')],
    ['the end of a copy is unknown', 'unknown', { kind: 'unsettled', why: 'status', copied: true }, open('unknown')],
    [
      'a call returned a 401',
      'failed',
      { kind: 'unchanged', error: error(401) },
      { kind: 'stopped', by: 'no-task-ids', status: 401 },
    ],
    [
      'a call returned a 403',
      'failed',
      { kind: 'unchanged', error: error(403) },
      { kind: 'stopped', by: 'no-task-ids', status: 403 },
    ],
  ])('opens if %s', (_, outcome, cause, expected) => {
    expect(opens(outcome, cause)).toEqual(expected);
  });

  test.each<[string, Outcome, Cause]>([
    ['rows went missing between two nights', 'rows-missing', { kind: 'missing', expected: 40, found: 1, since: 1 }],
    ['the end of a delete is unknown', 'unknown', { kind: 'unsettled', why: 'still' }],
    ['a delete hangs', 'unknown', { kind: 'unsettled', why: 'hung' }],
    ['an old delete is closed', 'unknown', { kind: 'unsettled', why: 'still', closed: 'idle' }],
    ['an old copy is closed', 'unknown', { kind: 'unsettled', why: 'index', copied: true, closed: 'quarantined' }],
    ['a call returned a 500', 'failed', { kind: 'unchanged', error: error(500) }],
    ['a call returned nothing', 'failed', { kind: 'unchanged' }],
    ['a dry run was refused', 'failed', { kind: 'server', error: error(403), sent: 'no' }],
    ['rows remain', 'incomplete', { kind: 'remains', why: 'rows' }],
    ['all is well', 'truncated', { kind: 'verified', by: 'counts' }],
  ])('does not open, so that the run goes on, if %s', (_, outcome, cause) => {
    expect(opens(outcome, cause)).toBeUndefined();
  });
});
