import { certificateNotice, expiryNotice } from '../../gms/http/identity-provider.ts';
import { type Identity, secretsOf } from '../../gms/identity.ts';
import { redactor } from '../../gms/secrets.ts';
import { capped, maxSentenceBytes } from '../../gms/text.ts';
import { LedgerError } from '../../ledger/ledger.ts';
import { addressElsewhere } from '../../ledger/ownership.ts';
import type { StoredRecord } from '../../ledger/record.ts';
import { isNewOrLost } from '../../ledger/runs.ts';
import type { Cause } from '../../model/cause.ts';
import type { Note } from '../../model/note.ts';
import { maxPolicies, textsForPeople } from '../../model/policy-fields.ts';
import type { RunInput } from '../../model/run-input.ts';
import { dottedName, searchIndexOfName } from '../../policy/aspects.ts';
import { namesOf, type ParsedPolicy } from '../../policy/parse.ts';
import { pausedCause, policiesIn, problemOf, readPolicies } from '../current-settings.ts';
import { type parseInput, RunInputError } from '../input.ts';
import { ParametersError, type RunServices } from '../services.ts';
import type { RunState } from '../state.ts';

/** What Plan knows before it asks the server. */
export interface Preparation {
  policies: ParsedPolicy[];
  chosen: ParsedPolicy[];
  named?: readonly string[] | undefined;
  /** In a preview of a change: the policies that are live, or why they cannot be read. */
  live?: ParsedPolicy[] | { problem: string };
  /** The ledger's records by search index; none where it cannot be read. */
  records: ReadonlyMap<string, StoredRecord>;
  error?: Cause;
  /** The server can be asked, so unresolved truncations are watched, even if the run can do nothing else. */
  canAskServer: boolean;
  /** Why approved policies are not started, if something prevents all of them. */
  breaker?: Cause;
  notes: Note[];
  /** Withholds the identity in a text that people gave. */
  withhold(text: string): string;
}

/** Reads ledger and parameters, and checks the input against them. Never throws for a mistake that a person can fix. */
export async function prepare(parsed: ReturnType<typeof parseInput>, services: RunServices): Promise<Preparation> {
  const { ledger, clock } = services;
  const { identity: source } = services.parameters;
  const prepared: Preparation = {
    policies: [],
    chosen: [],
    records: new Map(),
    canAskServer: false,
    notes: [],
    withhold: redactor([]),
  };
  let ledgerError: Cause | undefined;
  try {
    // Before anything else: what is unreported is reported, whatever the run can do.
    prepared.records = new Map((await ledger.list()).map((record) => [record.index, record]));
    if (ledger.unwritable) throw ledger.unwritable;
  } catch (error) {
    ledgerError = causeOf(error);
    if (!ledgerError) throw error;
  }
  try {
    if ('problem' in parsed) throw new RunInputError(capped(parsed.problem, maxSentenceBytes));
    const { input } = parsed;
    if (input.policies) prepared.live = await livePolicies(services);
    const policies = input.policies
      ? policiesIn([{ name: 'the given policies', list: input.policies }], services.settings)
      : await readPolicies(services);
    const isTooMany = policies.length > maxPolicies;
    const named = input.indices?.map(searchIndexOfName);
    prepared.named = named;
    prepared.policies = policies;
    // A release concerns only the named indices, and no policies.
    if (!input.release && !isTooMany) {
      prepared.chosen = named ? policies.filter(({ index }) => named.includes(index)) : policies;
    }
    // Without a ledger that can be read and written, the run asks the server nothing: what it finds could not be kept.
    if (ledgerError) return { ...prepared, error: ledgerError };
    const live = Array.isArray(prepared.live) ? prepared.live : [];
    checkNames(input, [...policies, ...live], prepared.records);
    const identity = await source.get();
    prepared.withhold = redactor(secretsOf(identity));
    for (const { policy } of policies.filter((item) => item.kind === 'policy')) {
      // A gateway's key may stand where a policy says something to people.
      Object.assign(policy, textsForPeople(policy, prepared.withhold));
    }
    prepared.notes = expiryNotes(identity, source.storedAt?.(), clock.now());
    prepared.canAskServer = true;
    if (input.release) return prepared;
    return { ...prepared, error: wrongNumber(policies), breaker: await pausedCause(services) };
  } catch (error) {
    const cause = causeOf(error);
    if (!cause) throw error;
    return { ...prepared, error: ledgerError ?? cause };
  }
}

/** What a change is compared with; a stage that has none yet, or cannot read them, previews the change all the same. */
async function livePolicies(services: RunServices): Promise<Preparation['live']> {
  try {
    return await readPolicies(services);
  } catch (error) {
    if (error instanceof ParametersError) return { problem: problemOf(error) };
    throw error;
  }
}

/** No policy at all, or more than fit into the run state. */
function wrongNumber({ length }: readonly ParsedPolicy[]): Cause | undefined {
  if (length === 0) return { kind: 'setup', what: 'no-policy', problem: 'there is no policy' };
  if (length <= maxPolicies) return undefined;
  const problem = `there are ${length} policies, and a stage has at most ${maxPolicies}: remove some, or spread them over several stages`;
  return { kind: 'setup', what: 'parameters', problem };
}

/** Errors that say what to do; anything else is a bug or transient, and the workflow retries it. */
function causeOf(error: unknown): Cause | undefined {
  const setup = (what: 'parameters' | 'input' | 'ledger'): Cause => ({
    kind: 'setup',
    what,
    problem: problemOf(error),
  });
  if (error instanceof ParametersError) return setup('parameters');
  if (error instanceof LedgerError) return setup('ledger');
  return error instanceof RunInputError ? setup('input') : undefined;
}

/** One wrong name means that the operator has to check all of them. */
function checkNames(
  { indices = [], release = [] }: RunInput,
  policies: ParsedPolicy[],
  records: ReadonlyMap<string, StoredRecord>,
): void {
  const withPolicy = new Set(policies.map(({ index }) => index));
  const unknown = indices.filter((name) => !withPolicy.has(searchIndexOfName(name)));
  if (unknown.length > 0) {
    const names = listed([...new Set(policies.map(namesOf).map(dottedName))]) || 'none';
    throw new RunInputError(`"indices" names ${listed(unknown)}, not found in any policy (policies: ${names})`);
  }
  const unknownNames = release.filter((name) => {
    const index = searchIndexOfName(name);
    return !withPolicy.has(index) && !records.has(index);
  });
  if (unknownNames.length > 0) {
    throw new RunInputError(
      `"release" names ${listed(unknownNames)}, which neither a policy nor the ledger knows: nothing was released`,
    );
  }
}

const listed = (names: string[]): string =>
  names.length <= 10 ? names.join(', ') : `${names.slice(0, 10).join(', ')} and ${names.length - 10} more`;

function expiryNotes({ token, certificate }: Identity, storedAt: number | undefined, now: number): Note[] {
  const note = (kind: 'token-expires' | 'certificate-expires', at: number | undefined): Note[] =>
    at === undefined ? [] : [{ kind, at, expired: at <= now || undefined }];
  return [
    ...note('token-expires', token === undefined ? undefined : expiryNotice(token, storedAt, now)),
    ...note('certificate-expires', certificate && certificateNotice(certificate, now)),
  ];
}

/** One note for all of them: old records stay behind when the address changes. */
export function addressNotes({ records }: Preparation, state: RunState): Note[] {
  const addresses = [...records.values()].flatMap((record) => addressElsewhere(record, state) ?? []);
  const [address] = addresses;
  return address === undefined ? [] : [{ kind: 'other-address', address: capped(address), records: addresses.length }];
}

/** Of an enforcing run that found no record: the first one, or one whose ledger was replaced or has lost its records. */
export async function emptyLedgerNotes(
  { records, canAskServer }: Preparation,
  { mode }: RunState,
  { ledger }: RunServices,
): Promise<Note[]> {
  const mayBeNew = mode === 'enforce' && canAskServer && records.size === 0 && !ledger.isTransient;
  return mayBeNew && (await isNewOrLost(ledger)) ? [{ kind: 'empty-ledger' }] : [];
}
