import { maxSentenceBytes } from '../../facts/limits.ts';
import { capped } from '../../facts/text.ts';
import { addressOf } from '../entries.ts';
import { proceed } from '../next.ts';
import type { RunServices } from '../services.ts';
import { type RunState, STATE_VERSION } from '../state.ts';
import { carried } from './carried.ts';
import { planClear } from './clear.ts';
import { parseInput } from './input.ts';
import { planPolicies } from './policies.ts';
import { refused } from './policy.ts';
import { prepare } from './preparation.ts';
import { previewPreflightOfAddress } from './preview-preflight.ts';
import { remember } from './remember.ts';

/** What the workflow passes to Plan. */
export interface PlanEvent {
  input: unknown;
  execution: { name: string; startTime: string };
}

/**
 * Plan: reads policies and ledger, picks up what earlier runs left unresolved, dry-runs every policy and decides. Never
 * sends a real truncate. A preview starts with a preflight of the server. Never throws for bad input, a missing
 * parameter or an unreachable server: these go into the returned state (`error`), so that they are reported.
 */
export async function plan(event: PlanEvent, services: RunServices): Promise<RunState> {
  const empty = emptyState(event, services);
  const parsed = parseInput(event.input);
  if ('problem' in parsed) {
    return finish({ ...empty, error: { kind: 'input', problem: capped(parsed.problem, maxSentenceBytes) } }, services);
  }
  const { clear, approveRows } = parsed.input;
  // Clearing changes the ledger and starts nothing, even in a stage that only previews.
  const mode = clear ? 'enforce' : (parsed.input.mode ?? services.settings.mode);
  const state: RunState = { ...empty, mode, ...(approveRows !== undefined && { approveRows }) };
  const prepared = await prepare(state, parsed.input, services);
  if (prepared.kind === 'ready') {
    if (clear) return finish(await planClear(state, parsed.input, prepared, services), services);
    const planned = await planPolicies(state, prepared, services);
    return finish(await remember(planned, services), services);
  }
  const entries = prepared.policies.map((policy) => refused(policy, 'failed', { kind: 'run-error' }));
  const preflight = mode === 'preview' ? await previewPreflightOfAddress(services) : undefined;
  const failed = { ...state, error: prepared.error, ...(preflight && { preflight }), entries };
  // A mistake in a person's request is not a problem of an index.
  return finish(prepared.error.kind === 'input' ? failed : await remember(failed, services), services);
}

function finish(state: RunState, services: RunServices): RunState {
  if (state.error !== undefined) services.log.error('the run could not do its work', { cause: state.error });
  return proceed(carried(state), services.settings, services.clock.now());
}

function emptyState({ execution }: PlanEvent, { settings }: RunServices): RunState {
  return {
    version: STATE_VERSION,
    runId: execution.name,
    server: addressOf(settings),
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
