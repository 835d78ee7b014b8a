import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { RequestHandler } from '../operations-service/simulation/engine.ts';
import type { Reply } from '../operations-service/simulation/exchange.ts';
import { type Answer, type Exchange, type Transport, TransportError } from '../../lambda/operations/http/transport.ts';

/**
 * A wire to the embedded service in the same process, for tests that are not about HTTP: a request and its answer take
 * a turn of the event loop instead of a socket. `http-transport.test.ts` tests the real one.
 */
export function wireTo(engine: RequestHandler, answerTimeoutMillis: number): Transport & { close(): Promise<void> } {
  let isClosed = false;
  async function ask({ url, headers, body }: Exchange, signal?: AbortSignal): Promise<Answer> {
    const { pathname, search } = new URL(url);
    const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const reply = await engine.handle({ method: 'POST', path: pathname + search, headers: named, body });
    const millis = reply.kind === 'no-answer' ? answerTimeoutMillis : reply.delayMillis;
    if (millis > 0) await waited(Math.min(millis, answerTimeoutMillis), signal);
    if (millis >= answerTimeoutMillis) throw new TransportError('timeout', true);
    return answered(reply);
  }
  const connected = async (): Promise<void> => {
    await turn();
    if (isClosed) throw new TransportError('connect', false, { code: 'ECONNREFUSED' });
  };
  return {
    async post(exchange, signal) {
      if (signal?.aborted) throw new TransportError('aborted', false);
      await connected();
      return ask(exchange, signal);
    },
    async postOnce(exchange, maySend) {
      await connected();
      if (!maySend()) throw new TransportError('withheld', false);
      return ask(exchange);
    },
    async close() {
      isClosed = true;
    },
  };
}

const waited = (millis: number, signal?: AbortSignal) =>
  sleep(millis, undefined, { ...(signal && { signal }) }).catch(() => {
    throw new TransportError('aborted', true);
  });

function answered(reply: Reply): Answer {
  if (reply.kind !== 'reply') throw new TransportError('reset', true, { code: 'ECONNRESET' });
  const headers = Object.fromEntries(Object.entries(reply.headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { status: reply.status, headers, body: reply.body, complete: true };
}
