import type { Cause } from '../facts/cause.ts';
import type { Note } from '../facts/note.ts';
import type { Outcome } from '../facts/outcome.ts';
import type { OperationName, ServerError } from '../facts/server-error.ts';

/**
 * What a person does next, as data: read from kinds and numbers, never from words. `steps.ts` says it for the place in which
 * the message is read.
 */
export type NextStep =
  /** Nothing is to be done, or it is told elsewhere in the message. */
  | { kind: 'none' }
  /** The next run goes on by itself. */
  | { kind: 'wait'; why: 'retries' | 'in-flight' | 'watches' | 'rest' }
  | { kind: 'approve'; rows: number }
  | { kind: 'clear'; repair: boolean; accept?: number }
  /** A delete by query may be stopped; a reindex must not be. */
  | { kind: 'watch'; cancel: boolean }
  | { kind: 'ask-cluster'; about: 'task' | 'tasks' | 'restart' }
  | { kind: 'resume' }
  | { kind: 'renew-token' }
  | { kind: 'grant'; operation: OperationName }
  | { kind: 'open-gateway' }
  | { kind: 'check-address' }
  | { kind: 'correct'; what: 'policy' | 'input' | 'clock' | 'parameter' }
  | { kind: 'see-log'; step: 'plan' | 'truncate' | 'poll' }
  | { kind: 'fewer-policies' }
  | { kind: 'own-ledger' };

const nothing: NextStep = { kind: 'none' };
const retries: NextStep = { kind: 'wait', why: 'retries' };

/** The next step after an outcome that is not ok. */
export function nextStep(outcome: Outcome, cause: Cause, strategy?: string): NextStep {
  switch (outcome) {
    case 'above-ceiling':
      return cause.kind === 'above-ceiling' ? { kind: 'approve', rows: cause.approveRows } : nothing;
    case 'quarantined':
    case 'rows-missing':
      return isElsewhere(cause) ? { kind: 'own-ledger' } : { kind: 'clear', repair: outcome === 'rows-missing' };
    case 'emptied':
      // Its recovery is told with the cause.
      return nothing;
    case 'in-flight':
      return isElsewhere(cause) ? { kind: 'own-ledger' } : { kind: 'wait', why: 'in-flight' };
    case 'still-running':
      return afterWatching(cause, strategy);
    case 'incomplete':
      return cause.kind === 'not-refreshed' ? nothing : { kind: 'ask-cluster', about: 'task' };
    case 'not-started':
      return afterNotStarted(cause);
    case 'lost':
      return { kind: 'ask-cluster', about: 'restart' };
    case 'unknown':
      return cause.kind === 'step-failed' ? { kind: 'see-log', step: cause.step } : { kind: 'ask-cluster', about: 'tasks' };
    case 'failed':
      return afterFailure(cause);
    default:
      return nothing;
  }
}

/** The record was written for another address. */
const isElsewhere = (cause: Cause): boolean =>
  (cause.kind === 'held' || cause.kind === 'quarantined') && cause.address !== undefined;

function afterWatching(cause: Cause, strategy: string | undefined): NextStep {
  if (cause.kind !== 'watching') return { kind: 'wait', why: 'watches' };
  if (cause.error) return afterServerError(cause.error, { kind: 'wait', why: 'watches' });
  // The run's error has the step.
  if (cause.why === 'server') return nothing;
  if (cause.ended || cause.why === 'other-version') return { kind: 'wait', why: 'watches' };
  return { kind: 'watch', cancel: strategy === 'delete-by-query' };
}

function afterNotStarted(cause: Cause): NextStep {
  switch (cause.kind) {
    case 'paused':
      return cause.problem === undefined ? { kind: 'resume' } : nothing;
    case 'run-error':
    case 'breaker':
      // What opened it is told first.
      return nothing;
    default:
      return retries;
  }
}

function afterFailure(cause: Cause): NextStep {
  switch (cause.kind) {
    case 'policy':
      return { kind: 'correct', what: 'policy' };
    case 'run-error':
      return nothing;
    case 'not-listed':
      return { kind: 'fewer-policies' };
    case 'server':
      return afterServerError(cause.error, retries);
    case 'unchanged':
      return cause.error ? afterServerError(cause.error, retries) : retries;
    case 'no-time':
      return cause.what === 'plan' ? { kind: 'fewer-policies' } : retries;
    case 'guard':
      return afterGuard(cause);
    case 'step-failed':
      return { kind: 'see-log', step: cause.step };
    default:
      return retries;
  }
}

function afterGuard({ which, error }: Cause & { kind: 'guard' }): NextStep {
  switch (which) {
    case 'server-clock':
    case 'start-in-future':
      return { kind: 'correct', what: 'clock' };
    case 'floor':
    case 'index-concrete':
    case 'reindex-refused':
    case 'bite-reindex':
      return { kind: 'correct', what: 'policy' };
    case 'index-name-unknown':
      return { kind: 'grant', operation: 'index-sizes' };
    case 'task-status':
      return error ? afterServerError(error, retries) : retries;
    case 'strategy-unreadable':
      return { kind: 'check-address' };
    default:
      return retries;
  }
}

/** @param otherwise for what passes by itself */
export function afterServerError({ kind, operation }: ServerError, otherwise: NextStep): NextStep {
  switch (kind) {
    case 'unauthorized':
    case 'token':
      return { kind: 'renew-token' };
    case 'privilege':
      return { kind: 'grant', operation };
    case 'forbidden':
      return { kind: 'open-gateway' };
    case 'dns':
    case 'connect':
    case 'tls':
    case 'not-http':
    case 'redirect':
    case 'not-json':
    case 'not-found':
    case 'unreadable':
      return { kind: 'check-address' };
    case 'no-index':
    case 'bad-request':
      return operation === 'dry-run' ? { kind: 'correct', what: 'policy' } : otherwise;
    default:
      return otherwise;
  }
}

/** What to do about a run that could not do its work. */
export function runErrorStep(cause: Cause | undefined): NextStep {
  switch (cause?.kind) {
    case 'server':
      return afterServerError(cause.error, retries);
    case 'parameters':
    case 'no-policy':
      return { kind: 'correct', what: 'parameter' };
    case 'input':
      return { kind: 'correct', what: 'input' };
    case 'step-failed':
      return { kind: 'see-log', step: cause.step };
    default:
      return retries;
  }
}

/** What to do about a note; `none` for one that only informs. */
export function noteStep(note: Note): NextStep {
  switch (note.kind) {
    case 'token-expires':
    case 'token-expired':
      return { kind: 'renew-token' };
    case 'no-sizes':
      return afterServerError(note.error, nothing);
    case 'not-released': {
      if (note.why === 'server' && note.error) return afterServerError(note.error, retries);
      const accept = note.why === 'uncounted' ? 1 : note.rowsMissing;
      return note.why === 'rows-missing' || note.why === 'uncounted'
        ? { kind: 'clear', repair: true, ...(accept !== undefined && { accept }) }
        : nothing;
    }
    default:
      return nothing;
  }
}

