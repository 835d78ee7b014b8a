import type { Behaviour } from '../../operations-service/simulation/behaviour.ts';
import type { Reply } from '../../operations-service/simulation/exchange.ts';
import { answerTimeoutMillis, connectTimeoutMillis, functionTimeoutSeconds } from '../../../lambda/facts/limits.ts';
import { readTaskId } from '../../../lambda/operations/answers/task-id.ts';
import {
  type Answer,
  type Exchange,
  type Transport,
  TransportError,
} from '../../../lambda/operations/http/transport.ts';
import { answers, type delays, type Effect, effects, namesOf, type Unwritten, unwritten } from '../alphabet/answers.ts';
import type { Track } from '../truth/track.ts';
import { answered, invented, substituted, type Told } from './answering.ts';
import { type Invocation, infoOf, pause, yieldPoint } from './invocation.ts';
import type { Server } from './servers.ts';

/**
 * The wire of one function: in virtual time to the service in the same process, with everything that can break on a
 * wire.
 */
export function laboratoryTransport(invocation: Invocation): Transport {
  return {
    post: (exchange, signal) => untilAborted(invocation, signal, () => read(invocation, exchange)),
    postOnce: (exchange, maySend) => send(invocation, exchange, maySend),
  };
}

async function read(invocation: Invocation, exchange: Exchange): Promise<Answer> {
  const { world } = invocation;
  const { chances } = world;
  const isBad = chances.happens(world.weather.read);
  const isUnwritten = isBad && chances.happens(0.15);
  const told = isBad ? chances.pick(namesOf(answers)) : 'own';
  const delay = isBad && chances.happens(0.2) ? 'long' : 'usual';
  if (isBad && !isUnwritten) world.injected(`read: ${told}, ${delay}`);
  await yieldPoint(invocation, 'before read');
  await pause(invocation, chances.between(5, 150));
  if (isUnwritten) await unwrittenAt(invocation, 'read');
  const countedAt = world.time.now();
  const reply = world.handle(exchange);
  if (isBad) await waited(invocation, told, delay);
  else await pause(invocation, chances.between(5, 150));
  await yieldPoint(invocation, 'after read');
  if (told !== 'own' && told !== 'slow') return substituted(told, reply);
  world.readAnswered(infoOf(invocation), exchange, reply, countedAt);
  return answered(reply);
}

/** A real truncate: any answer with any effect. */
async function send(invocation: Invocation, exchange: Exchange, maySend: () => boolean): Promise<Answer> {
  const { world } = invocation;
  const { chances } = world;
  const isBad = chances.happens(world.weather.truncate);
  const isUnwritten = isBad && chances.happens(0.05);
  const told = isBad ? chances.pick(namesOf(answers)) : 'own';
  const effect = isBad ? chances.pick(world.weather.effects ?? namesOf(effects)) : 'at once';
  await yieldPoint(invocation, 'before truncate');
  await pause(invocation, chances.between(5, 150));
  if (isUnwritten) await unwrittenAt(invocation, 'truncate');
  if (!maySend()) throw new TransportError('withheld', false);
  if (isBad) world.injected(`truncate: ${told}, ${effect}`);
  const track = world.sent(infoOf(invocation), exchange);
  const { front } = world;
  const own = effectOn(invocation, front, track, exchange, effect) ?? invented(chances);
  if (told === '503' && exchange.headers['x-envoy-max-retries'] !== '0') {
    // A service mesh thinks it was not delivered, and sends it again.
    effectOn(invocation, front, world.sent(infoOf(invocation), exchange), exchange, 'at once');
  }
  await waited(invocation, told, 'usual');
  await yieldPoint(invocation, 'after truncate');
  const answer = told === 'own' || told === 'slow' ? answered(own) : substituted(told, own);
  const { status, body } = answer;
  world.journal.push({
    at: world.time.now(),
    kind: 'answered',
    invocation: infoOf(invocation),
    index: track.index,
    status,
    isTaskId: status === 200 && isTaskId(body),
  });
  return answer;
}

function isTaskId(body: string): boolean {
  try {
    return readTaskId(String((JSON.parse(body) as { value?: unknown }).value)) !== undefined;
  } catch {
    return false;
  }
}

/** @returns the server's own answer, if it has acted by now */
function effectOn(
  { world }: Invocation,
  server: Server,
  track: Track,
  exchange: Exchange,
  effect: Effect,
): Reply | undefined {
  const { time, chances } = world;
  // The token is the request's, whatever the operator does before the server acts.
  const token = world.token.valid;
  const act = (changes: Partial<Behaviour> = {}): Reply => {
    world.onActing(track);
    return acting(server, track, () => server.handle(exchange, token), changes);
  };
  const later = (from: number, to: number) => {
    const at = time.now() + chances.between(from, to);
    track.pendingUntil = at;
    time.at(at, () => act());
    return undefined;
  };
  switch (effect) {
    case 'none':
      return undefined;
    case 'at once':
      return act();
    case 'half':
      return act(chances.pick(halves));
    case 'later':
      return later(1_000, 120_000);
    case 'much later':
      return later(120_000, longestMillis - 1);
  }
}

/** A server is assumed to act within a function's time, or never (docs/testing.md, `acts-in-time`). */
const longestMillis = functionTimeoutSeconds.truncate * 1000;

const halves: readonly Partial<Behaviour>[] = [
  { reindexFailsAfterSwap: 500 },
  { reindexFailsAfterSwap: 400 },
  { abortAtShare: 0.5 },
  { abortAtShare: 0.97 },
  { failAtFirstSearch: true },
];

/** Lets a server act, with something about it changed meanwhile. */
export function acting(server: Server, track: Track, handle: () => Reply, changes: Partial<Behaviour>): Reply {
  const { engine, truth } = server;
  const before = Object.fromEntries(
    Object.keys(changes).map((key) => [key, engine.behaviour[key as keyof Behaviour]]),
  ) as Partial<Behaviour>;
  let reply: Reply | undefined;
  engine.set(changes);
  truth.acts(track, () => {
    reply = handle();
  });
  engine.set(before);
  if (reply === undefined) throw new Error('the server was not asked');
  return reply;
}

/** How long an answer takes, or its failure. */
async function waited(invocation: Invocation, told: Told, delay: keyof typeof delays): Promise<void> {
  const { chances } = invocation.world;
  if (told === 'time-out') {
    await pause(invocation, answerTimeoutMillis);
    throw new TransportError('timeout', true);
  }
  if (told === 'reset') throw new TransportError('reset', true, { code: 'ECONNRESET' });
  if (told === 'body lost') throw new TransportError('reset', true, { status: 200 });
  await pause(
    invocation,
    told === 'slow' || delay === 'long' ? chances.between(5_000, 110_000) : chances.between(5, 150),
  );
}

const codes: Record<Unwritten, string> = { dns: 'ENOTFOUND', connect: 'ECONNREFUSED', tls: 'CERT_HAS_EXPIRED' };

async function unwrittenAt(invocation: Invocation, what: 'read' | 'truncate'): Promise<never> {
  const { world } = invocation;
  const phase = world.chances.pick(namesOf(unwritten));
  world.injected(`${what}: ${phase}`);
  await pause(invocation, phase === 'connect' ? connectTimeoutMillis : 20);
  throw new TransportError(phase, false, { code: codes[phase] });
}

/** Gives up a read when the signal fires; nothing returns into a dead function. */
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
