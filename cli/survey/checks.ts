import { type IndexNames, unknownTaskId } from '../../lambda/gms/backend.ts';
import { validityOf, validityProblem } from '../../lambda/gms/client-certificate.ts';
import { mayRefuseField } from '../../lambda/gms/force-field.ts';
import { isLoopback } from '../../lambda/gms/http/base-url.ts';
import { certificateNotice, expiryNotice, tokenExpiryMillis } from '../../lambda/gms/http/identity-provider.ts';
import { type Identity, type IdentityPart, partsOf } from '../../lambda/gms/identity.ts';
import { asResult, type DryRun, type IndexSize, type Operations, type Result } from '../../lambda/gms/operations.ts';
import { defaultBatchSize } from '../../lambda/model/policy-fields.ts';
import type { EngineKind, ServerError, ServerErrorKind } from '../../lambda/model/server-error.ts';
import { dayMillis } from '../../lambda/model/time.ts';
import { knownAspects } from '../../lambda/policy/aspects.ts';
import { maxClockSkewMillis } from '../../lambda/policy/decision.ts';
import { counted, date, duration } from '../../lambda/report/sentences/numbers.ts';
import { asSentence, createToken } from '../../lambda/report/sentences/phrases.ts';
import { diagnosis, remedyByHand } from '../../lambda/report/sentences/server-errors.ts';
import { forbidsStatuses } from '../../lambda/run/plan/requests.ts';
import type { DryRunner } from '../../lambda/truncation/counts.ts';
import type { Check } from '../events/findings.ts';
import type { Server } from '../inputs/server.ts';

/**
 * Whether this server can be used: address, token, privileges and clock, by three requests at the same time, so that a
 * server that does not answer is known to be one after a single time-out.
 */

interface CheckResults {
  checks: Check[];
  sizes?: IndexSize[];
  canCount: boolean;
  /** Why a run may not read task statuses, if so. */
  taskStatusError: ServerError | undefined;
}

/** The same server, asked with its identity or with another one. */
export interface ServerAccess {
  operations: Operations;
  operationsAs(identity: Identity): Operations;
}

/** @param now real time, epoch milliseconds. Throws what is not an OperationsError. */
export async function checkServer(
  server: Server,
  { operations, operationsAs }: ServerAccess,
  dryRun: DryRunner,
  now: number,
): Promise<CheckResults> {
  const [sizes, status, first] = await Promise.all([
    asResult(() => operations.indexSizes()),
    asResult(() => operations.taskStatus(unknownTaskId)),
    emptyDryRun(dryRun, firstIndex),
  ]);
  const common = commonFailure({ sizes, status, dryRun: first });
  const named = sizes.kind === 'done' ? sizes.value.filter(isNamed) : [];
  const answers = {
    sizes,
    status,
    dryRun: common ? first : await anyDryRun(dryRun, first, [...named, ...otherIndices]),
  };
  const identity = await server.identity.get();
  const shown: Shown = { server, identity, storedAt: server.identity.storedAt?.(), now, unneeded: new Set() };
  for (const part of common ? [] : partsOf(identity)) {
    if (await isAnswered(operationsAs({ ...identity, [part]: undefined }))) shown.unneeded.add(part);
  }
  const checks = common ? unusable(common, shown) : usable(answers, shown);
  const canCount = common === undefined && answers.dryRun.kind === 'done';
  const taskStatusError = status.kind === 'failed' && forbidsStatuses(status.error) ? status.error : undefined;
  const known = sizes.kind === 'done' ? sizes.value : undefined;
  return { checks, sizes: known, canCount, taskStatusError };
}

/** What was sent as identity, and what of it the server does not ask for. */
interface Shown {
  server: Server;
  identity: Identity;
  storedAt: number | undefined;
  /** Epoch milliseconds. */
  now: number;
  unneeded: Set<IdentityPart>;
}

/** Whether DataHub answers a dry run that deletes nothing, whatever it says of the index. */
export async function isAnswered(operations: Operations): Promise<boolean> {
  const fields = { ...firstIndex, cutoffMillis: 0, batchSize: defaultBatchSize };
  const result = await asResult(() => operations.dryRun(fields, { attempts: 1 }));
  return result.kind === 'done' || isDataHubs(result.error);
}

const isNamed = (size: IndexSize): size is IndexSize & IndexNames =>
  size.entityType !== undefined && size.aspect !== undefined;

const [firstIndex = { entityType: 'dataset', aspect: 'operation' }, ...otherIndices] = knownAspects;

interface Answers {
  sizes: Result<IndexSize[]>;
  status: Result<unknown>;
  dryRun: Result<DryRun | undefined>;
}

/** If only the index or the entity is missing, the request itself was allowed. */
async function emptyDryRun(dryRun: DryRunner, { entityType, aspect }: IndexNames): Promise<Answers['dryRun']> {
  const result = await asResult(() => dryRun({ entityType, aspect, cutoffMillis: 0, batchSize: defaultBatchSize }));
  return result.kind === 'failed' && (result.error.kind === 'no-index' || result.error.kind === 'bad-request')
    ? { kind: 'done', value: undefined }
    : result;
}

/**
 * An index that cannot be asked (closed, red, slow) says nothing about the others: they are asked in turn, first those
 * that have a size. Two time-outs are the server's.
 */
async function anyDryRun(
  dryRun: DryRunner,
  first: Answers['dryRun'],
  others: readonly IndexNames[],
): Promise<Answers['dryRun']> {
  let result = first;
  let mayTimeOut = true;
  for (const index of others) {
    if (result.kind === 'done') return result;
    const isTimeout = result.error.kind === 'timeout';
    if (!(isTimeout ? mayTimeOut : mayConcernIndex(result.error))) return result;
    mayTimeOut &&= !isTimeout;
    result = await emptyDryRun(dryRun, index);
  }
  return result.kind === 'done' ? result : first;
}

const mayConcernIndex = (error: ServerError): boolean => error.kind === 'server-error' || mayRefuseField(error);

/** What only DataHub refuses, once it has accepted the token: a proxy's 502 or 429 proves nothing. */
const fromDataHub: readonly ServerErrorKind[] = ['privilege', 'bad-request', 'no-index', 'too-old'];

/** Only DataHub quotes its search engine. */
const isDataHubs = ({ kind, engine }: ServerError): boolean => fromDataHub.includes(kind) || engine !== undefined;

/** The failure of all three, unless one of them shows that DataHub answers here and accepts the token. */
function commonFailure({ sizes, status, dryRun }: Answers): ServerError | undefined {
  const errors = [dryRun, sizes, status].flatMap((result) => (result.kind === 'failed' ? [result.error] : []));
  const [first] = errors;
  return errors.length === 3 && !errors.some(isDataHubs) ? first : undefined;
}

function unusable(error: ServerError, shown: Shown): Check[] {
  const failed = { state: 'failed', text: diagnosis(error), remedy: remedyByHand(error) } as const;
  const isToken = error.kind === 'unauthorized' || error.kind === 'token';
  const expiry = tokenCheck(shown);
  const gateway = gatewayChecks(shown, true);
  const refused = shown.identity.token === undefined ? 'the server asks for a token' : 'the token was refused';
  const unasked = isToken ? refused : notDataHub(error);
  const privileges = (['Truncation', 'Task status', 'Sizes', 'Clock'] as const).map((name) =>
    notChecked(name, unasked),
  );
  if (!isToken) {
    const token = expiry.state === 'failed' ? expiry : notChecked('Token', unasked);
    return [{ name: 'Address', ...failed }, token, ...gateway, ...privileges];
  }
  // An expired token is refused for that reason; for any other token, all we know is that it is refused.
  return [
    addressCheck(shown.server),
    expiry.state === 'failed' ? expiry : { name: 'Token', ...failed },
    ...gateway,
    ...privileges,
  ];
}

/** Where there is a status, something has answered: a gateway, a proxy, a page. */
function notDataHub({ kind, status }: ServerError): string {
  if (kind === 'throttled') return 'the server wants fewer requests';
  return status === undefined ? 'the server did not answer' : 'something other than DataHub answered';
}

function usable({ sizes, status, dryRun }: Answers, shown: Shown): Check[] {
  return [
    addressCheck(shown.server),
    tokenCheck(shown),
    ...gatewayChecks(shown, false),
    ...privilegeChecks({ sizes, status, dryRun }),
    clockCheck(dryRun),
  ];
}

const notChecked = (name: Check['name'], text: string): Check => ({ name, state: 'not checked', text });

function addressCheck({ baseUrl }: Server): Check {
  const url = new URL(baseUrl);
  const text = `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}/operations`;
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return { name: 'Address', state: 'ok', text };
  const advice = 'Anyone on the network path can read what is sent: prefer an https address.';
  return { name: 'Address', state: 'note', text: `${text}, not encrypted`, remedy: advice };
}

const newToken = asSentence(`${createToken}, for an account with the privileges below`);

const anybody = 'Anyone who reaches this port can delete rows, too: let nobody but DataHub and this job through to it.';

function tokenCheck({ identity: { token }, storedAt, now, unneeded }: Shown): Check {
  const name = 'Token';
  if (token === undefined)
    return { name, state: 'note', text: 'none is sent; the server asks for none', remedy: anybody };
  if (unneeded.has('token')) {
    return { name, state: 'note', text: 'sent, but the server answers without one, too', remedy: anybody };
  }
  const isDue = expiryNotice(token, storedAt, now) !== undefined;
  return expiryCheck({ name, state: 'ok', text: 'accepted' }, tokenExpiryMillis(token), isDue, now, newToken);
}

const notYet = "Correct this machine's clock if it is wrong; otherwise give the certificate that is valid today.";

/** What was sent to something in front of DataHub; values are never shown. */
function gatewayChecks({ identity, unneeded, now }: Shown, isRefused: boolean): Check[] {
  const { headers, certificate } = identity;
  const state = isRefused ? 'not checked' : 'ok';
  const found = (part: IdentityPart) =>
    isRefused ? 'sent' : unneeded.has(part) ? 'sent; the server answers without, too' : 'sent, and needed';
  const checks: Check[] = [];
  if (headers) {
    checks.push({ name: 'Headers', state, text: `${Object.keys(headers).join(', ')} ${found('headers')}` });
  }
  if (certificate) {
    const check: Check = { name: 'Certificate', state, text: found('certificate') };
    const { at, issuedAt } = validityOf(certificate.cert);
    const isDue = certificateNotice(certificate, now) !== undefined;
    const early = { ...check, state: 'failed', text: `not valid before ${date(issuedAt)}`, remedy: notYet } as const;
    const isEarly = validityProblem(certificate, now) === 'early';
    checks.push(isEarly ? early : expiryCheck(check, at, isDue, now, 'Renew the client certificate.'));
  }
  return checks;
}

/** @param isDue people should hear of it by now */
function expiryCheck(check: Check, at: number | undefined, isDue: boolean, now: number, remedy: string): Check {
  if (at === undefined) return { ...check, text: `${check.text}; it does not say when it expires` };
  const away = Math.abs(at - now);
  const time = away < dayMillis ? duration(away / 1000) : counted(Math.floor(away / dayMillis), 'day', 'days');
  if (at <= now) return { ...check, state: 'failed', text: `expired ${time} ago (${date(at)})`, remedy };
  const text = `${check.text}; expires in ${time} (${date(at)})`;
  return isDue ? { ...check, state: 'note', text, remedy } : { ...check, text };
}

function privilegeChecks({ sizes, status, dryRun }: Answers): Check[] {
  const asked = [
    ['Truncation', dryRun, 'failed', 'allowed (asked by a dry run)', 'Nothing can be counted until this works.'],
    ['Task status', status, 'note', 'readable', 'Deletes work without it: runs count rows. A reindex needs it.'],
    ['Sizes', sizes, 'note', 'readable', 'Runs work without it, and report no sizes.'],
  ] as const;
  /** What the search engine refuses is said once, with what to do. */
  const said = new Map<EngineKind, Check['name']>();
  return asked.map(([name, result, otherwise, allowed, without]): Check => {
    if (result.kind === 'done') return { name, state: 'ok', text: allowed };
    const { error } = result;
    const isUnanswered = error.kind === 'timeout' || error.kind === 'aborted';
    const state = isUnanswered ? 'not checked' : otherwise;
    const same = error.engine && said.get(error.engine);
    if (same) return { name, state, text: `the same as ${same}`, remedy: without };
    if (error.engine && error.engine !== 'other') said.set(error.engine, name);
    return { name, state, text: diagnosis(error), remedy: `${remedyByHand(error)} ${without}` };
  });
}

function clockCheck(dryRun: Answers['dryRun']): Check {
  if (dryRun.kind === 'failed') return notChecked('Clock', 'nothing was counted');
  if (dryRun.value === undefined) return notChecked('Clock', 'the index that was asked for is not there');
  const { clockSkewMillis: skew } = dryRun.value;
  if (skew === undefined) {
    return { name: 'Clock', state: 'note', text: 'the server sends no valid Date header' };
  }
  if (Math.abs(skew) <= maxClockSkewMillis) return { name: 'Clock', state: 'ok', text: 'agrees with ours' };
  return {
    name: 'Clock',
    state: 'failed',
    text: `the server's clock is ${Math.round(Math.abs(skew) / 60_000)} min ${skew > 0 ? 'ahead of' : 'behind'} ours`,
    remedy: 'Correct the wrong one (NTP): nothing is truncated until they agree.',
  };
}
