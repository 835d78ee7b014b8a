import { maxSentenceBytes } from '../../facts/limits.ts';
import { capped } from '../../facts/text.ts';
import { addressOf } from '../entries.ts';
import { proceed } from '../next.ts';
import type { RunServices } from '../services.ts';
import { type RunState, STATE_VERSION } from '../state.ts';
import { carried } from './carried.ts';
import { parseInput, type RunInput, scheduledMillis } from './input.ts';
import { planPolicies } from './policies.ts';
import { refused } from './policy.ts';
import { prepare } from './prepare.ts';
import { planRelease } from './release.ts';

/** What the workflow passes to Plan. */
export interface PlanEvent {
  input: unknown;
  execution: { name: string; startTime: string };
}

/**
 * Plan: reads policies and ledger, picks up what earlier runs left unresolved, dry-runs every policy and decides. Never
 * sends a real truncate. Never throws for bad input, a missing parameter or an unreachable server: these go into the
 * returned state (`error`), so that they are reported.
 */
export async function plan(event: PlanEvent, services: RunServices): Promise<RunState> {
  const parsed = parseInput(event.input);
  if ('problem' in parsed) {
    const problem = capped(parsed.problem, maxSentenceBytes);
    const state = emptyState(event, {}, services);
    return finish({ ...state, error: { kind: 'setup', what: 'input', problem } }, services);
  }
  const { input } = parsed;
  const state = emptyState(event, input, services);
  const prepared = await prepare(input, services);
  if (prepared.kind === 'impossible') {
    const entries = prepared.policies.map(refused);
    return finish({ ...state, error: prepared.error, entries }, services);
  }
  const next = input.release
    ? await planRelease(state, input, prepared, services)
    : await planPolicies(state, prepared, services);
  return finish(next, services);
}

function finish(state: RunState, { settings, clock, log }: RunServices): RunState {
  if (state.error !== undefined) log.error('the run could not do its work', { cause: state.error });
  return proceed(carried(state), settings, clock.now());
}

function emptyState({ execution }: PlanEvent, input: RunInput, { settings }: RunServices): RunState {
  const executionMillis = Date.parse(execution.startTime);
  const scheduled = scheduledMillis(input, executionMillis);
  return {
    version: STATE_VERSION,
    runId: execution.name,
    server: addressOf(settings),
    stage: settings.stage,
    // A release changes the ledger and starts nothing, even in a stage that only previews.
    mode: input.release ? 'enforce' : (input.mode ?? settings.mode),
    byHand: scheduled === undefined,
    startedAt: new Date(scheduled ?? executionMillis).toISOString(),
    next: 'report',
    waitSeconds: 0,
    entries: [],
    notes: [],
    unmanagedIndices: [],
    approveRows: input.approveRows,
    looks: 0,
    callsWithoutTask: 0,
  };
}
