import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Cause, causeSchema } from '../../../../lambda/facts/cause.ts';
import { type Note, noteSchema } from '../../../../lambda/facts/note.ts';
import { type Outcome, outcomes, resultOf } from '../../../../lambda/facts/outcomes.ts';
import type { ServerError, ServerErrorKind } from '../../../../lambda/facts/server-error.ts';
import {
  type Circumstances,
  type NextStep,
  nextStep,
  noteStep,
  runErrorStep,
} from '../../../../lambda/notification/next/next-step.ts';
import { valuesOf } from '../../../support/arbitrary.ts';

/** What to do next, from kinds and numbers alone. */

const error = (kind: ServerErrorKind, operation: ServerError['operation'] = 'dry-run'): ServerError => ({
  kind,
  operation,
});
const server = (kind: ServerErrorKind, operation?: ServerError['operation']): Cause => ({
  kind: 'server',
  error: error(kind, operation),
  sent: 'no',
});
const none: NextStep = { kind: 'none' };
const retries: NextStep = { kind: 'wait', why: 'retries' };

describe('the next step after', () => {
  test.each<[Outcome, Cause, NextStep, Circumstances?]>([
    // Blocked on purpose
    ['above-ceiling', { kind: 'above-ceiling', approveRows: 105 }, { kind: 'approve', rows: 105 }],
    [
      'above-ceiling',
      { kind: 'above-ceiling', approveRows: 105 },
      { kind: 'approve', rows: 105, not: 'loss' },
      { withheld: 'loss' },
    ],
    ['not-started', { kind: 'paused' }, { kind: 'resume' }],
    ['not-started', { kind: 'paused', problem: 'SSM refuses' }, { kind: 'correct', what: 'parameter' }],
    ['not-started', { kind: 'breaker', index: 'a.b', outcome: 'unknown' }, none],
    ['not-started', { kind: 'no-task-ids', status: 403 }, none],
    ['not-started', { kind: 'changed', what: 'policy-removed' }, { kind: 'wait', why: 'orders' }],
    ['not-started', { kind: 'changed', what: 'retentionDays', was: 30, now: 31 }, { kind: 'wait', why: 'orders' }],
    ['not-started', { kind: 'changed', what: 'rows', was: 9, now: 0 }, { kind: 'find-others' }],
    ['not-started', { kind: 'changed', what: 'rows', was: 9, now: 12 }, retries],
    ['not-started', { kind: 'changed', what: 'rows' }, retries],
    ['not-started', { kind: 'changed', what: 'server-strategy', was: 'delete-by-query', now: 'reindex' }, retries],
    ['not-started', { kind: 'guard', which: 'index-young' }, retries],
    ['not-started', { kind: 'guard', which: 'task-status', error: error('timeout', 'task-status') }, retries],
    ['not-started', { kind: 'no-time', what: 'send' }, retries],

    // The index is not free
    ['in-flight', { kind: 'held', state: 'running', runId: 'x' }, { kind: 'wait', why: 'in-flight' }],
    ['in-flight', { kind: 'foreign', why: 'address', address: 'http://a' }, { kind: 'adopt', from: 'address' }],
    ['in-flight', { kind: 'foreign', why: 'version', version: 9 }, { kind: 'adopt', from: 'version' }],
    ['in-flight', { kind: 'foreign', why: 'clock', until: 9 }, { kind: 'adopt', from: 'clock' }],
    ['in-flight', { kind: 'taken', closed: true }, { kind: 'wait', why: 'in-flight' }],
    ['quarantined', { kind: 'quarantined', since: 1, outcome: 'rows-missing' }, { kind: 'clear', after: 'repair' }],
    ['quarantined', { kind: 'quarantined', since: 1, outcome: 'unknown' }, { kind: 'clear', after: 'look' }],
    [
      'quarantined',
      { kind: 'quarantined', since: 1, outcome: 'rows-missing', unseen: true },
      { kind: 'clear', after: 'refresh' },
    ],
    ['quarantined', { kind: 'foreign', why: 'address' }, { kind: 'adopt', from: 'address' }],

    // Verdicts
    ['rows-missing', { kind: 'rows-missing', expected: 9, found: 1 }, { kind: 'clear', after: 'repair' }],
    ['rows-missing', { kind: 'gone-since', expected: 9, found: 1, since: 1 }, { kind: 'clear', after: 'repair' }],
    ['rows-missing', { kind: 'not-refreshed' }, { kind: 'clear', after: 'refresh' }],
    ['emptied', { kind: 'emptied', rowsBefore: 9, nights: 2 }, none],
    ['incomplete', { kind: 'remains', why: 'rows' }, { kind: 'ask-cluster', about: 'remainder' }],
    ['incomplete', { kind: 'remains', why: 'conflicts', conflicts: 9 }, { kind: 'find-others' }],
    ['incomplete', { kind: 'not-refreshed' }, none],
    ['unknown', { kind: 'unsettled', why: 'still' }, { kind: 'ask-cluster', about: 'tasks' }],
    ['unknown', { kind: 'unsettled', why: 'still', vanished: true }, { kind: 'ask-cluster', about: 'restart' }],
    ['unknown', { kind: 'unsettled', why: 'hung' }, { kind: 'ask-cluster', about: 'hang' }],
    ['unknown', { kind: 'unsettled', why: 'status', copied: true }, { kind: 'ask-cluster', about: 'tasks' }],
    ['unknown', { kind: 'unsettled', why: 'hung', closed: 'idle' }, { kind: 'wait', why: 'begins-anew' }],
    ['unknown', { kind: 'unsettled', why: 'status', closed: 'quarantined' }, { kind: 'clear', after: 'look' }],
    ['unknown', { kind: 'unsettled', why: 'uncountable', closed: 'quarantined' }, { kind: 'clear', after: 'look' }],
    ['unknown', { kind: 'unsettled', why: 'no-record' }, { kind: 'ask-cluster', about: 'tasks' }],
    [
      'unknown',
      { kind: 'step-failed', step: 'truncate', error: 'x', sent: 'maybe' },
      { kind: 'see-log', step: 'truncate' },
    ],
    [
      'still-running',
      { kind: 'watching', why: 'run', does: 'delete' },
      { kind: 'watch', cancel: true },
      { strategy: 'delete-by-query' },
    ],
    ['still-running', { kind: 'watching', why: 'run' }, { kind: 'watch', cancel: false }, { strategy: 'reindex' }],
    ['still-running', { kind: 'watching', why: 'run' }, { kind: 'watch', cancel: false }, { strategy: 'unknown' }],
    ['still-running', { kind: 'watching', why: 'run', ended: true }, { kind: 'wait', why: 'watches' }],
    ['still-running', { kind: 'watching', why: 'other-version' }, { kind: 'wait', why: 'watches' }],
    ['still-running', { kind: 'watching', why: 'server' }, none],
    [
      'still-running',
      { kind: 'watching', why: 'run', error: error('privilege', 'task-status') },
      { kind: 'mend', error: error('privilege', 'task-status') },
    ],

    // Failed
    ['failed', { kind: 'policy', problem: 'x' }, { kind: 'correct', what: 'policy' }],
    ['failed', { kind: 'run-error' }, none],
    ['failed', { kind: 'no-time', what: 'plan' }, { kind: 'lighten' }],
    ['failed', { kind: 'no-time', what: 'send' }, retries],
    [
      'failed',
      { kind: 'step-failed', step: 'truncate', error: 'x', sent: 'no' },
      { kind: 'see-log', step: 'truncate' },
    ],
    ['failed', { kind: 'spent' }, retries],
    ['failed', { kind: 'guard', which: 'server-clock', found: 9 }, { kind: 'correct', what: 'clock' }],
    ['failed', { kind: 'guard', which: 'floor' }, { kind: 'correct', what: 'policy' }],
    ['failed', { kind: 'guard', which: 'index-name-unknown' }, { kind: 'grant-sizes' }],
    ['failed', { kind: 'guard', which: 'index-young' }, retries],
    [
      'failed',
      { kind: 'guard', which: 'task-status', error: error('privilege', 'task-status') },
      { kind: 'mend', error: error('privilege', 'task-status') },
    ],
    ['failed', server('unauthorized'), { kind: 'renew-token' }],
    ['failed', server('privilege'), { kind: 'mend', error: error('privilege') }],
    ['failed', server('forbidden'), { kind: 'mend', error: error('forbidden') }],
    ['failed', server('no-index'), { kind: 'mend', error: error('no-index') }],
    ['failed', server('timeout'), retries],
    ['failed', server('throttled'), retries],
    [
      'failed',
      { kind: 'unchanged', error: error('forbidden', 'truncate') },
      { kind: 'mend', error: error('forbidden', 'truncate') },
    ],
    ['failed', { kind: 'unchanged', error: error('server-error', 'truncate') }, retries],
    ['failed', { kind: 'unchanged' }, retries],
  ])('%s because of %j is %j', (outcome, cause, step, circumstances) => {
    expect(nextStep(outcome, cause, circumstances)).toEqual(step);
  });

  test("a server's words never matter: a query that speaks of a token is not about our token", () => {
    const cause = (text: string): Cause => ({
      kind: 'server',
      error: { kind: 'server-error', operation: 'dry-run', status: 500, text },
      sent: 'no',
    });
    const step = nextStep('failed', cause("Unrecognized token 'foo'"));
    expect(step).toMatchObject({ kind: 'mend', error: { kind: 'server-error' } });
    expect(nextStep('failed', cause('x'))).toMatchObject({ kind: step.kind });
  });

  test.each(outcomes.filter((outcome) => resultOf[outcome] === 'ok'))('%s is none', (outcome) => {
    expect(nextStep(outcome, { kind: 'run-error' })).toEqual(none);
  });

  test('anything else is never to delete or to accept a loss', () => {
    fc.assert(
      fc.property(valuesOf(causeSchema, fc.string()), fc.constantFrom(...outcomes), (cause, outcome) => {
        const step = nextStep(outcome, cause);
        expect(step.kind).not.toBe('accept');
        if (step.kind === 'approve') expect([outcome, cause.kind]).toEqual(['above-ceiling', 'above-ceiling']);
      }),
    );
  });
});

describe('the next step after a run that failed', () => {
  test.each<[Cause | undefined, NextStep]>([
    [server('unauthorized', 'index-sizes'), { kind: 'renew-token' }],
    [server('connect'), { kind: 'mend', error: error('connect') }],
    [
      { kind: 'parameters', problem: 'x' },
      { kind: 'correct', what: 'parameter' },
    ],
    [
      { kind: 'input', problem: 'x' },
      { kind: 'correct', what: 'input' },
    ],
    [
      { kind: 'ledger', problem: 'x' },
      { kind: 'correct', what: 'ledger' },
    ],
    [{ kind: 'no-policy' }, none],
    [
      { kind: 'step-failed', step: 'plan', error: 'x', sent: 'no' },
      { kind: 'see-log', step: 'plan' },
    ],
    [{ kind: 'other-version' }, { kind: 'wait', why: 'watches' }],
    [
      { kind: 'other-server', now: 'http://b' },
      { kind: 'wait', why: 'watches' },
    ],
    [undefined, retries],
  ])('because of %j is %j', (cause, step) => {
    expect(runErrorStep(cause)).toEqual(step);
  });
});

describe('the next step of a note', () => {
  const refused = (why: (Note & { kind: 'not-released' })['why'], more: object = {}): Note => ({
    kind: 'not-released',
    index: 'a.b',
    why,
    ...more,
  });

  test.each<[Note, NextStep]>([
    [{ kind: 'token-expires', at: 1 }, { kind: 'renew-token' }],
    [{ kind: 'no-date-header' }, none],
    [{ kind: 'no-sizes', error: error('timeout', 'index-sizes') }, none],
    [
      { kind: 'no-sizes', error: error('privilege', 'index-sizes') },
      { kind: 'mend', error: error('privilege', 'index-sizes') },
    ],
    [{ kind: 'released', index: 'a.b', rowsMissing: 9 }, none],
    [refused('rows-missing', { rowsMissing: 9 }), { kind: 'accept', rows: 9 }],
    [refused('uncounted'), { kind: 'accept' }],
    [refused('unresolved', { until: 9 }), { kind: 'clear', after: 'end', until: 9 }],
    [refused('unresolved'), { kind: 'accept' }],
    [refused('running', { rowsMissing: 0 }), { kind: 'accept', rows: 1, running: true }],
    [refused('running', { rowsMissing: 7 }), { kind: 'accept', rows: 7, running: true }],
    [refused('taken'), { kind: 'clear', after: 'answer' }],
    [refused('clock'), { kind: 'clear', after: 'answer' }],
    [refused('server', { error: error('timeout') }), { kind: 'clear', after: 'answer' }],
    [refused('ledger'), { kind: 'clear', after: 'answer' }],
  ])('%j is %j', (note, step) => {
    expect(noteStep(note)).toEqual(step);
  });

  test('only where clearing was refused may a loss be accepted', () => {
    fc.assert(
      fc.property(valuesOf(noteSchema, fc.string()), (note) => {
        if (noteStep(note).kind === 'accept') expect(note.kind).toBe('not-released');
      }),
    );
  });
});
