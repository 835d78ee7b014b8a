import type { Cause } from '../../facts/cause.ts';
import { maxPolicies } from '../../facts/limits.ts';
import type { Note } from '../../facts/note.ts';
import { LedgerError } from '../../ledger/ledger.ts';
import type { StoredRecord } from '../../ledger/record.ts';
import { expiryNotice } from '../../operations/http/bearer.ts';
import { dottedName, searchIndexOfName } from '../../policy/aspects.ts';
import { namesOf, type ParsedPolicy } from '../../policy/parse.ts';
import { type RunInput, RunInputError } from '../input.ts';
import { pausedCause, problemOf, readPolicies } from '../orders.ts';
import { ParametersError, type RunServices } from '../services.ts';

/** What Plan knows before it asks the server. */
export interface Prepared {
  kind: 'ready';
  policies: ParsedPolicy[];
  /** The policies that `only` names, or all. */
  chosen: ParsedPolicy[];
  /** The ledger's records by search index. */
  records: Map<string, StoredRecord>;
  /** What keeps the run from doing its work, except from watching what is unresolved. */
  error?: Cause;
  /** Why approved policies are not started, if something prevents all of them. */
  hindrance?: Cause;
  notes: Note[];
}

/** `error` says why the run cannot start; `chosen` are the policies that it would have covered. */
type Preparation = Prepared | ({ kind: 'impossible'; error: Cause } & Pick<Prepared, 'chosen' | 'policies'>);

/** The ledger's records by search index, or why they cannot be read. */
export type Records = Prepared['records'] | LedgerError;

/** Read before anything else: a run that cannot do its work tells what nobody has been told yet, all the same. */
export async function readRecords({ ledger }: RunServices): Promise<Records> {
  try {
    return new Map((await ledger.list()).map((record) => [record.index, record]));
  } catch (error) {
    if (error instanceof LedgerError) return error;
    throw error;
  }
}

/** Reads the parameters and checks the input against them. */
export async function prepare(input: RunInput, records: Records, services: RunServices): Promise<Preparation> {
  const { parameters, clock } = services;
  let policies: ParsedPolicy[] = [];
  let chosen: ParsedPolicy[] = [];
  try {
    policies = await readPolicies(services);
    const named = input.indices?.map(searchIndexOfName);
    // A release concerns only the named indices, and no policies.
    chosen = input.release ? [] : named ? policies.filter(({ index }) => named.includes(index)) : policies;
    checkIndices(input, policies);
    const { token } = parameters;
    const notes = tokenNotes(await token.get(), token.storedAt?.(), clock.now());
    if (records instanceof LedgerError) throw records;
    checkRelease(input, policies, records);
    const error = input.release ? undefined : wrongNumber(policies);
    const isTooMany = policies.length > maxPolicies;
    return {
      kind: 'ready',
      policies,
      chosen: isTooMany ? [] : chosen,
      records,
      error,
      hindrance: isTooMany ? { kind: 'run-error' } : await pausedCause(services),
      notes,
    };
  } catch (error) {
    const cause = expected(error);
    if (!cause) throw error;
    return {
      kind: 'impossible',
      error: ledgerFailure(records) ?? cause,
      policies,
      chosen: chosen.length > maxPolicies ? [] : chosen,
    };
  }
}

/** No policy at all, or more than fit into the run state. */
function wrongNumber({ length }: readonly ParsedPolicy[]): Cause | undefined {
  if (length === 0) return { kind: 'setup', what: 'no-policy', problem: 'there is no policy' };
  if (length <= maxPolicies) return undefined;
  const problem = `there are ${length} policies, and a stage has at most ${maxPolicies}: remove some, or spread them over several stages`;
  return { kind: 'setup', what: 'parameters', problem };
}

/** Comes before any other reason: what the ledger holds is told to nobody then. */
export const ledgerFailure = (records: Records): Cause | undefined =>
  records instanceof LedgerError ? expected(records) : undefined;

/** Errors that say what to do; anything else is a bug or transient, and the workflow retries it. */
function expected(error: unknown): Cause | undefined {
  const setup = (what: 'parameters' | 'input' | 'ledger'): Cause => ({
    kind: 'setup',
    what,
    problem: problemOf(error),
  });
  if (error instanceof ParametersError) return setup('parameters');
  if (error instanceof LedgerError) return setup('ledger');
  return error instanceof RunInputError ? setup('input') : undefined;
}

function checkIndices(input: RunInput, policies: ParsedPolicy[]): void {
  const known = new Set(policies.map(({ index }) => index));
  const unknown = (input.indices ?? []).filter((name) => !known.has(searchIndexOfName(name)));
  if (unknown.length === 0) return;
  const names = listed(policies.map(namesOf).map(dottedName)) || 'none';
  throw new RunInputError(`"indices" names ${listed(unknown)}, which no policy is for (policies: ${names})`);
}

/** One wrong name means that the operator has to check all of them again. */
function checkRelease(
  { release: names = [] }: RunInput,
  policies: ParsedPolicy[],
  records: ReadonlyMap<string, StoredRecord>,
): void {
  const known = new Set([...records.keys(), ...policies.map(({ index }) => index)]);
  const unknown = names.filter((name) => !known.has(searchIndexOfName(name)));
  if (unknown.length === 0) return;
  throw new RunInputError(
    `"release" names ${listed(unknown)}, which neither a policy nor the ledger knows: nothing was released`,
  );
}

const listed = (names: string[]): string =>
  names.length <= 10 ? names.join(', ') : `${names.slice(0, 10).join(', ')} and ${names.length - 10} more`;

function tokenNotes(token: string, storedAt: number | undefined, now: number): Note[] {
  const at = expiryNotice(token, storedAt, now);
  return at === undefined ? [] : [{ kind: 'token-expires', at, expired: at <= now || undefined }];
}
