import { answerTimeoutMillis, connectTimeoutMillis } from '../../lambda/facts/limits.ts';
import { type Answer, type Exchange, type Transport, TransportError } from '../../lambda/operations/http/transport.ts';
import type { Reply } from '../../local/operations-service/exchange.ts';
import { type Invocation, infoOf, pause, yieldPoint } from './invocation.ts';
import type { Track } from './journal.ts';
import { type ReadFault, readFaults, type TruncateFault, truncateFaults } from './weather.ts';

/** The wire of one function: virtual time to the service of the same process, with everything that breaks on a wire. */
export function laboratoryTransport(invocation: Invocation): Transport {
  return {
    post: (exchange, signal) => untilAborted(invocation, signal, () => read(invocation, exchange)),
    postOnce: (exchange, maySend) => send(invocation, exchange, maySend),
  };
}

async function read(invocation: Invocation, exchange: Exchange): Promise<Answer> {
  const { world } = invocation;
  const { chances } = world;
  const fault = chances.happens(world.weather().read) ? chances.pick(readFaults) : undefined;
  if (fault !== undefined) world.injected(`read: ${fault}`);
  await yieldPoint(invocation, 'before read');
  await pause(invocation, chances.between(5, 150));
  if (fault === 'dns' || fault === 'connect' || fault === 'tls') {
    await pause(invocation, fault === 'connect' ? connectTimeoutMillis : 20);
    throw new TransportError(fault, false, { code: fault === 'connect' ? 'ECONNREFUSED' : 'ENOTFOUND' });
  }
  const reply = world.handle(exchange);
  if (fault === 'stale connection' || fault === 'reset') throw new TransportError('reset', true);
  if (fault === 'time-out') {
    await pause(invocation, answerTimeoutMillis);
    throw new TransportError('timeout', true);
  }
  await pause(invocation, fault === 'slow' ? chances.between(5_000, 110_000) : chances.between(5, 150));
  await yieldPoint(invocation, 'after read');
  if (fault === undefined || fault === 'slow') {
    world.readAnswered(infoOf(invocation), exchange, reply);
    return answered(reply);
  }
  return substituted(fault, reply);
}

async function send(invocation: Invocation, exchange: Exchange, maySend: () => boolean): Promise<Answer> {
  const { world } = invocation;
  const { chances, time } = world;
  let fault = chances.happens(world.weather().truncate) ? chances.pick(truncateFaults) : undefined;
  // A 400 comes from GMS before a task, or after a moved alias: none is known that leaves a task without a trace for 90 s.
  if (fault === 'acted: 400' && world.firstBatchMillis(exchange) > 60_000) fault = 'acted: 500';
  if (fault !== undefined) world.injected(`truncate: ${fault}`);
  await yieldPoint(invocation, 'before truncate');
  await pause(invocation, chances.between(5, 150));
  if (fault === 'dns' || fault === 'connect' || fault === 'tls') {
    await pause(invocation, fault === 'connect' ? connectTimeoutMillis : 20);
    throw new TransportError(fault, false, { code: fault === 'connect' ? 'ETIMEDOUT' : 'ENOTFOUND' });
  }
  if (!maySend()) throw new TransportError('withheld', false);
  const track = world.sent(infoOf(invocation), exchange);
  const [when, what] = (fault?.split(': ') ?? ['acted', undefined]) as ['not acted' | 'acted' | 'late', string?];
  let reply: Reply | undefined;
  // A request may lie in a queue; the server is taken to act within the function's time or never (safety rule 6).
  if (when === 'late') time.at(time.now() + chances.between(1_000, 590_000), () => act(invocation, track, exchange));
  if (when === 'acted') reply = act(invocation, track, exchange);
  if (what === 'reset') throw new TransportError('reset', true, { code: 'ECONNRESET' });
  if (what === 'body lost') throw new TransportError('reset', true, { status: 200 });
  if (what === 'time-out') {
    await pause(invocation, answerTimeoutMillis);
    throw new TransportError('timeout', true);
  }
  await pause(invocation, what === 'slow' ? chances.between(5_000, 110_000) : chances.between(5, 150));
  await yieldPoint(invocation, 'after truncate');
  if (reply !== undefined && (what === undefined || what === 'slow')) return answered(reply);
  return substituted(what as ReadFault | 'sentence', reply);
}

function act({ world }: Invocation, track: Track, exchange: Exchange): Reply {
  let reply: Reply | undefined;
  world.rows.truncate(track, () => {
    reply = world.handle(exchange);
  });
  return reply!;
}

function answered(reply: Reply): Answer {
  if (reply.kind !== 'reply') throw new TransportError(reply.kind === 'reset' ? 'reset' : 'timeout', true);
  const headers = Object.fromEntries(Object.entries(reply.headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { status: reply.status, headers, body: reply.body, complete: true };
}

const page = (status: number, title: string): Answer => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: `<!DOCTYPE html><html><head><title>${title}</title></head></html>`,
  complete: true,
});

const restli = (status: number, message: string): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ exceptionClass: 'com.linkedin.restli.server.RestLiServiceException', message, status }),
  complete: true,
});

function substituted(fault: ReadFault | TruncateFault | 'sentence', reply: Reply | undefined): Answer {
  switch (fault) {
    case 'page 200':
      return page(200, 'Sign in');
    case 'page 502':
    case '502' as never:
      return page(502, 'Bad Gateway');
    case 'redirect':
      return { ...page(302, 'Found'), headers: { location: 'https://login.test/' } };
    case 'garbage': {
      const body = reply?.kind === 'reply' ? reply.body : '{"value"';
      return { status: 200, headers: {}, body: body.slice(0, Math.ceil(body.length / 2)), complete: true };
    }
    case 'empty value':
      return { ...restli(200, ''), body: '{"value":""}' };
    case 'sentence':
      return { ...restli(200, ''), body: '{"value":"Reindex dataset operation index"}' };
    case '400':
      return restli(400, 'Async reindex failed');
    default:
      return restli(Number(fault), `the answer was ${fault}`);
  }
}

/** Gives a read up when the signal fires; nothing returns into a function that is dead. */
function untilAborted<T>(invocation: Invocation, signal: AbortSignal | undefined, body: () => Promise<T>): Promise<T> {
  if (!signal) return body();
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      if (invocation.alive) reject(new TransportError('aborted', true));
    };
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    body()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', giveUp));
  });
}
