import type { Behavior, Interception, Scope } from '../behavior.ts';
import { html, json, type Reply, type Substitute, text } from '../exchange.ts';
import { errorBody } from './restli.ts';

/** Everything between client and server: proxies, login pages, a broken connection. */

/** The first interception in the list that affects a request. */
export const interceptionFor = (behavior: Behavior, scope: Scope | undefined): Interception | undefined =>
  behavior.interceptions.find((one) => one.scope === 'all' || one.scope === scope);

/** The kind of a request; undefined if no action answers it. */
export function scopeOf(action: string | undefined, body: unknown): Scope | undefined {
  if (action === 'getEsTaskStatus') return 'status';
  if (action === 'getIndexSizes') return 'sizes';
  if (action !== 'truncateTimeseriesAspect') return undefined;
  const real = typeof body === 'object' && body !== null && 'dryRun' in body && body.dryRun === false;
  return real ? 'truncate' : 'dry-run';
}

/** What the client gets instead of the server's answer. */
export function interceptedReply({ kind }: Interception): Reply {
  switch (kind) {
    case 'gateway-timeout':
      // DataHub's frontend gives up after 120 s and says so in plain text.
      return text(504, 'Proxy request timed out.');
    case 'bad-gateway':
      return html(502, '502 Bad Gateway');
    case 'login-redirect':
      return html(302, '302 Found', { Location: 'https://login.example/oauth2/start?rd=%2Foperations' });
    case 'login-page':
      return html(200, 'Sign in');
  }
}

/** The answer that a test has decided on. */
export function substituted(answer: Substitute): Reply {
  if (answer.kind !== 'status') return { kind: answer.kind };
  return json(answer.status, answer.body ?? errorBody(answer.status, `Injected ${answer.status}`));
}
