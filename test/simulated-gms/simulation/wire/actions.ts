import { type HttpReply, type IncomingRequest, json } from '../exchange.ts';
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
  if (request.headers['authorization'] !== `Bearer ${token}`) return { reply: unauthorized(url) };
  try {
    const action = url.searchParams.get('action');
    checkRoute(request.method, pathAt(server.behavior, url.pathname));
    return yield* act(server, request.body, action);
  } catch (error) {
    if (!(error instanceof RestliError)) throw error;
    return { reply: json(error.status, errorBody(error.status, error.message)) };
  }
}

function* act(server: Server, body: string, action: string | null): Steps<Answered> {
  switch (action) {
    case 'truncateTimeseriesAspect': {
      const given = readTruncateRequest(parseBody(body));
      demand(server, action, 'User is unauthorized to truncate timeseries index');
      const value = yield* truncate(server, given);
      return { reply: json(200, JSON.stringify({ value })), value };
    }
    case 'getEsTaskStatus': {
      const given = readStatusRequest(parseBody(body));
      demand(server, action, 'User is unauthorized to get ES task status');
      const value = yield* taskStatus(server, given);
      return { reply: json(200, JSON.stringify({ value })), value };
    }
    case 'getIndexSizes':
      demand(server, action, 'User is unauthorized to get index sizes.');
      return { reply: json(200, yield* indexSizes(server)) };
    default:
      throw new RestliError(400, `POST operation named ${action} not supported on resource`);
  }
}

function demand({ behavior }: Server, action: (typeof behavior.denied)[number], message: string): void {
  if (behavior.denied.includes(action)) throw new RestliError(behavior.deniedStatus, message);
}

/** The authentication filter comes before rest.li: its answer is the container's, for clients that accept JSON. */
function unauthorized(url: URL): HttpReply {
  const message = 'Unauthorized to perform this action.';
  return json(401, JSON.stringify({ servlet: 'apiServlet', message, url: url.pathname, status: '401' }));
}
