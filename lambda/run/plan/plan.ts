import type { Cause } from '../../facts/cause.ts';
import { maxSentenceBytes } from '../../facts/limits.ts';
import type { Note } from '../../facts/note.ts';
import type { ParsedPolicy } from '../../policy/parse.ts';
import { capped } from '../../text/text.ts';
import { withBreaker } from '../breaker.ts';
import { addressOf } from '../entries.ts';
import { isByHand, modeOf, parseInput, type RunInput, scheduledMillis } from '../input.ts';
import { proceed } from '../next.ts';
import type { RunServices } from '../services.ts';
import { type Entry, type Mode, type RunState, STATE_VERSION } from '../state.ts';
import { entriesFromLedger } from './adopt.ts';
import { withinLimit } from './limit.ts';
import { planPolicies } from './policies.ts';
import { refused } from './policy.ts';
import { ledgerFailure, prepare, readRecords } from './prepare.ts';
import { planRelease } from './release-indices.ts';
import { type Untold, untoldIn } from './untold.ts';

/** What the workflow passes to Plan. */
export interface PlanEvent {
  input: unknown;
  execution: { name: string; startTime: string };
}

/**
 * Plan: reads ledger and policies, reports what no report has included yet, picks up what earlier runs left unresolved,
 * dry-runs every policy and decides. Never sends a real truncate. Never throws for bad input, a missing parameter or an
 * unreachable server: these go into the returned state (`error`), so that they are reported.
 */
export async function plan(event: PlanEvent, services: RunServices): Promise<RunState> {
  const parsed = parseInput(event.input);
  const input = 'problem' in parsed ? {} : parsed.input;
  const state = emptyState(event, input, services);
  const readAt = services.clock.now();
  const records = await readRecords(services);
  const untold = (policies: readonly ParsedPolicy[]) =>
    untoldIn(records instanceof Map ? records.values() : [], policies, state, readAt);
  /** A run that cannot do its work says of each index what the ledger says. */
  const unasked = (chosen: readonly ParsedPolicy[]): Entry[] => {
    const known = entriesFromLedger(records instanceof Map ? records.values() : [], chosen, state, readAt);
    const ofPolicies = chosen.map((one) => known.find(({ policy }) => policy === one)?.entry ?? refused(one));
    return [...ofPolicies, ...known.flatMap(({ entry, policy }) => (policy ? [] : [entry]))];
  };
  if ('problem' in parsed) {
    const problem = capped(parsed.problem, maxSentenceBytes);
    const error: Cause = ledgerFailure(records) ?? { kind: 'setup', what: 'input', problem };
    return finish({ ...withUntold({ ...state, notes: [], entries: unasked([]) }, untold([])), error }, services);
  }
  const prepared = await prepare(input, records, services);
  if (prepared.kind === 'impossible') {
    const { error, policies, chosen } = prepared;
    return finish({ ...withUntold({ ...state, entries: unasked(chosen) }, untold(policies)), error }, services);
  }
  if (input.release) {
    const released = await planRelease(state, input, prepared, services);
    const untoldNow = untoldIn(released.records.values(), prepared.policies, state, readAt);
    return finish(withUntold(released.state, untoldNow), services);
  }
  const waiting = untold(prepared.policies);
  return finish(withUntold(await planPolicies(state, prepared, waiting, readAt, services), waiting), services);
}

/** What is told for the first time is in the report whatever else the run does, in place of a policy's own entry. */
function withUntold(state: RunState, { verdicts, notes, releases }: Untold): RunState {
  const entries = state.entries.map((entry) => {
    const verdict = verdicts.get(entry.index);
    return verdict?.replacesEntry ? verdict.entry : entry;
  });
  const further = [...verdicts.values()].map(({ entry }) => entry).filter((entry) => !entries.includes(entry));
  return {
    ...state,
    entries: [...entries, ...further],
    notes: [...state.notes, ...notes],
    releases: [...state.releases, ...releases],
  };
}

function finish(state: RunState, { settings, clock, log }: RunServices): RunState {
  if (state.error !== undefined) log.error('the run could not do its work', { cause: state.error });
  return proceed(withBreaker(withinLimit(state)), settings, clock.now());
}

function emptyState({ execution }: PlanEvent, input: RunInput, { settings }: RunServices): RunState {
  const executionMillis = Date.parse(execution.startTime);
  const scheduled = scheduledMillis(input, executionMillis);
  const mode = modeOf(input, executionMillis, settings.mode);
  return {
    version: STATE_VERSION,
    runId: execution.name,
    server: addressOf(settings),
    stage: settings.stage,
    mode,
    byHand: isByHand(input, executionMillis),
    runStartMillis: scheduled ?? executionMillis,
    next: 'report',
    waitSeconds: 0,
    entries: [],
    notes: notesOn(input, mode, settings.mode),
    unmanagedIndices: [],
    releases: [],
    // A preview that counted it would show what no run does.
    approveRows: mode === 'preview' ? undefined : input.approveRows,
    polls: 0,
    callsWithoutTask: 0,
  };
}

/** What a person may have expected of the run, and what it does instead. */
function notesOn({ mode: asked, approveRows }: RunInput, mode: Mode, ofStage: Mode): Note[] {
  if (mode !== 'preview') return [];
  return [
    ...(asked === undefined && ofStage === 'enforce' ? [{ kind: 'preview-by-hand' } as const] : []),
    ...(approveRows === undefined ? [] : [{ kind: 'approves-nothing', approveRows } as const]),
  ];
}
