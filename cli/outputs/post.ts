import { bodyText } from '../../lambda/gms/http/body-text.ts';
import { trusting } from '../../lambda/gms/http/connection.ts';
import { backoffMillis, realSleep, retryAfterMillis } from '../../lambda/gms/http/retry.ts';
import { repeats } from '../../lambda/gms/secrets.ts';
import { type Body, serialize } from '../../lambda/report/destination.ts';
import { destinations } from '../../lambda/report/destinations/registry.ts';
import { duration } from '../../lambda/report/sentences/numbers.ts';
import { oneLine } from '../../lambda/report/sentences/text.ts';
import { publishMillis } from '../../lambda/run/deadlines.ts';
import type { Posted } from '../events/run-listener.ts';
import { NoAnswerError, sendRequest } from '../inputs/request.ts';
import { ignoredRange, proxyFor } from '../inputs/server.ts';
import { secretsOf, type Webhook } from '../inputs/webhook.ts';
import { receiptOf } from './receipt.ts';

/** Posts a message, through the environment's proxy if there is one for this address. */

/** A message may therefore arrive twice (each has its run's id), which is better than never. */
export const attempts = 3;
/** How long a try may take, milliseconds. */
export const usualLimits = { open: 10_000, usual: 40_000, last: publishMillis };
/** The part of an answer that is read. */
export const maxBytes = 64 * 1024;
/** A receiver's refusal is usually a word or two. */
const maxQuote = 120;

interface PostOptions {
  /** The certificates of a private authority, trusted for the receiver as well. */
  caPem?: string | undefined;
  sleep?: (millis: number) => Promise<void>;
  limits?: typeof usualLimits;
}

/** Posts text, or an object as JSON. Never throws. */
export async function post(webhook: Webhook, body: Body, options: PostOptions = {}): Promise<Posted> {
  const { caPem, sleep = realSleep, limits = usualLimits } = options;
  const { host, url } = webhook;
  const proxy = proxyFor(url);
  const failed = (problem: string): Posted => ({
    kind: 'failed',
    host,
    problem: `The message could not be posted to ${host}${through(proxy)}: ${problem}`,
  });
  if (proxy !== undefined && !URL.canParse(proxy)) {
    return failed('the proxy variable does not hold an address; correct it.');
  }
  const tls = caPem === undefined ? {} : { secureContext: trusting(caPem) };
  let isLast = false;
  for (let tries = 1; ; tries++) {
    isLast ||= tries === attempts;
    const totalMillis = isLast ? limits.last : limits.usual;
    const answer = await send(webhook, body, {
      proxy,
      tls,
      limits: { openMillis: limits.open, totalMillis, maxBytes },
    });
    if (answer.kind === 'posted') return { kind: 'posted', host, status: answer.status, doubt: answer.doubt };
    if (!answer.isTransient || isLast) return failed(answer.problem);
    // A slow receiver gets no third copy: what it needs is time.
    isLast = answer.isSlow === true;
    await sleep(backoffMillis(tries, Math.random(), answer.retryAfter));
  }
}

export const through = (proxy: string | undefined): string =>
  proxy === undefined ? '' : ` through the proxy ${URL.canParse(proxy) ? new URL(proxy).host : 'of the environment'}`;

type Answer =
  | { kind: 'posted'; status: number; doubt?: string }
  | { kind: 'failed'; problem: string; isTransient: boolean; retryAfter?: number; isSlow?: boolean };

type How = Pick<Parameters<typeof sendRequest>[0], 'proxy' | 'tls' | 'limits'>;

async function send(webhook: Webhook, body: Body, how: How): Promise<Answer> {
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  let answered: Awaited<ReturnType<typeof sendRequest>>;
  try {
    answered = await sendRequest({
      url: webhook.url,
      method: 'POST',
      headers: { 'content-type': `${type}; charset=utf-8`, 'accept-encoding': 'identity' },
      body: serialize(body),
      ...how,
    });
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    return { kind: 'failed', ...whyNoAnswer(error, how.limits.totalMillis) };
  }
  const { status, headers } = answered;
  // After a 2xx it has the message, even if the answer breaks off.
  const said = bodyText(answered.body, headers['content-encoding'], maxBytes) ?? '';
  const answer = `it answered ${status}${quoted(said, webhook)}`;
  if (status < 200 || status >= 300) {
    return {
      kind: 'failed',
      problem: `${answer}. ${remedyOf(status, webhook)}`,
      isTransient: status === 429 || status >= 500,
      retryAfter: retryAfterMillis(headers['retry-after'], Date.now()),
    };
  }
  const receipt = receiptOf(said, headers['content-type']);
  if (receipt === 'refused') {
    const problem = `${answer}, which refuses it. ${remedyInBody(said, webhook)}`;
    return { kind: 'failed', problem, isTransient: false };
  }
  const doubt =
    receipt === 'doubtful' ? `${answer}, which may mean that it refused it: check whether it is there.` : undefined;
  return { kind: 'posted', status, doubt };
}

function quoted(said: string, webhook: Webhook): string {
  const text = oneLine(said, maxQuote);
  return text === '' || text.startsWith('<') || repeats(secretsOf(webhook))(said) ? '' : ` ("${text}")`;
}

function remedyOf(status: number, { source, format }: Webhook): string {
  const { what, remedies } = destinations[format];
  const own = remedies?.[status];
  if (own !== undefined) return own;
  // The redirect leads to a login page or to a stranger, who must not get the message.
  if (status >= 300 && status < 400) {
    return `A webhook does not redirect, so this is another address: copy the webhook's address from the chat into ${source}.`;
  }
  if (status === 429 || status >= 500) return 'It was tried three times; check the receiver.';
  if (status === 400 || status === 415 || status === 422) {
    return `It does not take ${what}: ${otherFormats(format)}, too.`;
  }
  if (status === 405) return `What is there takes no messages: put the webhook's own address into ${source}.`;
  if (status === 407) return 'A proxy wants a sign-in: put user name and password into HTTPS_PROXY or HTTP_PROXY.';
  if (status === 413) return 'The message is longer than it takes, or than a proxy in between lets through.';
  return `The address may have been withdrawn: put a new one into ${source}.`;
}

function otherFormats(format: Webhook['format']): string {
  const others = Object.values(destinations)
    .filter(({ name }) => name !== format)
    .map(({ name, what }) => `${what} (${name})`);
  return `--notify-format has ${[others.slice(0, -1).join(', '), ...others.slice(-1)].join(' and ')}`;
}

function remedyInBody(said: string, { format, source }: Webhook): string {
  if (said.trimStart().startsWith('<')) {
    return `A web page takes no messages: copy the webhook's address from the chat into ${source}.`;
  }
  return `Correct what it names (a keyword, a signature, a withdrawn address), or its format: ${otherFormats(format)}.`;
}

export function whyNoAnswer(
  { stage, code, mayHaveArrived, proxyStatus }: NoAnswerError,
  waitedMillis: number,
): { problem: string; isTransient: boolean; isSlow?: boolean } {
  const why = code === undefined ? '' : ` (${code})`;
  const check = `Check the address, and HTTPS_PROXY and NO_PROXY${ignoredRange(process.env)}.`;
  if (stage === 'dns')
    return { problem: `its name cannot be resolved${why}. ${check}`, isTransient: code === 'EAI_AGAIN' };
  if (stage === 'tls') {
    const remedy = 'Give the certificate of a private authority with --ca-file.';
    return { problem: `its certificate is not trusted, or it does not speak TLS${why}. ${remedy}`, isTransient: false };
  }
  if (proxyStatus !== undefined)
    return { problem: `the proxy answered ${proxyStatus}. Check HTTPS_PROXY.`, isTransient: false };
  if (mayHaveArrived) {
    const isSlow = stage === 'timeout';
    const what = isSlow ? `no answer within ${duration(waitedMillis / 1000)}` : `no answer${why}`;
    const remedy = 'It may have arrived all the same: look there, and have the receiver answer sooner.';
    return { problem: `${what}. ${remedy}`, isTransient: true, isSlow };
  }
  if (stage === 'timeout') return { problem: `no connection in time. ${check}`, isTransient: true };
  return { problem: `no connection${why}. ${check}`, isTransient: true };
}
