import * as z from 'zod';
import type { Clock } from '../facts/clock.ts';
import { type Result, resultOf, worst } from '../facts/outcome.ts';
import type { PolicyEntry, Report } from '../facts/report-schema.ts';
import { done } from './entries.ts';
import { foreignState } from './foreign-state.ts';
import { isReleasedTooEarly } from './released.ts';
import type { Log, Publisher, RunSettings } from './services.ts';
import { type Entry, type RunState, STATE_VERSION } from './state.ts';

/** What the workflow gives to Report: a run state, or what is left of a Plan that failed. */
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
}

/** Report: makes the run's report and publishes it. Throws only when it could not be published. */
export async function report(event: ReportEvent, services: ReportServices): Promise<Report> {
  const composed = composeReport(event, services);
  services.log.info('report', { result: composed.result, policies: composed.policies.length, error: composed.error });
  await services.publisher.publish(composed);
  return composed;
}

const planFailureSchema = z.object({
  failure: z.object({ step: z.literal('plan'), error: z.string() }),
  /** The execution's input, for its mode. */
  input: z
    .object({ mode: z.enum(['enforce', 'preview']).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/** Makes the report; for whatever the workflow brings, because a run that says nothing is the worst of all. */
export function composeReport(
  { input, execution }: ReportEvent,
  services: Pick<ReportServices, 'settings' | 'clock' | 'log'>,
): Report {
  const { settings, clock } = services;
  const finishedAt = new Date(clock.realNow()).toISOString();
  const planFailure = planFailureSchema.safeParse(input);
  if (planFailure.success) {
    return {
      version: 1,
      runId: execution.name,
      stage: settings.stage,
      mode: planFailure.data.input?.mode ?? settings.mode,
      startedAt: new Date(execution.startTime).toISOString(),
      finishedAt,
      result: 'failed',
      error: `Plan failed (${planFailure.data.failure.error}), so no policy was looked at and nothing was truncated; see the log of the Plan function`,
      policies: [],
      unmanagedIndices: [],
    };
  }
  const current = (input as Partial<RunState> | null)?.version === STATE_VERSION;
  return fromState(current ? (input as RunState) : foreignState(input ?? {}, services), finishedAt);
}

function fromState(state: RunState, finishedAt: string): Report {
  const policies = settleUnsettled(state).map(lastWord).sort(bySize);
  const failure = state.pollFailure ?? state.failure;
  const error =
    state.error ??
    (failure && `${failure.step} failed (${failure.error}): the run ended before its time; see that function's log`);
  const results: Result[] = policies.map(({ outcome }) => resultOf[outcome]);
  if (state.notes.some(isReleasedTooEarly)) results.push('attention');
  const result: Result = error === undefined ? worst(results) : 'failed';
  return {
    version: 1,
    runId: state.runId,
    stage: state.stage,
    mode: state.mode,
    startedAt: state.startedAt,
    finishedAt,
    result,
    ...(error !== undefined && { error }),
    ...(state.notes.length > 0 && { notes: state.notes }),
    ...(state.preflight && { preflight: state.preflight }),
    policies,
    unmanagedIndices: state.unmanagedIndices,
  };
}

/** Truncate failed, and no Poll came to find out what it did: the truncation whose turn it was may have been sent. */
function settleUnsettled({ entries, failure }: RunState): Entry[] {
  const turn = failure ? entries.find((entry) => entry.phase === 'approved') : undefined;
  return entries.map((entry) => (entry === turn ? done(entry, 'unknown', mayHaveStarted) : entry));
}

const mayHaveStarted = 'a truncate may have started: the step ended without saying so; the next run finds out';

/** Entries that a failed Poll left undecided. */
function lastWord(entry: Entry): PolicyEntry {
  switch (entry.phase) {
    case 'done':
      return entry.entry;
    case 'watched':
      return {
        ...entry.entry,
        outcome: 'still-running',
        reason: 'the run ended before this truncation; the next run goes on watching',
      };
    case 'approved':
      return { ...entry.entry, outcome: 'not-started', reason: 'approved, but the run ended before its turn' };
  }
}

/** Smallest first, then by name; what has no count comes last. */
function bySize(left: PolicyEntry, right: PolicyEntry): number {
  const size = (entry: PolicyEntry) => entry.rowsToDelete ?? Number.MAX_SAFE_INTEGER;
  const name = (entry: PolicyEntry) => `${entry.entityType}.${entry.aspect}`;
  return size(left) - size(right) || name(left).localeCompare(name(right));
}
