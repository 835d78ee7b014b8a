import * as z from 'zod';
import { capped } from '../gms/text.ts';
import { type RunSummary, summaryOfRun } from '../ledger/runs.ts';
import type { Mark } from '../ledger/transitions.ts';
import type { Cause } from '../model/cause.ts';
import { type Note, needsAttention } from '../model/note.ts';
import { type Result, resultOf, worst } from '../model/outcomes.ts';
import type { DecidedIndex, Report, ReportData } from '../model/report-schema.ts';
import type { Mode } from '../model/run-input.ts';
import { hourMillis } from '../model/time.ts';
import { dottedName } from '../policy/aspects.ts';
import type { Clock } from '../truncation/clock.ts';
import { addressOf, decisionOf, doneEntry, markOf } from './entries.ts';
import { errorOf } from './failure.ts';
import { askerOf, modeOf, parseInput } from './input.ts';
import { unfinishedEntry } from './next.ts';
import type { Log, Publisher, RunSettings, Subscriptions } from './services.ts';
import { assertOurs, type DoneEntry, type Entry, type RunState } from './state.ts';
import { view } from './view.ts';

/** A run may last 24 hours (maxRunHours), and its last polls a little longer. A redrive may be a week late. */
const longestRunMillis = 26 * hourMillis;

/** What the workflow passes to Report: a run state, or what is left of a failed Plan. */
export interface ReportEvent {
  input: unknown;
  execution: { name: string; startTime: string };
  /** How many tries of this step have failed, and how many may fail before the last one. A redrive begins at 0. */
  retry: { count: number; last: number };
}

/** All that this step needs: neither the server nor the ledger. */
export interface ReportServices {
  settings: RunSettings;
  clock: Pick<Clock, 'now'>;
  log: Log;
  publisher: Publisher;
  /** Counts the report's results, once: when it is published or, if nobody accepts it, in the last try. */
  count?(report: Report, subscriptions?: Subscriptions): void;
  /** MarkReported keeps each run that enforces or releases, in short. */
  keepsRuns?: boolean;
  /** Adds the English to the data. */
  addSentences(data: ReportData): Report;
}

/** What Report tells the workflow: `marks` name the decisions that the published report has included. */
export interface ReportResult {
  result: Result;
  next: 'mark' | 'end';
  marks: Mark[];
  /** The run in short, for the ledger, where the workflow writes it; null: nothing is kept of this run. */
  run: RunSummary | null;
}

/**
 * Report: builds the run's report, publishes it and counts it; a retry publishes again. Throws if it could not be
 * published, and for a state that another version wrote.
 */
export async function report(event: ReportEvent, services: ReportServices): Promise<ReportResult> {
  const { log, publisher } = services;
  const plain = composeReport(event, services);
  const { result, policies, cause, mode } = plain;
  log.info('report', { result, policies: policies.length, cause });
  const subscribed = publisher.subscriptions?.();
  // Only a preview's message says who is subscribed; no other waits for that.
  const composed = mode === 'preview' ? composeReport(event, services, await subscribed) : plain;
  const count = async () => services.count?.(composed, await subscribed);
  const state = stateOf(event.input);
  let isPublished: boolean;
  try {
    isPublished = await publisher.publish(composed, state?.byHand);
  } catch (error) {
    const { count: failed, last } = event.retry;
    log.error('the report was not published', { error, try: failed + 1, of: last + 1 });
    if (failed >= last) await count();
    throw error;
  }
  await count();
  const marks = state && isPublished && !state.ofChange ? marksOf(state) : [];
  const run = services.keepsRuns && mode === 'enforce' ? summaryOfRun(composed) : null;
  return { result, next: marks.length > 0 || run ? 'mark' : 'end', marks, run };
}

/** The decisions in the ledger that this run's report includes (rule 15). */
const marksOf = ({ entries, releases }: RunState): Mark[] => [
  ...entries.flatMap((entry) => (entry.phase === 'done' ? (markOf(entry) ?? []) : [])),
  ...releases,
];

/** The run state; a failed Plan leaves none. */
const stateOf = (input: unknown): RunState | undefined =>
  planFailureSchema.safeParse(input).success ? undefined : (input as RunState);

const planFailureSchema = z.object({
  failure: z.object({ step: z.literal('plan'), error: z.string().transform((name) => capped(name)) }),
  /** The execution's input, which holds its mode. */
  input: z.unknown(),
});

/** A person who sets up a stage should hear that its messages will not arrive. */
const subscriptionNotes = (mode: Mode, { confirmed, pending }: Subscriptions = { confirmed: 1, pending: 0 }): Note[] =>
  mode === 'preview' && (confirmed === 0 || pending > 0) ? [{ kind: 'unconfirmed', confirmed, pending }] : [];

/** Builds a report from what the workflow passes in. Throws StateUnreadable. */
export function composeReport(
  { input, execution }: Pick<ReportEvent, 'input' | 'execution'>,
  { settings, clock, addSentences }: Pick<ReportServices, 'settings' | 'clock' | 'addSentences'>,
  subscriptions?: Subscriptions,
): Report {
  const finishedAt = new Date(clock.now()).toISOString();
  const late = (startMillis: number): Note[] =>
    clock.now() - startMillis > longestRunMillis ? [{ kind: 'late', startedAt: startMillis }] : [];
  const planFailure = planFailureSchema.safeParse(input);
  if (planFailure.success) {
    const { failure, input: given } = planFailure.data;
    const parsed = parseInput(given);
    const runInput = 'problem' in parsed ? {} : parsed.input;
    const startMillis = Date.parse(execution.startTime);
    return addSentences({
      version: 1,
      runId: execution.name,
      stage: settings.stage,
      server: addressOf(settings),
      by: askerOf(runInput, startMillis),
      jobVersion: settings.jobVersion,
      mode: modeOf(runInput, startMillis, settings.mode),
      startedAt: new Date(startMillis).toISOString(),
      finishedAt,
      result: 'failed',
      cause: { ...failure, kind: 'step-failed', sent: 'no' },
      notes: late(startMillis),
      policies: [],
      unmanagedIndices: [],
    });
  }
  assertOurs(input, settings);
  const data = dataOf(input, finishedAt);
  return addSentences({
    ...data,
    jobVersion: settings.jobVersion,
    notes: [...late(input.runStartMillis), ...subscriptionNotes(data.mode, subscriptions), ...data.notes],
  });
}

function dataOf(state: RunState, finishedAt: string): ReportData {
  const isUnread = ({ decidedBy }: DecidedIndex) => state.mode === 'preview' && decidedBy !== undefined;
  const policies = finalEntries(state)
    .map((entry): DecidedIndex => ({ ...view(entry, state), ...decisionOf(entry) }))
    // In a preview, what nobody has read comes before what it has counted itself.
    .sort((left, right) => Number(isUnread(right)) - Number(isUnread(left)) || bySize(left, right));
  const failure = state.pollFailure ?? state.failure;
  const stepFailed =
    failure && ({ kind: 'step-failed', step: failure.step, error: errorOf(failure), sent: 'maybe' } as const);
  const cause: Cause | undefined = state.error ?? stepFailed;
  const results: Result[] = policies.map(({ outcome }) => resultOf[outcome]);
  if (state.notes.some(needsAttention)) results.push('attention');
  const { runId, stage, server, by, mode, runStartMillis, notes, unmanagedIndices } = state;
  return {
    version: 1,
    runId,
    stage,
    server,
    by,
    mode,
    startedAt: new Date(runStartMillis).toISOString(),
    finishedAt,
    result: cause === undefined ? worst(results) : 'failed',
    cause,
    notes,
    policies,
    unmanagedIndices,
  };
}

/** The outcome of each entry; a Poll that failed for good leaves some undecided. */
function finalEntries({ entries, failure }: RunState): DoneEntry[] {
  // Truncate failed, and no Poll found out what it did: the truncation that was due may have been sent.
  const turn = failure ? entries.find((entry) => entry.phase === 'approved') : undefined;
  const lastWord = (entry: Entry): DoneEntry => {
    if (entry.phase === 'done') return entry;
    if (entry.phase === 'watched') return unfinishedEntry(entry, 'step');
    if (entry !== turn) return doneEntry(entry, 'not-started', { kind: 'setup', what: 'run' });
    return doneEntry(entry, 'unknown', {
      kind: 'step-failed',
      step: 'truncate',
      error: errorOf(failure),
      sent: 'maybe',
    });
  };
  return entries.map(lastWord);
}

/** Smallest first, then by name; entries without a count come last. */
function bySize(left: DecidedIndex, right: DecidedIndex): number {
  const size = (entry: DecidedIndex) => entry.rowsToDelete ?? Number.MAX_SAFE_INTEGER;
  return size(left) - size(right) || dottedName(left).localeCompare(dottedName(right));
}
