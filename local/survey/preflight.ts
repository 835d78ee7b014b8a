import { isIP } from 'node:net';
import type { IndexSize, Operations } from '../../lambda/operations/operations.ts';
import { OperationsError } from '../../lambda/operations/operations.ts';
import { tokenExpiryMillis } from '../../lambda/operations/token-expiry.ts';
import { canonicalSpelling, knownAspects } from '../../lambda/policy/aspects.ts';
import { dayMillis, maxClockSkewMillis, tokenExpiryNoticeMillis } from '../../lambda/run/limits.ts';

/** Whether this server can be worked with: one line for each thing that can be wrong, with its remedy. Read-only. */

export interface Check {
  name: 'Address' | 'DNS' | 'Connection' | 'Token' | 'Sizes' | 'Truncation' | 'Task status' | 'Clock';
  /** `note`: works, but a person should know. */
  state: 'ok' | 'note' | 'failed';
  text: string;
  /** What to do about it. */
  remedy?: string;
}

export interface PreflightInput {
  gmsUrl: string;
  /** The token's text, for its expiry only. */
  token: string;
  operations: Operations;
  /** Real time, epoch milliseconds. */
  now: number;
  /** Indices to try a dry run on before the known ones: those of the policies. */
  indices?: ReadonlyArray<{ entityType: string; aspect: string }>;
  /** The addresses of a host name; throws like `dns.promises.lookup`. */
  lookup(hostname: string): Promise<string[]>;
}

export interface Preflight {
  checks: Check[];
  /** Where the server told them. */
  sizes?: IndexSize[];
  /** Whether dry runs are worth trying. */
  canCount: boolean;
}

export async function preflight(input: PreflightInput): Promise<Preflight> {
  const { operations } = input;
  const url = new URL(input.gmsUrl);
  const address = checkAddress(url);
  const token = checkToken(input.token, input.now);
  const dns = await checkDns(url, input.lookup);
  if (dns.state === 'failed') return { checks: [address, dns, token], canCount: false };

  const sizes = await attempt(() => operations.indexSizes());
  const unreachable = sizes.kind === 'failed' ? connectionFailure(sizes.error, url) : undefined;
  if (unreachable) return { checks: [address, dns, unreachable, token], canCount: false };

  const connection: Check = { name: 'Connection', state: 'ok', text: connectionText(url) };
  if (sizes.kind === 'failed' && sizes.error.kind === 'unauthorized') {
    const refused: Check =
      token.state === 'failed' ? token : { name: 'Token', state: 'failed', text: sizes.error.message };
    return { checks: [address, dns, connection, { ...refused, remedy: newToken }], canCount: false };
  }
  const status = await attempt(() => operations.taskStatus(absentTask));
  const dryRun = await tryDryRun(input, sizes.kind === 'done' ? sizes.value : []);
  if (sizes.kind === 'failed' && status.kind === 'failed' && dryRun.kind === 'failed' && isElsewhere(sizes.error)) {
    return {
      checks: [{ name: 'Address', state: 'failed', text: sizes.error.message }, dns, connection, token],
      canCount: false,
    };
  }
  return {
    checks: [
      address,
      dns,
      connection,
      token,
      privilege('Sizes', sizes, 'are told', 'runs work without; DataHub’s known aspects are tried instead'),
      privilege(
        'Truncation',
        dryRun,
        'is allowed (asked by a dry run)',
        'nothing can be counted or truncated until this works',
      ),
      privilege('Task status', status, 'is told', 'runs work without; truncations are then watched by counting rows'),
      ...checkClock(dryRun.kind === 'done' ? dryRun.value.clockSkewMillis : undefined),
    ],
    ...(sizes.kind === 'done' && { sizes: sizes.value }),
    canCount: dryRun.kind === 'done',
  };
}

/** Well-formed, and nobody's: an allowed question about it is answered with "could not get". */
const absentTask = 'datahub-retention-check:1';

type Attempt<Value> = { kind: 'done'; value: Value } | { kind: 'failed'; error: OperationsError };

async function attempt<Value>(ask: () => Promise<Value>): Promise<Attempt<Value>> {
  try {
    return { kind: 'done', value: await ask() };
  } catch (error) {
    if (error instanceof OperationsError) return { kind: 'failed', error };
    throw error;
  }
}

/** A dry run that matches nothing. An index that does not exist answers 500, so some are tried. */
async function tryDryRun({ operations, indices = [] }: PreflightInput, sizes: readonly IndexSize[]) {
  const listed = sizes.flatMap(({ entityType, aspect }) =>
    entityType && aspect && entityType !== '*' ? [canonicalSpelling(entityType, aspect)] : [],
  );
  const candidates = [...indices, ...listed, ...knownAspects].slice(0, 8);
  let last: Awaited<ReturnType<typeof once>> | undefined;
  const once = (index: { entityType: string; aspect: string }) =>
    attempt(() => operations.dryRun({ ...index, endTimeMillis: 0, batchSize: 10_000, forceDeleteByQuery: true }));
  for (const index of candidates) {
    last = await once(index);
    if (last.kind === 'done') return last;
    if (last.error.kind !== 'server-error' && last.error.kind !== 'bad-request') return last;
  }
  return last!;
}

function checkAddress(url: URL): Check {
  const text = `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}/operations`;
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return { name: 'Address', state: 'ok', text };
  return {
    name: 'Address',
    state: 'note',
    text: `${text}, not encrypted`,
    remedy: 'whoever listens on the way can read the token: prefer an https address',
  };
}

async function checkDns(url: URL, lookup: PreflightInput['lookup']): Promise<Check> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host)) return { name: 'DNS', state: 'ok', text: `${host} is an address already` };
  try {
    const addresses = await lookup(host);
    return { name: 'DNS', state: 'ok', text: `${host} is ${addresses.slice(0, 3).join(', ')}` };
  } catch {
    return {
      name: 'DNS',
      state: 'failed',
      text: `${host} has no address on this machine`,
      remedy:
        'check the spelling; a name inside Kubernetes is reached by kubectl port-forward, a private one through the VPN',
    };
  }
}

function connectionFailure(error: OperationsError, url: URL): Check | undefined {
  if (error.kind !== 'tls' && error.kind !== 'connect' && error.kind !== 'dns') return undefined;
  const failed: Check = { name: 'Connection', state: 'failed', text: error.message };
  if (error.kind === 'tls') return failed;
  const remedy = isLoopback(url.hostname)
    ? 'is the server, or kubectl port-forward, running on this port?'
    : 'a GMS in Kubernetes is reached by kubectl port-forward, a private one through the VPN';
  return { ...failed, remedy };
}

const connectionText = (url: URL): string =>
  url.protocol === 'https:' ? 'stands, and the certificate is trusted' : 'stands, without TLS';

/** Answers that no GMS gives: all three operations met them. */
const isElsewhere = ({ kind }: OperationsError): boolean =>
  kind === 'not-found' || kind === 'redirect' || kind === 'not-json';

const newToken = 'create one in DataHub under Settings > Access Tokens, for an account with the three privileges';

function checkToken(token: string, now: number): Check {
  const expiry = tokenExpiryMillis(token);
  if (expiry === undefined) return { name: 'Token', state: 'ok', text: 'does not tell its expiry' };
  const date = new Date(expiry).toISOString().slice(0, 16).replace('T', ' ');
  const days = Math.floor(Math.abs(expiry - now) / dayMillis);
  const dayCount = `${days} ${days === 1 ? 'day' : 'days'}`;
  if (expiry <= now) {
    return { name: 'Token', state: 'failed', text: `expired ${dayCount} ago (${date} UTC)`, remedy: newToken };
  }
  const text = `expires in ${dayCount} (${date} UTC)`;
  return expiry - now > tokenExpiryNoticeMillis
    ? { name: 'Token', state: 'ok', text }
    : { name: 'Token', state: 'note', text, remedy: `${newToken}, before it does` };
}

function privilege(name: Check['name'], probe: Attempt<unknown>, allowed: string, without: string): Check {
  if (probe.kind === 'done') return { name, state: 'ok', text: allowed };
  return { name, state: 'failed', text: probe.error.message, remedy: without };
}

function checkClock(skewMillis: number | undefined): Check[] {
  if (skewMillis === undefined) return [];
  const minutes = Math.round(Math.abs(skewMillis) / 60_000);
  if (Math.abs(skewMillis) <= maxClockSkewMillis) return [{ name: 'Clock', state: 'ok', text: 'agrees with ours' }];
  return [
    {
      name: 'Clock',
      state: 'failed',
      text: `the server's is ${minutes} minutes ${skewMillis > 0 ? 'ahead of' : 'behind'} ours`,
      remedy: 'correct the wrong one (NTP): a wrong clock deletes fresh rows, so nothing is truncated until they agree',
    },
  ];
}

/** Whether a host name is this machine. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
