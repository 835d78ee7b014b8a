import type { Check } from '../facts/report-schema.ts';
import type { DryRun, IndexSize, Operations, ReadOptions } from '../operations/operations.ts';
import { OperationsError } from '../operations/operations.ts';
import { canonicalSpelling, knownAspects } from '../policy/aspects.ts';
import type { Place, RunServices, Surroundings } from '../run/services.ts';
import { isIpHost, withoutBrackets } from './addresses.ts';
import {
  addressCheck,
  addressElsewhere,
  bounded,
  clockCheck,
  connectionCheck,
  connectionFailure,
  dnsCheck,
  dnsFailure,
  factOf,
  isElsewhere,
  privilegeCheck,
  tokenCheck,
  tokenRefused,
} from './checks.ts';

/**
 * Whether this server can be worked with: one check for each thing that can be wrong, with its remedy. Opens the survey and
 * every preview. Only reads; decides nothing: what is wrong here shows in the outcomes of the policies by itself, or is
 * something that runs work without (sizes, task status).
 */

/** What a question brought, or why it brought nothing. */
export type Attempt<Value> = { kind: 'done'; value: Value } | { kind: 'failed'; error: OperationsError };

/** The questions to the server. Whoever knows an answer already hands it on instead. Each throws OperationsError. */
export interface Probes {
  sizes(): Promise<IndexSize[]>;
  status(): Promise<unknown>;
  /** Any dry run: for its privilege, and for the server's clock. */
  dryRun(sizes: readonly IndexSize[]): Promise<Pick<DryRun, 'clockSkewMillis'>>;
}

export interface PreflightInput extends Pick<Surroundings, 'place' | 'lookup'> {
  gmsUrl: string;
  /** The token's text, for its expiry only. */
  token: string;
  /** Real time, epoch milliseconds. */
  now: number;
  probes: Probes;
  /** The answer to the question for sizes, where it was asked before: then the server was tried already. */
  sizes?: Attempt<IndexSize[]>;
}

export interface Preflight {
  checks: Check[];
  /** Where the server told them. */
  sizes?: IndexSize[];
  /** Whether dry runs are worth trying. */
  canCount: boolean;
}

/** Makes the preflight. Stops at the first cause that every further question would meet as well. Throws what is no OperationsError. */
export async function preflight(input: PreflightInput): Promise<Preflight> {
  const made = await check(input);
  return { ...made, checks: made.checks.map(bounded) };
}

async function check(input: PreflightInput): Promise<Preflight> {
  const { place, probes } = input;
  const url = new URL(input.gmsUrl);
  const token = tokenCheck(input.token, input.now, place);
  const looking = addressesOf(url, input.lookup);
  if (input.sizes === undefined && (await looking) === undefined) {
    return { checks: [addressCheck(url, undefined, place), dnsFailure(url, place), token], canCount: false };
  }
  const sizes = input.sizes ?? (await attempt(probes.sizes));
  if (sizes.kind === 'failed' && sizes.error.concernsServer) {
    return { checks: unasked(sizes.error, url, await looking, token, place), canCount: false };
  }
  const [found, status, dryRun] = await Promise.all([
    looking,
    attempt(probes.status),
    attempt(() => probes.dryRun(sizes.kind === 'done' ? sizes.value : [])),
  ]);
  if (dryRun.kind === 'failed' && dryRun.error.concernsServer) {
    return { checks: unasked(dryRun.error, url, found, token, place), canCount: false };
  }
  const reached = [dnsCheck(url, found), connectionCheck(url), token];
  if (sizes.kind === 'failed' && status.kind === 'failed' && dryRun.kind === 'failed' && isElsewhere(sizes.error)) {
    return { checks: [addressElsewhere(sizes.error, place), ...reached], canCount: false };
  }
  return {
    checks: [
      addressCheck(url, found, place),
      ...reached,
      privilegeCheck('Sizes', sizes),
      privilegeCheck('Truncation', dryRun),
      privilegeCheck('Task status', status),
      ...clockCheck(dryRun.kind === 'done' ? dryRun.value.clockSkewMillis : undefined),
    ],
    ...(sizes.kind === 'done' && { sizes: sizes.value }),
    canCount: dryRun.kind === 'done',
  };
}

/** The checks where one cause keeps the server from being asked anything. */
function unasked(error: OperationsError, url: URL, found: string[] | undefined, token: Check, place: Place): Check[] {
  const address = addressCheck(url, found, place);
  if (error.kind === 'dns') return [address, dnsFailure(url, place, factOf(error)), token];
  const dns = dnsCheck(url, found);
  if (error.kind === 'unauthorized') return [address, dns, connectionCheck(url), tokenRefused(token, error, place)];
  return [address, dns, connectionFailure(error, url, place), token];
}

/** The checks of a server that went away, or refused the token, after they were made: what it then said counts. */
export function afterFailure(
  checks: readonly Check[],
  error: OperationsError,
  { settings, surroundings: { place } }: Pick<RunServices, 'settings' | 'surroundings'>,
): Check[] {
  const url = new URL(settings.gmsUrl);
  const corrected = (check: Check): Check => {
    if (error.kind === 'unauthorized') return check.name === 'Token' ? tokenRefused(check, error, place) : check;
    if (error.kind === 'dns') return check.name === 'DNS' ? dnsFailure(url, place, factOf(error)) : check;
    return check.name === 'Connection' ? connectionFailure(error, url, place) : check;
  };
  return checks.map((check) => (check.state === 'failed' ? check : bounded(corrected(check))));
}

/** What can be said where the server cannot be asked, because a run has no token for instance: address form and DNS. */
export async function preflightOfAddress({
  gmsUrl,
  place,
  lookup,
}: Pick<PreflightInput, 'gmsUrl' | 'place' | 'lookup'>): Promise<Check[]> {
  const url = new URL(gmsUrl);
  const found = await addressesOf(url, lookup);
  const dns = found === undefined ? dnsFailure(url, place) : dnsCheck(url, found);
  return [addressCheck(url, found, place), dns].map(bounded);
}

/** Asks the server itself. */
export const probesOf = (operations: Operations, options: ReadOptions = {}): Probes => ({
  sizes: () => operations.indexSizes(options),
  status: () => operations.taskStatus(absentTask, options),
  dryRun: (sizes) => tryDryRun(operations, indicesToTry(sizes), options),
});

/** Well-formed, and nobody's: an allowed question about it is answered with "could not get". */
const absentTask = 'datahub-retention-check:1';

type Index = { entityType: string; aspect: string };

/** Indices to try a dry run on: those that the server told of, then those that DataHub has. */
export const indicesToTry = (sizes: readonly IndexSize[]): Index[] =>
  [
    ...sizes.flatMap(({ entityType, aspect }) =>
      entityType && aspect && entityType !== '*' ? [canonicalSpelling(entityType, aspect)] : [],
    ),
    ...knownAspects,
  ].slice(0, 8);

/** A dry run that matches nothing. An index that does not exist answers 500, so some are tried. Throws OperationsError. */
export async function tryDryRun(
  operations: Operations,
  indices: readonly Index[],
  options: ReadOptions = {},
): Promise<DryRun> {
  let last: unknown;
  for (const index of indices) {
    try {
      return await operations.dryRun(
        { ...index, endTimeMillis: 0, batchSize: 10_000, forceDeleteByQuery: true },
        options,
      );
    } catch (error) {
      if (!(error instanceof OperationsError) || !concernsIndex(error)) throw error;
      last = error;
    }
  }
  throw last;
}

/** An answer that another index may not get. */
export const concernsIndex = ({ kind }: OperationsError): boolean => kind === 'server-error' || kind === 'bad-request';

export async function attempt<Value>(ask: () => Promise<Value>): Promise<Attempt<Value>> {
  try {
    return { kind: 'done', value: await ask() };
  } catch (error) {
    if (error instanceof OperationsError) return { kind: 'failed', error };
    throw error;
  }
}

/** Undefined where the name has none, or the resolver did not say. */
async function addressesOf(url: URL, lookup: PreflightInput['lookup']): Promise<string[] | undefined> {
  const host = withoutBrackets(url.hostname);
  if (isIpHost(url.hostname)) return [host];
  try {
    const addresses = await lookup(host);
    return addresses.length > 0 ? addresses : undefined;
  } catch {
    return undefined;
  }
}
