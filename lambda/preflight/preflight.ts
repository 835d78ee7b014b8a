import type { Check } from '../facts/check.ts';
import { concernsServer, type ServerError } from '../facts/server-error.ts';
import { isIpHost, withoutBrackets } from '../operations/http/addresses.ts';
import {
  type Asked,
  asking,
  type DryRun,
  type IndexSize,
  type Operations,
  OperationsError,
  type ReadOptions,
} from '../operations/operations.ts';
import { canonicalSpelling, knownAspects, searchIndex } from '../policy/aspects.ts';
import {
  addressCheck,
  addressElsewhere,
  clockCheck,
  connectionCheck,
  connectionFailure,
  copiesChecks,
  dnsCheck,
  dnsFailure,
  isElsewhere,
  privilegeCheck,
  tokenCheck,
  tokenRefused,
} from './checks.ts';

/**
 * Whether this server is usable: one check for each thing that can be wrong. It runs at the start of the survey and of
 * every preview, before the first row is counted. It only reads and decides nothing: problems found here show up in
 * the policies' outcomes anyway, or concern things that runs can do without (sizes, task status).
 */

export interface PreflightInput {
  gmsUrl: string;
  /** Whether the requests come from Lambda, where a private address is normal. */
  onLambda: boolean;
  /** The addresses of a host name; throws if there are none. */
  lookup(hostname: string): Promise<string[]>;
  /** The token's text, for its expiry only. */
  token: string;
  /** Real time, epoch milliseconds. */
  now: number;
  operations: Operations;
  options?: ReadOptions;
  /** The answer to an earlier request for sizes, if there was one: then the server has already been tried. */
  sizes?: Asked<IndexSize[]>;
  /** Indices to try a dry run on before those that the server lists. */
  indices?: readonly Index[];
  /** Called with checks as soon as no pending request can change them: a slow server takes seconds for each answer. */
  onChecks?(checks: Check[]): void;
}

export interface Preflight {
  checks: Check[];
  /** If the server reported them. */
  sizes?: IndexSize[];
  /** Whether dry runs are worth trying. */
  canCount: boolean;
  /** A failure that every further request would hit as well. */
  failure?: ServerError;
}

/**
 * Runs the preflight. Stops at the first failure that every further request would hit as well. Throws anything that is
 * not an OperationsError.
 */
export async function preflight(input: PreflightInput): Promise<Preflight> {
  const { operations, options = {}, onLambda, onChecks = () => {} } = input;
  const url = new URL(input.gmsUrl);
  const token = tokenCheck(input.token, input.now);
  const found = await addressesOf(url, input.lookup);
  if (input.sizes === undefined && found === undefined) {
    return { checks: [addressCheck(url, found, onLambda), dnsFailure(url), token], canCount: false };
  }
  const sizes = input.sizes ?? (await asking(() => operations.indexSizes(options)));
  if (sizes.kind === 'failed' && concernsServer(sizes.error)) return unasked(sizes.error, url, found, token, onLambda);
  const address = addressCheck(url, found, onLambda);
  const reached = [dnsCheck(url, found), connectionCheck(url), token];
  const sizesCheck = privilegeCheck('Sizes', sizes);
  // Only three failures together show that this address has no operations.
  const isOurs = sizes.kind === 'done';
  if (isOurs) onChecks([address, ...reached, sizesCheck]);
  const status = await asking(() => operations.taskStatus(absentTask, options));
  const statusCheck = privilegeCheck('Task status', status);
  if (isOurs) onChecks([statusCheck]);
  const indices = triedFirst(input.indices ?? [], indicesToTry(sizes.kind === 'done' ? sizes.value : []));
  const dryRun = await asking(() => tryDryRun(operations, indices.slice(0, triedIndices), options));
  if (dryRun.kind === 'failed' && concernsServer(dryRun.error))
    return unasked(dryRun.error, url, found, token, onLambda);
  if (sizes.kind === 'failed' && status.kind === 'failed' && dryRun.kind === 'failed' && isElsewhere(sizes.error)) {
    return { checks: [addressElsewhere(sizes.error), ...reached], canCount: false };
  }
  return {
    checks: [
      address,
      ...reached,
      sizesCheck,
      privilegeCheck('Truncation', dryRun),
      statusCheck,
      ...clockCheck(dryRun.kind === 'done' ? dryRun.value.clockSkewMillis : undefined),
      ...copiesChecks(sizes.kind === 'done' ? sizes.value : [], input.now),
    ],
    ...(sizes.kind === 'done' && { sizes: sizes.value }),
    canCount: dryRun.kind === 'done',
  };
}

/** The checks if a single cause prevents all requests to the server. */
function unasked(
  error: ServerError,
  url: URL,
  found: string[] | undefined,
  token: Check,
  onLambda: boolean,
): Preflight {
  const address = addressCheck(url, found, onLambda);
  const dns = dnsCheck(url, found);
  const checks: Record<string, Check[]> = {
    dns: [address, dnsFailure(url, error), token],
    unauthorized: [address, dns, connectionCheck(url), tokenRefused(token, error)],
    token: [address, dns, tokenRefused(token, error)],
  };
  return {
    checks: checks[error.kind] ?? [address, dns, connectionFailure(error, url), token],
    canCount: false,
    failure: error,
  };
}

/** The checks of a server that later went away or refused the token: the later answer counts. */
export function afterFailure(checks: readonly Check[], error: ServerError, gmsUrl: string): Check[] {
  const url = new URL(gmsUrl);
  return checks.map((check) => {
    if (check.state === 'failed') return check;
    if (error.kind === 'unauthorized' || error.kind === 'token') {
      return check.name === 'Token' ? tokenRefused(check, error) : check;
    }
    if (error.kind === 'dns') return check.name === 'DNS' ? dnsFailure(url, error) : check;
    return check.name === 'Connection' ? connectionFailure(error, url) : check;
  });
}

/**
 * What can be checked without asking the server, for instance if a run has no token: the form of the address, and DNS.
 */
export async function preflightOfAddress({
  gmsUrl,
  onLambda,
  lookup,
}: Pick<PreflightInput, 'gmsUrl' | 'onLambda' | 'lookup'>): Promise<Check[]> {
  const url = new URL(gmsUrl);
  const found = await addressesOf(url, lookup);
  return [addressCheck(url, found, onLambda), found === undefined ? dnsFailure(url) : dnsCheck(url, found)];
}

/** Well-formed but unused: if the request is allowed, the answer is "could not get". */
export const absentTask = 'datahub-retention-check:1';

export type Index = { entityType: string; aspect: string };

const triedIndices = 8;

/**
 * First the policies' indices that the server also lists, then the others that it lists: a mistyped name says
 * nothing about privileges.
 */
function triedFirst(wanted: readonly Index[], known: readonly Index[]): Index[] {
  const names = new Set(known.map(searchIndex));
  const isKnown = (index: Index) => names.has(searchIndex(index));
  return [...wanted.filter(isKnown), ...known, ...wanted.filter((index) => !isKnown(index))];
}

/** Indices to try a dry run on: those that the server listed, then those that DataHub has. */
export const indicesToTry = (sizes: readonly IndexSize[]): Index[] => [
  ...sizes.flatMap(({ entityType, aspect }) =>
    entityType && aspect && entityType !== '*' ? [canonicalSpelling(entityType, aspect)] : [],
  ),
  ...knownAspects,
];

/** A dry run that matches nothing. An index may not exist, so it tries several. Throws OperationsError. */
async function tryDryRun(operations: Operations, indices: readonly Index[], options: ReadOptions): Promise<DryRun> {
  let last: unknown;
  for (const index of indices) {
    try {
      return await operations.dryRun(
        { ...index, endTimeMillis: 0, batchSize: 10_000, forceDeleteByQuery: true },
        options,
      );
    } catch (error) {
      if (!(error instanceof OperationsError) || !concernsIndex(error.fact)) throw error;
      last = error;
    }
  }
  throw last;
}

/** An answer that another index might not get. */
const concernsIndex = ({ kind }: ServerError): boolean =>
  kind === 'no-index' || kind === 'server-error' || kind === 'bad-request';

/** Undefined if the name has none, or the resolver did not answer. */
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
