import type { Asked, FaultDecision, IncomingRequest, Reply } from '../exchange.ts';
import { type Answered, answer } from './actions.ts';
import { interceptedReply, interceptionFor, scopeOf, substituted } from './intercept.ts';
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
  const { server, token, asked } = front;
  const url = urlOf(request.path);
  const body = bodyOf(request.body);
  const { reply, value } = yield* deliver(front, request, url, body);
  if (asked.length >= maxAsked) asked.splice(0, maxAsked / 2);
  const entry: Asked = { path: request.path, body, ...(value !== undefined && { value }) };
  asked.push(JSON.parse(JSON.stringify(entry).replaceAll(token, '[token]')));
  return withHeaders(front, { ...reply, delayMillis: server.behavior.delayMillis });
}

/** Delivers one request to the server or not, as the test or something in front of the server decides. */
function* deliver(
  { server, token, onRequest, schedule }: Front,
  request: IncomingRequest,
  url: URL,
  body: unknown,
): Steps<{ reply: Reply; value?: string }> {
  const act = () => answer(server, token, request, url);
  const decision = onRequest(request) ?? { kind: 'pass' };
  if (decision.kind === 'act-then') schedule(decision.actsAfterMillis, act);
  if (decision.kind !== 'pass') return { reply: substituted(decision.answer) };
  const action = url.searchParams.get('action') ?? undefined;
  const interception = interceptionFor(server.behavior, scopeOf(action, body));
  if (interception && !interception.acts) return { reply: interceptedReply(interception) };
  const own = yield* act();
  return interception ? { ...own, reply: interceptedReply(interception) } : own;
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
