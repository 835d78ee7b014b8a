import { secureContextFor } from '../../lambda/gms/http/connection.ts';
import { backoffMillis, realSleep } from '../../lambda/gms/http/retry.ts';
import { duration } from '../../lambda/report/sentences/numbers.ts';
import { tlsProblem } from '../../lambda/report/sentences/server-errors.ts';
import { publishMillis } from '../../lambda/run/deadlines.ts';
import { isProxy, NoAnswerError, type RawRequest, type RawResponse, sendRequest } from '../inputs/request.ts';
import { ignoredRange, proxyFor } from '../inputs/server.ts';

/**
 * Sends what a run came to, up to three times, through the environment's proxy if there is one for this address. It may
 * therefore arrive twice, which is better than never.
 */

const attempts = 3;
/** How long a try may take, milliseconds. */
const defaultLimits = { open: 10_000, usual: 40_000, last: publishMillis };
/** The part of an answer that is read. */
export const maxBytes = 64 * 1024;

export interface DeliveryOptions {
  /** The certificates of a private authority, trusted for the receiver as well. */
  caPem?: string | undefined;
  sleep?: (millis: number) => Promise<void>;
  limits?: typeof defaultLimits;
}

/** Why a try has failed: a sentence with the remedy. */
export interface Failure {
  problem: string;
  isTransient: boolean;
  retryAfter?: number | undefined;
  /** It may have arrived: what the receiver needs is time, and no third copy. */
  isSlow?: boolean;
}

/**
 * @param judge whether an answer takes what was sent, or why not
 * @returns what `judge` returned of the last answer, or why there was none. Never throws.
 */
export async function deliver<Taken extends object>(
  request: Omit<RawRequest, 'proxy' | 'tls' | 'limits'>,
  judge: (response: RawResponse) => Taken | Failure,
  { caPem, sleep = realSleep, limits = defaultLimits }: DeliveryOptions,
): Promise<Taken | Failure> {
  const proxy = proxyFor(request.url);
  if (proxy !== undefined && !isProxy(proxy)) {
    return {
      problem: 'correct the proxy variable (in a password, %, / and # are %25, %2F and %23).',
      isTransient: false,
    };
  }
  const tls = caPem === undefined ? {} : { secureContext: secureContextFor(caPem) };
  let isLast = false;
  for (let tries = 1; ; tries++) {
    isLast ||= tries === attempts;
    const totalMillis: number = isLast ? limits.last : limits.usual;
    const answer: Taken | Failure = await sendRequest({
      ...request,
      proxy,
      tls,
      limits: { openMillis: limits.open, totalMillis, maxBytes },
    }).then(judge, (error: unknown) => whyNoAnswer(error, totalMillis));
    if (!('problem' in answer) || !answer.isTransient || isLast) return answer;
    isLast = answer.isSlow === true;
    await sleep(backoffMillis(tries, Math.random(), answer.retryAfter));
  }
}

/** For the sentence that names the receiver. */
export function proxyNotice(url: string): string {
  const proxy = proxyFor(url);
  if (proxy === undefined) return '';
  return ` through the proxy ${isProxy(proxy) ? new URL(proxy).host : 'of the environment'}`;
}

export const signInAtProxy = 'A proxy wants a sign-in: HTTPS_PROXY or HTTP_PROXY must hold its user name and password.';

function whyNoAnswer(error: unknown, waitedMillis: number): Failure {
  if (!(error instanceof NoAnswerError)) throw error;
  const { stage, code, mayHaveArrived, proxyStatus } = error;
  // The codes of our HTTP client tell a person nothing.
  const why = code === undefined || code.startsWith('UND_') ? '' : ` (${code})`;
  const check = `Check the address, and HTTPS_PROXY and NO_PROXY${ignoredRange(process.env)}.`;
  if (stage === 'dns')
    return { problem: `its name cannot be resolved${why}. ${check}`, isTransient: code === 'EAI_AGAIN' };
  if (stage === 'tls') return { problem: tlsProblem(code), isTransient: false };
  if (proxyStatus !== undefined) {
    const remedy = proxyStatus === 407 ? signInAtProxy : 'Check HTTPS_PROXY, and what it lets through.';
    return { problem: `the proxy answered ${proxyStatus}. ${remedy}`, isTransient: proxyStatus >= 500 };
  }
  if (mayHaveArrived) {
    const isSlow = stage === 'timeout';
    const [what, remedy] = isSlow
      ? [` within ${duration(waitedMillis / 1000)}`, 'and have the receiver answer sooner']
      : [`: it closed the connection, or speaks no HTTP${why}`, 'and check the receiver'];
    const problem = `no answer${what}. It may have arrived all the same: look there, ${remedy}.`;
    return { problem, isTransient: true, isSlow };
  }
  if (stage === 'timeout') return { problem: `no connection in time. ${check}`, isTransient: true };
  return { problem: `no connection${why}. ${check}`, isTransient: true };
}
