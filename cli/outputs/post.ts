import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import { bodyText } from '../../lambda/gms/http/body-text.ts';
import { trusting } from '../../lambda/gms/http/connection.ts';
import { causeOf } from '../../lambda/gms/http/network-errors.ts';
import { backoffMillis, realSleep, retryAfterMillis } from '../../lambda/gms/http/retry.ts';
import { repeats } from '../../lambda/gms/secrets.ts';
import { type Body, serialize } from '../../lambda/report/destination.ts';
import { destinations } from '../../lambda/report/destinations/registry.ts';
import { oneLine } from '../../lambda/report/sentences/text.ts';
import type { Posted } from '../events/output.ts';
import { ignoredRange, proxyFor } from '../inputs/server.ts';
import { secretsOf, type Webhook } from '../inputs/webhook.ts';
import { receiptOf } from './receipt.ts';

/** Posts a message, through the environment's proxy if there is one for this address. */

/** A message may therefore arrive twice (each has its run's id), which is better than never. */
export const attempts = 3;
export const connectTimeoutMillis = 10_000;
export const answerTimeoutMillis = 30_000;
/** A receiver's refusal is usually a word or two. */
const maxQuote = 120;

interface PostOptions {
  /** The certificates of a private authority, trusted for the receiver as well. */
  caPem?: string;
  sleep?: (millis: number) => Promise<void>;
}

/** Posts text, or an object as JSON. Never throws. */
export async function post(webhook: Webhook, body: Body, options: PostOptions = {}): Promise<Posted> {
  const { host } = webhook;
  const proxy = proxyFor(webhook.url);
  const failed = (problem: string): Posted => ({
    kind: 'failed',
    host,
    problem: `The message could not be posted to ${host}${through(proxy)}: ${problem}`,
  });
  let dispatcher: Dispatcher;
  try {
    dispatcher = dispatcherFor(proxy, options.caPem);
  } catch {
    return failed('the proxy variable does not hold an address; correct it.');
  }
  try {
    for (let tries = 1; ; tries++) {
      const answer = await send(dispatcher, webhook, body);
      if (answer.kind === 'posted') return { kind: 'posted', host, status: answer.status, doubt: answer.doubt };
      if (!answer.isTransient || tries === attempts) return failed(answer.problem);
      await (options.sleep ?? realSleep)(backoffMillis(tries, Math.random(), answer.retryAfter));
    }
  } finally {
    await dispatcher.destroy();
  }
}

/** Certificates are always checked, whatever the environment says. */
export function dispatcherFor(proxy: string | undefined, caPem: string | undefined): Dispatcher {
  const tls = { rejectUnauthorized: true, ...(caPem !== undefined && { secureContext: trusting(caPem) }) };
  const times = { headersTimeout: answerTimeoutMillis, bodyTimeout: answerTimeoutMillis };
  return proxy === undefined
    ? new Agent({ ...times, connect: { ...tls, timeout: connectTimeoutMillis } })
    : new ProxyAgent({
        ...times,
        uri: proxy,
        requestTls: { ...tls, timeout: connectTimeoutMillis },
        proxyTls: { ...tls, timeout: connectTimeoutMillis },
      });
}

export const through = (proxy: string | undefined): string =>
  proxy === undefined ? '' : ` through the proxy ${URL.canParse(proxy) ? new URL(proxy).host : 'of the environment'}`;

type Answer =
  | { kind: 'posted'; status: number; doubt?: string }
  | { kind: 'failed'; problem: string; isTransient: boolean; retryAfter?: number };

async function send(dispatcher: Dispatcher, webhook: Webhook, body: Body): Promise<Answer> {
  const { origin, pathname, search } = new URL(webhook.url);
  try {
    const {
      statusCode,
      headers,
      body: answered,
    } = await dispatcher.request({
      origin,
      path: pathname + search,
      method: 'POST',
      headers: {
        'content-type': `${typeof body === 'string' ? 'text/plain' : 'application/json'}; charset=utf-8`,
        'accept-encoding': 'identity',
      },
      body: serialize(body),
      signal: AbortSignal.timeout(connectTimeoutMillis + answerTimeoutMillis),
    });
    // After a 2xx it has the message, even if the answer breaks off.
    const said = await beginning(answered, headerText(headers['content-encoding']));
    const answer = `it answered ${statusCode}${quoted(said, webhook)}`;
    if (statusCode >= 200 && statusCode < 300) {
      const receipt = receiptOf(said, headerText(headers['content-type']));
      if (receipt === 'refused') {
        return {
          kind: 'failed',
          problem: `${answer}, which refuses it. ${remedyInBody(said, webhook)}`,
          isTransient: false,
        };
      }
      const doubt =
        receipt === 'doubtful' ? `${answer}, which may mean that it refused it: check whether it is there.` : undefined;
      return { kind: 'posted', status: statusCode, doubt };
    }
    return {
      kind: 'failed',
      problem: `${answer}. ${remedyOf(statusCode, webhook)}`,
      isTransient: statusCode === 429 || statusCode >= 500,
      retryAfter: retryAfterMillis(headers['retry-after'], Date.now()),
    };
  } catch (error) {
    return { kind: 'failed', ...whyNoAnswer(error) };
  }
}

/** The part of an answer that is read; an endless answer is cut. */
const maxAnswerBytes = 64 * 1024;

async function beginning(body: Dispatcher.ResponseData['body'], encoding: string | undefined): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(Buffer.from(chunk));
      size += chunks.at(-1)?.length ?? 0;
      if (size > maxAnswerBytes) break;
    }
  } catch {
    // The part that has arrived counts as its answer.
  }
  return bodyText(Buffer.concat(chunks), encoding, maxAnswerBytes) ?? '';
}

const headerText = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(', ') : header;

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

export function whyNoAnswer(error: unknown): { problem: string; isTransient: boolean } {
  const { stage, code } = causeOf(error, false);
  const why = code === undefined ? '' : ` (${code})`;
  const check = `Check the address, and HTTPS_PROXY and NO_PROXY${ignoredRange(process.env)}.`;
  if (stage === 'dns')
    return { problem: `its name cannot be resolved${why}. ${check}`, isTransient: code === 'EAI_AGAIN' };
  if (stage === 'tls') {
    const remedy = 'Give the certificate of a private authority with --ca-file.';
    return { problem: `its certificate is not trusted, or it does not speak TLS${why}. ${remedy}`, isTransient: false };
  }
  const { name, message } = error as Error;
  // undici reports a proxy's answer to CONNECT only in its error message.
  const refused = /\((\d{3})\)/.exec(message)?.[1];
  if (refused !== undefined)
    return { problem: `the proxy answered ${refused}. Check HTTPS_PROXY.`, isTransient: false };
  if (name === 'TimeoutError' || code?.includes('TIMEOUT'))
    return { problem: `no answer in time. ${check}`, isTransient: true };
  return { problem: `no connection${why}. ${check}`, isTransient: true };
}
