import * as z from 'zod';
import type { Cause } from '../facts/cause.ts';
import type { Clock } from '../facts/clock.ts';
import { needsAttention } from '../facts/note.ts';
import { knownOutcome, type Result, resultOf, worst } from '../facts/outcomes.ts';
import type { DecidedFacts, Report, ReportFacts } from '../facts/report-schema.ts';
import { capped } from '../facts/text.ts';
import { dottedName } from '../policy/aspects.ts';
import { worded } from '../wording/worded.ts';
import { addressOf, done } from './entries.ts';
import { seen } from './next.ts';
import { fromHead, isOurs, StateUnreadable } from './other-version.ts';
import type { Log, Publisher, RunSettings } from './services.ts';
import type { Entry, RunState } from './state.ts';

/** What the workflow passes to Report: a run state, or what is left of a failed Plan. */
export interface ReportEvent {
  input: unknown;
  execution: { name: string; startTime: string };
}

/** All that this step needs: neither the server nor the ledger. */
export interface ReportServices {
  settings: RunSettings;
  clock: Clock;
  log: Log;
  publisher: Publisher;
  /** Counts the report's results. Alarms must not depend on a message that may be refused, so this comes first. */
  count?(report: Report): void;
  /** Turns facts into English; tests replace it to show that nothing depends on the wording. */
  words?: (facts: ReportFacts) => Report;
}

/** Report: builds the run's report, counts it and publishes it; a retry repeats all of it. Throws only if it could not be published. */
export async function report(event: ReportEvent, services: ReportServices): Promise<Report> {
  const composed = composeReport(event, services);
  const { result, policies, cause } = composed;
  services.log.info('report', { result, policies: policies.length, ...(cause && { cause }) });
  services.count?.(composed);
  await services.publisher.publish(composed);
  return composed;
}

const planFailureSchema = z.object({
  failure: z.object({ step: z.literal('plan'), error: z.string().transform((name) => capped(name)) }),
  /** The execution's input, which holds its mode. */
  input: z
    .object({ mode: z.enum(['enforce', 'preview']).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/** Builds a report from whatever the workflow passes in, because a silent run is the worst outcome. */
export function composeReport(
  { input, execution }: ReportEvent,
  services: Pick<ReportServices, 'settings' | 'clock' | 'words'>,
): Report {
  const { settings, clock, words = worded } = services;
  const finishedAt = new Date(clock.realNow()).toISOString();
  const planFailure = planFailureSchema.safeParse(input);
  const nothing = (mode: ReportFacts['mode'], cause: Cause): ReportFacts => ({
    version: 1,
    runId: execution.name,
    stage: settings.stage,
    server: addressOf(settings),
    mode,
    startedAt: new Date(execution.startTime).toISOString(),
    finishedAt,
    result: 'failed',
    cause,
    notes: [],
    policies: [],
    unmanagedIndices: [],
  });
  if (planFailure.success) {
    const { failure, input: given } = planFailure.data;
    return words(nothing(given?.mode ?? settings.mode, { ...failure, kind: 'step-failed', sent: 'no' }));
  }
  try {
    return words(factsOf(isOurs(input, services) ? input : fromHead(input, services), finishedAt));
  } catch (error) {
    if (!(error instanceof StateUnreadable)) throw error;
    return words(nothing(settings.mode, { kind: 'foreign', why: 'version', deployed: true }));
  }
}

function factsOf(state: RunState, finishedAt: string): ReportFacts {
  const policies = settleUnsettled(state).map(lastWord).sort(bySize);
  const failure = state.pollFailure ?? state.failure;
  const cause: Cause | undefined =
    state.error ??
    (failure && { kind: 'step-failed', step: failure.step, error: capped(failure.error), sent: 'maybe' });
  const results: Result[] = policies.map(({ outcome }) => resultOf[outcome]);
  if (state.notes.some(needsAttention)) results.push('attention');
  return {
    version: 1,
    runId: state.runId,
    stage: state.stage,
    server: state.server,
    mode: state.mode,
    startedAt: state.startedAt,
    finishedAt,
    result: cause === undefined ? worst(results) : 'failed',
    ...(cause && { cause }),
    notes: state.notes,
    ...(state.preflight && { preflight: state.preflight }),
    policies,
    unmanagedIndices: state.unmanagedIndices,
  };
}

/**
 * Truncate failed, and no Poll followed to find out what it did: the truncation that was due may have been sent.
 */
function settleUnsettled({ entries, failure }: RunState): Entry[] {
  const turn = failure ? entries.find((entry) => entry.phase === 'approved') : undefined;
  if (!failure || !turn) return entries;
  const cause: Cause = { kind: 'step-failed', step: 'truncate', error: capped(failure.error), sent: 'maybe' };
  return entries.map((entry) => (entry === turn ? done(entry, 'unknown', cause) : entry));
}

/** Entries that a failed Poll left undecided. */
function lastWord(entry: Entry): DecidedFacts {
  switch (entry.phase) {
    case 'done':
      // A newer build may have decided it before being rolled back in the middle of the run.
      return { ...entry.entry, outcome: knownOutcome(entry.entry.outcome) };
    case 'watched':
      return { ...entry.entry, outcome: 'still-running', cause: { kind: 'watching', why: 'run', ...seen(entry) } };
    case 'approved':
      return { ...entry.entry, outcome: 'not-started', cause: { kind: 'stopped', by: 'run-time' } };
  }
}

/** Smallest first, then by name; entries without a count come last. */
function bySize(left: DecidedFacts, right: DecidedFacts): number {
  const size = (entry: DecidedFacts) => entry.rowsToDelete ?? Number.MAX_SAFE_INTEGER;
  return size(left) - size(right) || dottedName(left).localeCompare(dottedName(right));
}
