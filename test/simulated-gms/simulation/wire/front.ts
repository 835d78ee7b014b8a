import type { Asked, FaultDecision, IncomingRequest, Reply } from '../exchange.ts';
import type { Answered } from './actions.ts';
import { conduct } from './conduct.ts';
import type { Server } from './search-engine.ts';
import type { Steps } from './steps.ts';

/** The entry point of a service, whatever engine is behind it: one request in, its answer out, and a record of both. */
export interface Front {
  server: Server;
  token: string;
  asked: Asked[];
  /** Headers of every answer. */
  headers: Readonly<Record<string, string>>;
  /** Epoch milliseconds. */
  now(): number;
  onRequest(request: IncomingRequest): FaultDecision | undefined;
  schedule(afterMillis: number, act: () => Steps<Answered>): void;
}

const maxAsked = 20_000;

export function* receive(front: Front, request: IncomingRequest): Steps<Reply> {
  const { server, token, asked, schedule } = front;
  const url = urlOf(request.path);
  const body = bodyOf(request.body);
  const decision = front.onRequest(request) ?? { kind: 'pass' };
  const at = front.now();
  const { reply, acted, value } = yield* conduct(server, request, { url, body, token, decision, schedule });
  if (asked.length >= maxAsked) asked.splice(0, maxAsked / 2);
  const action = url.searchParams.get('action');
  const entry: Asked = {
    at,
    method: request.method,
    path: request.path,
    ...(action === null ? {} : { action }),
    ...(body === undefined ? {} : { body }),
    acted,
    status: reply.kind === 'reply' ? reply.status : reply.kind,
    ...(value === undefined ? {} : { value }),
  };
  asked.push(JSON.parse(JSON.stringify(entry).replaceAll(token, '[token]')));
  return withHeaders(front, reply);
}

function withHeaders({ server, headers, now }: Front, reply: Reply): Reply {
  if (reply.kind !== 'reply') return reply;
  Object.assign(reply.headers, headers);
  const { dateHeader, clockSkewSeconds } = server.behavior;
  if (dateHeader) reply.headers['Date'] = new Date(now() + clockSkewSeconds * 1000).toUTCString();
  return reply;
}

function urlOf(path: string): URL {
  try {
    return new URL(path, 'http://operations');
  } catch {
    return new URL('http://operations/unreadable');
  }
}

function bodyOf(body: string): unknown {
  if (body === '') return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
