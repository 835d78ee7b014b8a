import type { Cause } from '../../facts/cause.ts';
import { maxPolicies, maxScheduledAheadMillis, tokenExpiryNoticeMillis } from '../../facts/limits.ts';
import type { Note } from '../../facts/note.ts';
import { capped } from '../../facts/text.ts';
import { LedgerError } from '../../ledger/ledger.ts';
import type { StoredRecord } from '../../ledger/record.ts';
import { isSameRun } from '../../ledger/transitions.ts';
import { tokenExpiryMillis } from '../../operations/http/token-expiry.ts';
import { dottedName, searchIndexOfName } from '../../policy/aspects.ts';
import { namesOf, type ParsedPolicy } from '../../policy/parse.ts';
import { askingOf } from '../entries.ts';
import { pausedCause, problemOf, readPolicies } from '../orders.ts';
import { ParametersError, type RunServices } from '../services.ts';
import type { RunState } from '../state.ts';
import { type RunInput, RunInputError } from './input.ts';

/** Everything that concerns the run as a whole, before any policy is looked at. */
export interface Prepared {
  kind: 'ready';
  policies: ParsedPolicy[];
  /** The policies that `only` names, or all. */
  chosen: ParsedPolicy[];
  /** The ledger's records by search index. */
  records: Map<string, StoredRecord>;
  /** When they were read, epoch milliseconds: all of Plan judges them as of this moment, whatever its clock does. */
  readAt: number;
  /** What keeps the run from doing its work, except from watching what is unresolved. */
  error?: Cause;
  /** Why approved policies are not started, if something prevents all of them. */
  hindrance?: Cause;
  notes: Note[];
}

/** `error` says why the run cannot start; `policies` are those that it would have covered. */
export type Preparation = Prepared | { kind: 'impossible'; error: Cause; policies: ParsedPolicy[] };

/** Reads parameters and ledger and checks the input against them. */
export async function prepare(state: RunState, input: RunInput, services: RunServices): Promise<Preparation> {
  const { parameters, ledger, clock } = services;
  let chosen: ParsedPolicy[] = [];
  try {
    const policies = await readPolicies(services);
    const only = input.only?.map(searchIndexOfName);
    // A clearing run concerns only the named indices, and no policies.
    chosen = input.clear ? [] : only ? policies.filter(({ index }) => only.includes(index)) : policies;
    checkOnly(input, policies);
    const notes = tokenNotes(await parameters.token.get(), clock.realNow());
    const schedule = await takeScheduledTime(state, input, services);
    const readAt = clock.now();
    const records = new Map((await ledger.list()).map((record) => [record.index, record]));
    checkClear(input, policies, records);
    const tooMany = input.clear ? undefined : tooManyPolicies(policies);
    const hindrance = tooMany?.hindrance ?? schedule.hindrance ?? (await pausedCause(services));
    return {
      kind: 'ready',
      policies,
      chosen: tooMany ? [] : chosen,
      records,
      readAt,
      notes,
      ...schedule,
      ...tooMany,
      ...(policies.length === 0 && !input.clear && { error: { kind: 'no-policy' } as const }),
      ...(hindrance !== undefined && { hindrance }),
    };
  } catch (error) {
    const cause = expected(error);
    if (!cause) throw error;
    return { kind: 'impossible', error: cause, policies: tooManyPolicies(chosen) ? [] : chosen };
  }
}

/** They would not fit into the run state. */
function tooManyPolicies({
  length,
}: readonly ParsedPolicy[]): Required<Pick<Prepared, 'error' | 'hindrance'>> | undefined {
  if (length <= maxPolicies) return undefined;
  const problem = `there are ${length} policies, and a stage has at most ${maxPolicies}: remove some, or spread them over several stages`;
  return { error: { kind: 'parameters', problem }, hindrance: { kind: 'run-error' } };
}

/** Errors that say what to do; anything else is a bug or transient, and the workflow retries it. */
function expected(error: unknown): Cause | undefined {
  if (error instanceof ParametersError) return { kind: 'parameters', problem: problemOf(error) };
  if (error instanceof LedgerError) return { kind: 'ledger', problem: problemOf(error) };
  return error instanceof RunInputError ? { kind: 'input', problem: problemOf(error) } : undefined;
}

function checkOnly(input: RunInput, policies: ParsedPolicy[]): void {
  const known = new Set(policies.map(({ index }) => index));
  const unknown = (input.only ?? []).filter((name) => !known.has(searchIndexOfName(name)));
  if (unknown.length === 0) return;
  const names = listed(policies.map(namesOf).map(dottedName)) || 'none';
  throw new RunInputError(`"only" names ${listed(unknown)}, which no policy is for (policies: ${names})`);
}

/** One wrong name means that the operator has to check all of them again. */
function checkClear(
  { clear: names = [] }: RunInput,
  policies: ParsedPolicy[],
  records: ReadonlyMap<string, StoredRecord>,
): void {
  const known = new Set([...records.keys(), ...policies.map(({ index }) => index)]);
  const unknown = names.filter((name) => !known.has(searchIndexOfName(name)));
  if (unknown.length === 0) return;
  throw new RunInputError(
    `"clear" names ${listed(unknown)}, which neither a policy nor the ledger knows: nothing was cleared`,
  );
}

const listed = (names: string[]): string =>
  names.length <= 10 ? names.join(', ') : `${names.slice(0, 10).join(', ')} and ${names.length - 10} more`;

function tokenNotes(token: string, realNow: number): Note[] {
  const at = tokenExpiryMillis(token);
  if (at === undefined || at - realNow > tokenExpiryNoticeMillis) return [];
  return [{ kind: at <= realNow ? 'token-expired' : 'token-expires', at }];
}

/**
 * A schedule's event may be delivered twice, or late: a run whose scheduled time is not later than the latest one
 * taken by another run starts nothing. It has to know which run took it.
 */
async function takeScheduledTime(
  state: RunState,
  { scheduledTime }: RunInput,
  { ledger, clock }: RunServices,
): Promise<Pick<Prepared, 'error' | 'hindrance'>> {
  if (scheduledTime === undefined) return {};
  const atMillis = Date.parse(scheduledTime);
  if (atMillis - clock.now() > maxScheduledAheadMillis) {
    throw new RunInputError(
      `scheduledTime ${scheduledTime} is more than an hour ahead; to start a run by hand, leave it out`,
    );
  }
  if (state.mode !== 'enforce') return {};
  const { runId, runStartMillis } = askingOf(state);
  try {
    const holder = await ledger.takeScheduledTime({ atMillis, runId, runStartMillis });
    if (isSameRun(holder, { runId, runStartMillis })) return {};
    return { hindrance: { kind: 'stopped', by: 'duplicate-event', runId: capped(holder.runId) } };
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    return { error: { kind: 'ledger', problem: problemOf(error) }, hindrance: { kind: 'run-error' } };
  }
}
