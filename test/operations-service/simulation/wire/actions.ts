import { type HttpReply, html, type IncomingRequest, json } from '../exchange.ts';
import { indexSizes } from './index-sizes.ts';
import { errorBody, parseBody, RestliError } from './restli.ts';
import { checkRoute, pathAt } from './route.ts';
import type { Server } from './search-engine.ts';
import type { Steps } from './steps.ts';
import { readStatusRequest, taskStatus } from './task-status.ts';
import { readTruncateRequest, truncate } from './truncate.ts';

/** A reply together with its `value`, if that was a string. */
export interface Answered {
  reply: HttpReply;
  value?: string;
}

/** GMS itself: authentication, routing, the types of the parameters, the privilege, the work, in that order. */
export function* answer(server: Server, token: string, request: IncomingRequest, url: URL): Steps<Answered> {
  if (request.headers['authorization'] !== `Bearer ${token}`) return { reply: unauthorized(request, url) };
  const answered = yield* tried(server, request, url);
  answered.reply.headers['X-RestLi-Protocol-Version'] = request.headers['x-restli-protocol-version'] ?? '1.0.0';
  return answered;
}

function* tried(server: Server, request: IncomingRequest, url: URL): Steps<Answered> {
  try {
    checkRoute(request, pathAt(server.behaviour, url.pathname), url.searchParams.get('action'));
    return yield* act(server, request, url.searchParams.get('action'));
  } catch (error) {
    if (!(error instanceof RestliError)) throw error;
    const reply = json(error.status, errorBody(error.status, error.message));
    if (!error.routed) delete reply.headers['Content-Type'];
    return { reply };
  }
}

function* act(server: Server, request: IncomingRequest, action: string | null): Steps<Answered> {
  switch (action) {
    case 'truncateTimeseriesAspect': {
      const given = readTruncateRequest(parseBody(request.body));
      demand(server, action, 'User is unauthorized to truncate timeseries index');
      const value = yield* truncate(server, given);
      return { reply: json(200, JSON.stringify({ value })), value };
    }
    case 'getEsTaskStatus': {
      const given = readStatusRequest(parseBody(request.body));
      demand(server, action, 'User is unauthorized to get ES task status');
      const value = yield* taskStatus(server, given);
      return { reply: json(200, JSON.stringify({ value })), value };
    }
    case 'getIndexSizes':
      demand(server, action, 'User is unauthorized to get index sizes.');
      return { reply: json(200, yield* indexSizes(server)) };
    default:
      throw new RestliError(
        400,
        `POST operation named ${action} not supported on resource 'com.linkedin.metadata.resources.operations.OperationsResource' URI: '${request.path}'`,
        false,
      );
  }
}

function demand({ behaviour }: Server, action: (typeof behaviour.denied)[number], message: string): void {
  if (behaviour.denied.includes(action)) throw new RestliError(behaviour.deniedStatus, message);
}

/** The authentication filter comes before rest.li: its answer is the container's error page. */
function unauthorized(request: IncomingRequest, url: URL): HttpReply {
  const message = 'Unauthorized to perform this action.';
  const headers = { 'Cache-Control': 'must-revalidate,no-cache,no-store' };
  if (!(request.headers['accept'] ?? '').includes('application/json')) {
    return html(401, `Error 401 ${message}`, headers);
  }
  return {
    kind: 'reply',
    status: 401,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ servlet: 'apiServlet', message, url: url.pathname, status: '401' }),
    delayMillis: 0,
  };
}
