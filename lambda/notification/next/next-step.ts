import type { Cause } from '../../facts/cause.ts';
import type { Note } from '../../facts/note.ts';
import type { Outcome } from '../../facts/outcomes.ts';
import type { ServerError } from '../../facts/server-error.ts';

/**
 * What to do next, as data: derived from kinds and numbers, never from words. `steps.ts` words it for the place where
 * the message is read.
 */
export type NextStep =
  /** Nothing to do, or the message says it elsewhere. */
  | { kind: 'none' }
  /** The job continues by itself. */
  | { kind: 'wait'; why: 'retries' | 'in-flight' | 'watches' | 'orders' | 'begins-anew' }
  /** Deletes rows. `not`: why it is not offered now. */
  | { kind: 'approve'; rows: number; not?: 'failed-preview' | 'loss' }
  /** Counts an index and opens it if it is whole. */
  | { kind: 'clear'; after: 'repair' | 'refresh' | 'look' | 'answer' | 'end'; until?: number }
  /** Opens an index although rows are missing or cannot be counted, or its task still runs. */
  | { kind: 'accept'; rows?: number; running?: boolean }
  /** The record was written for another address, by another version, or by a clock that was ahead. */
  | { kind: 'adopt'; from: 'address' | 'version' | 'clock' }
  /** A delete by query may be stopped; a reindex must not be. */
  | { kind: 'watch'; cancel: boolean }
  | { kind: 'ask-cluster'; about: 'remainder' | 'restart' | 'hang' | 'tasks' }
  | { kind: 'find-others' }
  | { kind: 'resume' }
  | { kind: 'renew-token' }
  /** The remedy of a failed request. */
  | { kind: 'mend'; error: ServerError }
  | { kind: 'grant-sizes' }
  | { kind: 'correct'; what: 'policy' | 'input' | 'clock' | 'parameter' | 'ledger' | 'memory' }
  | { kind: 'see-log'; step: 'plan' | 'truncate' | 'poll' }
  | { kind: 'lighten' };

const nothing: NextStep = { kind: 'none' };
const retries: NextStep = { kind: 'wait', why: 'retries' };
const watches: NextStep = { kind: 'wait', why: 'watches' };

/** What else a next step depends on. */
export interface Circumstances {
  strategy?: string | undefined;
  /** Why no deleting step is offered: something failed in this preview, or rows are missing in some index. */
  withheld?: 'failed-preview' | 'loss' | undefined;
}

/** The next step after an outcome that is not ok. */
export function nextStep(outcome: Outcome, cause: Cause, { strategy, withheld }: Circumstances = {}): NextStep {
  switch (outcome) {
    case 'above-ceiling':
      if (cause.kind !== 'above-ceiling') return nothing;
      return { kind: 'approve', rows: cause.approveRows, ...(withheld && { not: withheld }) };
    case 'rows-missing':
      return { kind: 'clear', after: cause.kind === 'not-refreshed' ? 'refresh' : 'repair' };
    case 'quarantined':
      return afterQuarantine(cause);
    case 'in-flight':
      return afterInFlight(cause);
    case 'still-running':
      return afterWatching(cause, strategy);
    case 'incomplete':
      return afterIncomplete(cause);
    case 'not-started':
      return afterNotStarted(cause);
    case 'unknown':
      return afterUnknown(cause);
    case 'failed':
      return afterFailure(cause);
    default:
      // For `emptied` the cause says how to recover.
      return nothing;
  }
}

function afterQuarantine(cause: Cause): NextStep {
  if (cause.kind === 'foreign') return { kind: 'adopt', from: cause.why };
  if (cause.kind !== 'quarantined') return { kind: 'clear', after: 'look' };
  if (cause.unseen) return { kind: 'clear', after: 'refresh' };
  return { kind: 'clear', after: cause.outcome === 'rows-missing' || cause.outcome === 'emptied' ? 'repair' : 'look' };
}

function afterInFlight(cause: Cause): NextStep {
  if (cause.kind === 'foreign') return { kind: 'adopt', from: cause.why };
  return { kind: 'wait', why: 'in-flight' };
}

function afterWatching(cause: Cause, strategy: string | undefined): NextStep {
  if (cause.kind !== 'watching') return watches;
  if (cause.error) return afterServerError(cause.error, watches);
  // The run's error contains the step.
  if (cause.why === 'server') return nothing;
  if (cause.ended || cause.why === 'other-version') return watches;
  // An old server reindexes what it was asked to delete: only a task that was seen to delete may be stopped.
  return { kind: 'watch', cancel: strategy === 'delete-by-query' && cause.does === 'delete' };
}

function afterIncomplete(cause: Cause): NextStep {
  // The cause says how to make its rows visible.
  if (cause.kind === 'not-refreshed') return nothing;
  return cause.kind === 'remains' && cause.why === 'conflicts'
    ? { kind: 'find-others' }
    : { kind: 'ask-cluster', about: 'remainder' };
}

function afterNotStarted(cause: Cause): NextStep {
  switch (cause.kind) {
    case 'paused':
      return cause.problem === undefined ? { kind: 'resume' } : { kind: 'correct', what: 'parameter' };
    // What caused these is reported first.
    case 'run-error':
    case 'breaker':
    case 'no-task-ids':
    case 'other-version':
    case 'duplicate-event':
      return nothing;
    case 'changed':
      return afterChange(cause);
    case 'guard':
      return afterGuard(cause);
    default:
      return retries;
  }
}

function afterChange({ what, now }: Cause & { kind: 'changed' }): NextStep {
  if (what === 'rows') return now === 0 ? { kind: 'find-others' } : retries;
  return what === 'server-strategy' ? retries : { kind: 'wait', why: 'orders' };
}

/** A record that was closed although its end was not seen. */
function closing(cause: Cause): NextStep | undefined {
  if (cause.kind !== 'unsettled' || cause.closed === undefined) return undefined;
  return cause.closed === 'quarantined' ? { kind: 'clear', after: 'look' } : { kind: 'wait', why: 'begins-anew' };
}

function afterUnknown(cause: Cause): NextStep {
  if (cause.kind === 'step-failed') return { kind: 'see-log', step: cause.step };
  const about =
    cause.kind !== 'unsettled' ? 'tasks' : cause.why === 'hung' ? 'hang' : cause.vanished ? 'restart' : 'tasks';
  return closing(cause) ?? { kind: 'ask-cluster', about };
}

function afterFailure(cause: Cause): NextStep {
  switch (cause.kind) {
    case 'policy':
      return { kind: 'correct', what: 'policy' };
    case 'run-error':
    case 'other-version':
      return nothing;
    case 'server':
      return afterServerError(cause.error, retries);
    case 'unchanged':
      return cause.error ? afterServerError(cause.error, retries) : retries;
    case 'no-time':
      return cause.what === 'plan' ? { kind: 'lighten' } : retries;
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
      return { kind: 'grant-sizes' };
    case 'task-status':
      return error ? afterServerError(error, retries) : retries;
    case 'strategy-unreadable':
      return { kind: 'mend', error: { kind: 'unreadable', operation: 'dry-run' } };
    default:
      return retries;
  }
}

/** @param otherwise for problems that pass by themselves */
export function afterServerError(error: ServerError, otherwise: NextStep): NextStep {
  switch (error.kind) {
    case 'unauthorized':
    case 'token':
      return { kind: 'renew-token' };
    case 'privilege':
    case 'forbidden':
    case 'dns':
    case 'connect':
    case 'tls':
    case 'not-http':
    case 'redirect':
    case 'not-json':
    case 'not-found':
    case 'unreadable':
    case 'no-index':
      return { kind: 'mend', error };
    case 'bad-request':
      return error.operation === 'dry-run' ? { kind: 'mend', error } : otherwise;
    case 'server-error':
      // A real truncate is watched to find out what became of it.
      return error.operation === 'dry-run' ? { kind: 'mend', error } : otherwise;
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
      return { kind: 'correct', what: 'parameter' };
    case 'ledger':
      return { kind: 'correct', what: 'ledger' };
    case 'input':
      return { kind: 'correct', what: 'input' };
    // Its sentence says what to do.
    case 'no-policy':
      return nothing;
    case 'step-failed':
      return { kind: 'see-log', step: cause.step };
    case 'other-version':
    case 'other-server':
      return watches;
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
    case 'memory-unavailable':
      return { kind: 'correct', what: 'memory' };
    case 'no-sizes':
      return afterServerError(note.error, nothing);
    case 'not-released':
      return afterRefusal(note);
    default:
      return nothing;
  }
}

function afterRefusal({ why, rowsMissing, unreadable, until }: Note & { kind: 'not-released' }): NextStep {
  switch (why) {
    case 'rows-missing':
      return rowsMissing === undefined ? { kind: 'clear', after: 'repair' } : { kind: 'accept', rows: rowsMissing };
    case 'uncounted':
      return { kind: 'accept' };
    case 'unresolved':
      return until === undefined ? { kind: 'accept' } : { kind: 'clear', after: 'end', until };
    case 'running':
      return { kind: 'accept', rows: Math.max(1, rowsMissing ?? 0), running: true };
    case 'taken':
    case 'clock':
    case 'server':
    case 'ledger':
      return unreadable ? nothing : { kind: 'clear', after: 'answer' };
  }
}
