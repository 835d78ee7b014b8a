import { tokenExpiryNoticeMillis } from '../facts/limits.ts';
import type { Outcome } from '../facts/outcome.ts';
import { isForeign, type LedgerRecord, type StoredRecord } from '../ledger/record.ts';
import { clear } from '../ledger/transitions.ts';
import { tokenExpiryMillis } from '../operations/http/token-expiry.ts';
import { type ParsedPolicy, parsePolicies } from '../policy/parse.ts';
import { type RunInput, RunInputError } from './input.ts';
import type { RunServices } from './services.ts';
import type { RunState } from './state.ts';

/** Everything that concerns the run as a whole, before any policy is looked at. */
export interface Prepared {
  kind: 'ready';
  policies: ParsedPolicy[];
  /** The policies that `only` names, or all. */
  chosen: ParsedPolicy[];
  /** Indices that a person has released with this run. */
  cleared: string[];
  /** The ledger's records by index. */
  records: Map<string, StoredRecord>;
  /** What keeps the run from doing all its work, though not from watching what is unresolved. */
  error?: string;
  /** Why approved policies are not started, where something stands against all of them. */
  hindrance?: string;
  notes: string[];
}

/** `error` says why the run cannot start; `policies` are those that it would have been about. */
export type Preparation = Prepared | { kind: 'impossible'; error: string; policies: ParsedPolicy[] };

/** Reads parameters and ledger and checks the input against them; clears what a person asked to clear. */
export async function prepare(state: RunState, input: RunInput, services: RunServices): Promise<Preparation> {
  const { parameters, ledger, settings, clock } = services;
  let chosen: ParsedPolicy[] = [];
  try {
    const policies = parsePolicies(await parameters.policies(), settings.minRetentionDays);
    const only = input.only?.map((name) => name.toLowerCase());
    chosen = only ? policies.filter(({ index }) => only.includes(index)) : policies;
    checkInput(input, state, policies);
    const notes = tokenNotes(await parameters.token.get(), clock.realNow());
    const duplicate = await duplicateOf(state, input, services);
    const records = new Map((await ledger.list()).map((record) => [record.index, record]));
    checkClear(input, policies, records);
    // Nothing that is expected to fail comes after this: what was cleared must be told.
    const released = await clearIndices(input, records, services);
    notes.push(...released.notes);
    const hindrance = duplicate ?? foreignReason(records) ?? (await pausedReason(services));
    return {
      kind: 'ready',
      policies,
      chosen,
      cleared: released.cleared,
      records,
      notes,
      ...(policies.length === 0 && { error: noPolicy }),
      ...(hindrance !== undefined && { hindrance }),
    };
  } catch (error) {
    if (!isExpected(error)) throw error;
    return { kind: 'impossible', error: error.message, policies: chosen };
  }
}

const noPolicy =
  'there is no policy: put one into the stage file and deploy, or add a parameter below <parameterPrefix>/policies/';

/** Errors that say what to do themselves; anything else is a defect, or passes, and is the workflow's to retry. */
const isExpected = (error: unknown): error is Error =>
  error instanceof Error && ['ParametersError', 'LedgerError', 'RunInputError'].includes(error.name);

function checkInput(input: RunInput, state: RunState, policies: ParsedPolicy[]): void {
  const known = new Set(policies.map(({ index }) => index));
  const unknown = (input.only ?? []).filter((name) => !known.has(name.toLowerCase()));
  if (unknown.length > 0) {
    const names = listed([...known]) || 'none';
    throw new RunInputError(`"only" names ${listed(unknown)}, which no policy is for (policies: ${names})`);
  }
  if (input.clear && state.mode === 'preview') {
    throw new RunInputError(
      '"clear" changes the ledger, which a preview must not: add "mode": "enforce" (and "only", to truncate nothing else)',
    );
  }
}

/** Closed, or about to be: a preview tells of missing rows without closing anything. */
const isClearable = ({ state, lastVerdict }: LedgerRecord): boolean =>
  state === 'quarantined' || (state === 'idle' && lastVerdict?.rowsAfter !== undefined);

/** By an earlier try of this Plan, as a rule: what it had to say of that is lost with it. */
const isCleared = ({ state, lastVerdict }: LedgerRecord): boolean =>
  state === 'idle' &&
  lastVerdict !== undefined &&
  lastVerdict.rowsAfter === undefined &&
  closes(lastVerdict.entry.outcome);

const closes = (outcome: Outcome): boolean => outcome === 'rows-missing' || outcome === 'unknown' || outcome === 'lost';

const listed = (names: string[]): string =>
  names.length <= 10 ? names.join(', ') : `${names.slice(0, 10).join(', ')} and ${names.length - 10} more`;

function tokenNotes(token: string, realNow: number): string[] {
  const expiry = tokenExpiryMillis(token);
  if (expiry === undefined || expiry - realNow > tokenExpiryNoticeMillis) return [];
  const date = new Date(expiry).toISOString().slice(0, 10);
  return [
    expiry <= realNow
      ? `The token expired on ${date}: create a new one in DataHub and store it.`
      : `The token expires on ${date}: create a new one in DataHub and store it before then.`,
  ];
}

/** A schedule event may be delivered twice; the second run of the same scheduled time starts nothing. */
async function duplicateOf(state: RunState, input: RunInput, { ledger }: RunServices): Promise<string | undefined> {
  if (state.mode !== 'enforce' || input.scheduledTime === undefined) return undefined;
  const holder = await ledger.claimScheduledTime(input.scheduledTime, state.runId);
  return holder === state.runId
    ? undefined
    : `the schedule's event came twice and run ${holder} is at work on it (by hand, start it without scheduledTime)`;
}

/** Before any is cleared: one wrong name means that a person has to look at all of them again. */
function checkClear(
  { clear: names = [] }: RunInput,
  policies: ParsedPolicy[],
  records: Map<string, StoredRecord>,
): void {
  const known = new Set([...records.keys(), ...policies.map(({ index }) => index)]);
  const unknown = names.filter((name) => !known.has(name.toLowerCase()));
  if (unknown.length > 0) {
    throw new RunInputError(
      `"clear" names ${listed(unknown)}, which neither a policy nor the ledger knows: nothing was cleared`,
    );
  }
}

/** Clears what the input names, in the ledger and in `records`; what became of each is a note. A ledger that refuses is one. */
async function clearIndices(
  { clear: names = [] }: RunInput,
  records: Map<string, StoredRecord>,
  services: RunServices,
): Promise<{ notes: string[]; cleared: string[] }> {
  const notes: string[] = [];
  const cleared: string[] = [];
  for (const name of new Set(names)) {
    const index = name.toLowerCase();
    const record = records.get(index);
    if (record !== undefined && !isForeign(record) && (isClearable(record) || isCleared(record))) {
      const done = isCleared(record) || (await clearOne(record, records, services));
      if (done === true) cleared.push(index);
      notes.push(done === true ? clearedNote(name, record) : `Not cleared: ${name}, because ${done} Try again.`);
    } else {
      notes.push(`There was nothing to clear for ${name}: it is not quarantined.`);
    }
  }
  return { notes, cleared };
}

/** @returns true, or why it was not cleared */
async function clearOne(
  record: LedgerRecord,
  records: Map<string, StoredRecord>,
  { ledger, log }: RunServices,
): Promise<true | string> {
  const next = clear(record);
  try {
    const replaced = await ledger.replace(record, next);
    log.warn('quarantine cleared by a person', { index: record.index, cleared: replaced });
    if (!replaced) return 'its ledger record changed meanwhile.';
    records.set(record.index, next);
    return true;
  } catch (error) {
    if (!isExpected(error)) throw error;
    log.error('not cleared', { index: record.index, reason: error.message });
    return `the ledger did not take it: ${error.message.replace(/\.?$/, '.')}`;
  }
}

function clearedNote(name: string, record: LedgerRecord): string {
  const why = reasonOfQuarantine(record);
  if (isCleared(record)) return `Cleared already: ${name}${why}.`;
  return `Cleared, as asked: ${name}${record.state === 'idle' ? ' (it was not quarantined; what it held before no longer counts)' : why}.`;
}

/** What was said of it, once more: whoever clears an index too early has its last word here. */
const reasonOfQuarantine = ({ lastVerdict }: LedgerRecord): string =>
  lastVerdict
    ? `; it was closed because ${lastVerdict.entry.reason.replace(/\.? This index stays closed.*$/s, '')}`
    : '';

/** Why nothing may be started, if the job is paused; what cannot be determined counts as paused. */
export async function pausedReason({ parameters }: RunServices): Promise<string | undefined> {
  try {
    return (await parameters.paused()) ? 'the job is paused' : undefined;
  } catch (error) {
    return `whether the job is paused cannot be determined, which counts as paused (${(error as Error).message})`;
  }
}

/** A newer version's record, or an unresolved one of an older: a deployment in the middle of a run, or a rollback. */
function foreignReason(records: Map<string, StoredRecord>): string | undefined {
  const foreign = [...records.values()].find(isForeign);
  return foreign && `nothing is started while ${foreign.foreign} (${foreign.index})`;
}
