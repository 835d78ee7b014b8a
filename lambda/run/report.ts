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
import { decisionOf, doneEntry, markOf } from './entries.ts';
import { errorOf } from './failure.ts';
import { type PlanEvent, parseInput } from './input.ts';
import { unfinishedEntry } from './next.ts';
import type { Log, Publisher, RunSettings, Subscriptions } from './services.ts';
import { assertReadable, type DoneEntry, emptyState, type RunState } from './state.ts';
import { view } from './view.ts';

/** A run may last 24 hours (maxRunHours), and its last polls a little longer. A redrive may be a week late. */
const longestRunMillis = 26 * hourMillis;

/** What the workflow passes to Report: as `input` a run state, or what is left of a failed Plan. */
export interface ReportEvent extends PlanEvent {
  /** How many tries of this step have failed, and how many may fail before the last one. A redrive begins at 0. */
  retry: { count: number; last: number };
}

/** Neither the server nor the ledger. */
export interface ReportServices {
  settings: RunSettings;
  clock: Pick<Clock, 'now'>;
  log: Log;
  publisher: Publisher;
  /** Counts the report's results, once: when it is published or, if nobody accepts it, in the last try. */
  count?(report: Report, subscriptions?: Subscriptions): void;
  /** MarkReported keeps each run that enforces or releases, in short. */
  keepsRuns?: boolean;
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
  const state = stateOf(event, services.settings);
  const { mode } = state;
  const subscribed = publisher.subscriptions?.();
  // Only a preview's message says who is subscribed; no other waits for that.
  const composed = composeReport(state, services, mode === 'preview' ? await subscribed : undefined);
  const { result, policies, cause } = composed;
  log.info('report', { result, policies: policies.length, cause });
  const count = async (counted: Report) => services.count?.(counted, await subscribed);
  let isPublished: boolean;
  try {
    isPublished = await publisher.publish(composed, state.byHand);
  } catch (error) {
    const { count: failed, last } = event.retry;
    log.error('the report was not published', { error, try: failed + 1, of: last + 1 });
    // The rows are counted by the run that publishes their verdict.
    if (failed >= last)
      await count({ ...composed, policies: policies.map((one) => ({ ...one, rowsDeleted: undefined })) });
    throw error;
  }
  await count(composed);
  const marks = isPublished && !state.ofChange ? marksOf(state) : [];
  const run = services.keepsRuns && mode === 'enforce' ? summaryOfRun(composed) : null;
  return { result, next: marks.length > 0 || run ? 'mark' : 'end', marks, run };
}

/** The decisions that this run's report includes (rule 15). */
const marksOf = ({ entries, releases }: RunState): Mark[] => [
  ...entries.flatMap((entry) => (entry.phase === 'done' ? (markOf(entry) ?? []) : [])),
  ...releases,
];

/** The run state; of a failed Plan, as far as its input tells it. Throws StateUnreadable. */
export function stateOf({ input, execution }: PlanEvent, settings: RunSettings): RunState {
  const failed = planFailureSchema.safeParse(input).data;
  if (failed === undefined) {
    assertReadable(input, settings);
    return input;
  }
  const begun = emptyState({ execution }, parseInput(failed.input).input, settings);
  return { ...begun, error: { ...failed.failure, kind: 'step-failed', sent: 'no' } };
}

const planFailureSchema = z.object({
  failure: z.object({ step: z.literal('plan'), error: z.string().transform((name) => capped(name)) }),
  /** The execution's input, which holds its mode. */
  input: z.unknown(),
});

/** A person who sets up a stage should hear that its messages will not arrive. */
const subscriptionNotes = (mode: Mode, { confirmed, pending }: Subscriptions = { confirmed: 1, pending: 0 }): Note[] =>
  mode === 'preview' && (confirmed === 0 || pending > 0) ? [{ kind: 'unconfirmed', confirmed, pending }] : [];

export function composeReport(
  state: RunState,
  { settings, clock, addSentences }: Pick<ReportServices, 'settings' | 'clock' | 'addSentences'>,
  subscriptions?: Subscriptions,
): Report {
  const { runStartMillis: startedAt } = state;
  const now = clock.now();
  const data = dataOf(state, new Date(now).toISOString());
  const late: Note[] = now - startedAt > longestRunMillis ? [{ kind: 'late', startedAt }] : [];
  return addSentences({
    ...data,
    jobVersion: settings.jobVersion,
    notes: [...late, ...subscriptionNotes(data.mode, subscriptions), ...data.notes],
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
  const interrupted = failure ? entries.find((entry) => entry.phase === 'approved') : undefined;
  return entries.map((entry): DoneEntry => {
    if (entry.phase === 'done') return entry;
    if (entry.phase === 'watched') return unfinishedEntry(entry, 'step');
    if (entry !== interrupted) return doneEntry(entry, 'not-started', { kind: 'setup', what: 'run' });
    return doneEntry(entry, 'unknown', {
      kind: 'step-failed',
      step: 'truncate',
      error: errorOf(failure),
      sent: 'maybe',
    });
  });
}

/** Smallest first, then by name; entries without a count come last. */
function bySize(left: DecidedIndex, right: DecidedIndex): number {
  const size = (entry: DecidedIndex) => entry.rowsToDelete ?? Number.MAX_SAFE_INTEGER;
  return size(left) - size(right) || dottedName(left).localeCompare(dottedName(right));
}
