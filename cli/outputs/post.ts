import { bodyText } from '../../lambda/gms/http/body-text.ts';
import { retryAfterMillis } from '../../lambda/gms/http/retry.ts';
import { repeatsSecret } from '../../lambda/gms/secrets.ts';
import { type Body, serialize } from '../../lambda/report/destination.ts';
import { destinations } from '../../lambda/report/destinations/registry.ts';
import { oneLine } from '../../lambda/report/sentences/text.ts';
import type { Posted } from '../events/run-listener.ts';
import type { RawResponse } from '../inputs/request.ts';
import { secretsOf, type Webhook } from '../inputs/webhook.ts';
import { type DeliveryOptions, deliver, type Failure, maxBytes, proxyNotice, signInAtProxy } from './deliver.ts';
import { receiptOf } from './receipt.ts';

/** A receiver's refusal is usually a word or two. */
const maxQuote = 120;

/** Posts text, or an object as JSON; each message has its run's id, because it may arrive twice. Never throws. */
export async function post(webhook: Webhook, body: Body, options: DeliveryOptions = {}): Promise<Posted> {
  const { host, url } = webhook;
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  const headers = { 'content-type': `${type}; charset=utf-8`, 'accept-encoding': 'identity' };
  const request = { url, method: 'POST', headers, body: serialize(body) } as const;
  const answer = await deliver(request, (response) => judge(response, webhook), options);
  if (!('problem' in answer)) return { kind: 'posted', host, ...answer };
  return {
    kind: 'failed',
    host,
    problem: `The message could not be posted to ${host}${proxyNotice(url)}: ${answer.problem}`,
  };
}

function judge(
  { status, headers, body }: RawResponse,
  webhook: Webhook,
): { status: number; doubt?: string | undefined } | Failure {
  // After a 2xx it has the message, even if the answer breaks off.
  const said = bodyText(body, headers['content-encoding'], maxBytes) ?? '';
  const answer = `it answered ${status}${quoted(said, webhook)}`;
  if (status < 200 || status >= 300) {
    return {
      problem: `${answer}. ${remedyOf(status, webhook)}`,
      isTransient: status === 429 || status >= 500,
      retryAfter: retryAfterMillis(headers['retry-after'], Date.now()),
    };
  }
  const receipt = receiptOf(said, headers['content-type']);
  if (receipt === 'refused') {
    return { problem: `${answer}, which refuses it. ${remedyInBody(said, webhook)}`, isTransient: false };
  }
  const doubt =
    receipt === 'doubtful' ? `${answer}, which may mean that it refused it: check whether it is there.` : undefined;
  return { status, doubt };
}

function quoted(said: string, webhook: Webhook): string {
  const text = oneLine(said, maxQuote);
  return text === '' || text.startsWith('<') || repeatsSecret(secretsOf(webhook))(said) ? '' : ` ("${text}")`;
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
  if (status === 407) return signInAtProxy;
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
