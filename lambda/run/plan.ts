import { preflightWithoutServer } from '../preflight/plan-preflight.ts';
import { parseInput } from './input.ts';
import { proceed } from './next.ts';
import { planPolicies, refused } from './plan-policies.ts';
import { prepare } from './preparation.ts';
import type { RunServices } from './services.ts';
import { type RunState, STATE_VERSION } from './state.ts';

/** What the workflow gives to Plan. */
export interface PlanEvent {
  input: unknown;
  execution: { name: string; startTime: string };
}

/**
 * Plan: reads policies and ledger, picks up what earlier runs left unresolved, dry-runs every policy, decides.
 * Sends no real truncate. A preview carries a preflight of the server. Never throws for a bad input, a missing parameter
 * or a server that cannot be reached: these are in the state that it returns (`error`), so that they are reported.
 */
export async function plan(event: PlanEvent, services: RunServices): Promise<RunState> {
  const empty = emptyState(event, services);
  const parsed = parseInput(event.input);
  if ('problem' in parsed) return finish({ ...empty, error: parsed.problem }, services);
  const { mode = services.settings.mode, approveRows } = parsed.input;
  const state: RunState = { ...empty, mode, ...(approveRows !== undefined && { approveRows }) };
  const prepared = await prepare(state, parsed.input, services);
  if (prepared.kind === 'ready') return finish(await planPolicies(state, prepared, services), services);
  const entries = prepared.policies.map((policy) =>
    policy.kind === 'invalid' ? refused(policy, 'failed', policy.reason) : refused(policy, 'failed', notLookedAt),
  );
  const preflight = mode === 'preview' ? await preflightWithoutServer(services) : undefined;
  return finish({ ...state, error: prepared.error, ...(preflight && { preflight }), entries }, services);
}

const notLookedAt = 'not looked at: the run could not start (see its error)';

function finish(state: RunState, services: RunServices): RunState {
  if (state.error !== undefined) services.log.error('the run could not do its work', { error: state.error });
  return proceed(state, services.settings, services.clock.now());
}

function emptyState({ execution }: PlanEvent, { settings }: RunServices): RunState {
  return {
    version: STATE_VERSION,
    runId: execution.name,
    stage: settings.stage,
    mode: settings.mode,
    startedAt: new Date(execution.startTime).toISOString(),
    next: 'report',
    waitSeconds: 0,
    entries: [],
    notes: [],
    unmanagedIndices: [],
    turns: { truncate: 0, poll: 0 },
  };
}
