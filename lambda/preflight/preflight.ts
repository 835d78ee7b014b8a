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
  dnsCheck,
  dnsFailure,
  isElsewhere,
  privilegeCheck,
  tokenCheck,
  tokenRefused,
} from './checks.ts';

/**
 * Whether this server can be worked with: one check for each thing that can be wrong. Opens the survey and every preview,
 * before the first row is counted. Only reads; decides nothing: what is wrong here shows in the outcomes of the policies by
 * itself, or is something that runs can do without (sizes, task status).
 */

export interface PreflightInput {
  gmsUrl: string;
  /** Whether the questions come from Lambda, where a private address is the usual way. */
  onLambda: boolean;
  /** The addresses of a host name; throws where there are none. */
  lookup(hostname: string): Promise<string[]>;
  /** The token's text, for its expiry only. */
  token: string;
  /** Real time, epoch milliseconds. */
  now: number;
  operations: Operations;
  options?: ReadOptions;
  /** The answer to the question for sizes, where it was asked before: then the server was tried already. */
  sizes?: Asked<IndexSize[]>;
  /** Indices to try a dry run on before those that the server tells of. */
  indices?: readonly Index[];
  /** Told of checks as soon as nothing that is still to be asked can change them: a slow server takes seconds for each answer. */
  onChecks?(checks: Check[]): void;
}

export interface Preflight {
  checks: Check[];
  /** Where the server told them. */
  sizes?: IndexSize[];
  /** Whether dry runs are worth trying. */
  canCount: boolean;
  /** What every further request would meet as well. */
  failure?: ServerError;
}

/** Makes the preflight. Stops at the first cause that every further question would meet as well. Throws what is no OperationsError. */
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
  // That there are no operations at this address, three failures together tell.
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
    ],
    ...(sizes.kind === 'done' && { sizes: sizes.value }),
    canCount: dryRun.kind === 'done',
  };
}

/** The checks where one cause keeps the server from being asked anything. */
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

/** The checks of a server that went away, or refused the token, after they were made: what it then said counts. */
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

/** What can be said where the server cannot be asked, because a run has no token for instance: address form and DNS. */
export async function preflightOfAddress({
  gmsUrl,
  onLambda,
  lookup,
}: Pick<PreflightInput, 'gmsUrl' | 'onLambda' | 'lookup'>): Promise<Check[]> {
  const url = new URL(gmsUrl);
  const found = await addressesOf(url, lookup);
  return [addressCheck(url, found, onLambda), found === undefined ? dnsFailure(url) : dnsCheck(url, found)];
}

/** Well-formed, and nobody's: an allowed question about it is answered with "could not get". */
export const absentTask = 'datahub-retention-check:1';

export type Index = { entityType: string; aspect: string };

const triedIndices = 8;

/** Those of the policies that the server tells of, too; then what else it tells of: a mistyped name says nothing about privileges. */
function triedFirst(wanted: readonly Index[], known: readonly Index[]): Index[] {
  const names = new Set(known.map(searchIndex));
  const isKnown = (index: Index) => names.has(searchIndex(index));
  return [...wanted.filter(isKnown), ...known, ...wanted.filter((index) => !isKnown(index))];
}

/** Indices to try a dry run on: those that the server told of, then those that DataHub has. */
export const indicesToTry = (sizes: readonly IndexSize[]): Index[] => [
  ...sizes.flatMap(({ entityType, aspect }) =>
    entityType && aspect && entityType !== '*' ? [canonicalSpelling(entityType, aspect)] : [],
  ),
  ...knownAspects,
];

/** A dry run that matches nothing. An index may not exist, so some are tried. Throws OperationsError. */
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

/** An answer that another index may not get. */
const concernsIndex = ({ kind }: ServerError): boolean =>
  kind === 'no-index' || kind === 'server-error' || kind === 'bad-request';

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
