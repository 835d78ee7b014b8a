import { json, type Reply } from '../../operations-service/simulation/exchange.ts';
import { type Answer, TransportError } from '../../../lambda/operations/http/transport.ts';
import type { answers } from '../alphabet/answers.ts';
import type { Chances } from './chances.ts';

/** What a client sees: the server's own answer, or another one instead. */

export type Told = keyof typeof answers;

/** Throws TransportError if the server itself has cut the connection. */
export function answered(reply: Reply): Answer {
  if (reply.kind !== 'reply') throw new TransportError(reply.kind === 'reset' ? 'reset' : 'timeout', true);
  const headers = Object.fromEntries(Object.entries(reply.headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { status: reply.status, headers, body: reply.body, complete: true };
}

/** An id that no task has (yet): something answers for a server that has done nothing. */
export const invented = (chances: Chances): Reply =>
  json(200, JSON.stringify({ value: `inVentedByaPr0xyInFront:${chances.between(1, 9_999_999)}` }));

const page = (status: number, title: string): Answer => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: `<!DOCTYPE html><html><head><title>${title}</title></head></html>`,
  complete: true,
});

const plain = (status: number, body: string, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'text/plain', ...headers },
  body,
  complete: true,
});

const restli = (status: number, message: string): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ exceptionClass: 'com.linkedin.restli.server.RestLiServiceException', message, status }),
  complete: true,
});

const ok = (body: string): Answer => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body,
  complete: true,
});

type Whole = Exclude<Told, 'own' | 'slow' | 'time-out' | 'reset' | 'body lost'>;

const substitutes: Record<Exclude<Whole, 'garbage'>, Answer> = {
  sentence: ok('{"value":"Reindex dataset operation index"}'),
  empty: ok('{"value":""}'),
  'page 200': page(200, 'Sign in'),
  redirect: { ...page(302, 'Found'), headers: { location: 'https://login.test/' } },
  '400': restli(400, 'Async reindex failed'),
  'page 400': page(400, 'Bad Request'),
  '401': restli(401, 'Unauthorized to perform this action.'),
  '403': plain(403, 'RBAC: access denied'),
  '404': plain(404, 'Not Found'),
  '429': plain(429, 'Too many requests', { 'retry-after': '2' }),
  '500': restli(500, 'Async delete query failed'),
  'page 502': page(502, 'Bad Gateway'),
  '503': plain(503, 'no healthy upstream'),
  '504': plain(504, 'Proxy request timed out.'),
};

/** Throws TransportError if there is no answer. */
export function substituted(told: Told, reply: Reply): Answer {
  switch (told) {
    case 'own':
    case 'slow':
      return answered(reply);
    case 'time-out':
      throw new TransportError('timeout', true);
    case 'reset':
    case 'body lost':
      throw new TransportError('reset', true);
    case 'garbage': {
      const body = reply.kind === 'reply' ? reply.body : '{"value"';
      return ok(body.slice(0, Math.ceil(body.length / 2)));
    }
    default:
      return substitutes[told];
  }
}
