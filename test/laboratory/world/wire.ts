import { connectTimeoutMillis, readTimeoutMillis, truncateTimeoutMillis } from '../../../lambda/facts/limits.ts';
import type { ServerError, ServerErrorKind } from '../../../lambda/facts/server-error.ts';
import { truncationOf, truncationWithoutAnswer } from '../../../lambda/operations/answers/truncation.ts';
import { type Answer, TransportError } from '../../../lambda/operations/http/transport.ts';
import {
  type DryRun,
  type Operations,
  OperationsError,
  type ReadOptions,
  type TruncateFields,
  type Truncation,
} from '../../../lambda/operations/operations.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import { answers, type Effect, effects, namesOf, type Answer as Told, unwritten } from '../alphabet/answers.ts';
import type { Track } from '../truth/track.ts';
import type { Pace, Task } from './engine.ts';
import { exchange, type Invocation, pause, yieldPoint } from './invocation.ts';
import type { InvocationInfo } from './journal.ts';
import type { World } from './world.ts';

/**
 * The server as one function sees it, in virtual time and in the same process, with everything that can break on the
 * way. Answers to a real truncate pass through the core's own reading of them.
 */
export function operationsOf(invocation: Invocation): Operations {
  const { world, info } = invocation;
  const { server, journal, time } = world;
  return {
    async dryRun(fields, options) {
      let countedAt = time.now();
      const note = noting(world, info, fields);
      try {
        const answer = await read(invocation, 'dry-run', options, () => {
          countedAt = time.now();
          return server.dryRun(fields);
        });
        return note(counted(answer), countedAt);
      } catch (error) {
        // An index that the search engine does not know has no rows.
        const isUnknown = error instanceof OperationsError && error.fact.kind === 'no-index';
        note(isUnknown ? { rowsToDelete: 0, rowsTotal: 0, deletesInPlace: true } : undefined, countedAt);
        throw error;
      }
    },
    async taskStatus(taskId, options) {
      let answer: ReturnType<typeof server.status> | undefined;
      try {
        answer = await read(invocation, 'task-status', options, () => server.status(taskId));
      } finally {
        journal.push({ at: time.now(), kind: 'status', invocation: info, taskId, answer });
      }
      if (answer === 'denied') throw failure('privilege', 'task-status', 403);
      return answer;
    },
    async indexSizes(options) {
      const answer = await read(invocation, 'index-sizes', options, () => server.sizes());
      if (answer === 'denied') throw failure('privilege', 'index-sizes', 403);
      journal.push({ at: time.now(), kind: 'sizes', invocation: info });
      return answer;
    },
    truncate: (fields, maySend) => send(invocation, fields, maySend),
  };
}

/** The answer to a dry run, as the core reads it. Throws OperationsError. */
export function counted(answer: ReturnType<World['server']['dryRun']>): DryRun {
  if (answer === 'no index') throw failure('no-index', 'dry-run', 500);
  if (answer === 'refused') throw failure('bad-request', 'dry-run', 400);
  if (answer === 'no count') throw failure('unreadable', 'dry-run', 200);
  return answer;
}

/** Writes the answer to a dry run into the journal. */
export const noting =
  ({ journal, time }: World, invocation: InvocationInfo, fields: TruncateFields) =>
  <Answer extends DryRun | undefined>(answer: Answer, countedAt: number): Answer => {
    const index = searchIndex(fields);
    journal.push({ at: time.now(), kind: 'dry-run', invocation, index, fields: { ...fields }, answer, countedAt });
    return answer;
  };

export const failure = (kind: ServerErrorKind, operation: ServerError['operation'], status?: number): OperationsError =>
  new OperationsError({ kind, operation, status });

const readFailures: Partial<Record<Told, readonly [ServerErrorKind, number?]>> = {
  sentence: ['unreadable', 200],
  empty: ['unreadable', 200],
  garbage: ['not-json', 200],
  'page 200': ['not-json', 200],
  redirect: ['redirect', 302],
  '400': ['bad-request', 400],
  '401': ['unauthorized', 401],
  '403': ['forbidden', 403],
  '404': ['not-found', 404],
  '429': ['throttled', 429],
  '500': ['server-error', 500],
  'page 502': ['server-error', 502],
  '503': ['server-error', 503],
  '504': ['server-error', 504],
  'time-out': ['timeout'],
  reset: ['reset'],
  'body lost': ['reset', 200],
};

/** A read after all its attempts: the server's answer, or why there is none. */
async function read<T>(
  invocation: Invocation,
  operation: ServerError['operation'],
  { signal }: ReadOptions = {},
  ask: () => T,
): Promise<T> {
  const { world } = invocation;
  const { chances } = world;
  const isBad = chances.happens(world.weather.read);
  const told = isBad ? chances.pick(['slow', ...namesOf(answers), ...namesOf(unwritten)] as const) : 'own';
  if (isBad) world.injected(`read: ${told}`);
  const asked = exchange(invocation, operation, async () => {
    const answer = ask();
    if (told === 'slow') await pause(invocation, chances.between(1000, readTimeoutMillis));
    if (told === 'time-out') await pause(invocation, 2 * readTimeoutMillis);
    if (told === 'dns' || told === 'connect' || told === 'tls') throw failure(told, operation);
    const [kind, status] = readFailures[told] ?? [];
    if (kind) throw failure(kind, operation, status);
    return answer;
  });
  return untilAborted(signal, asked, operation);
}

function untilAborted<T>(signal: AbortSignal | undefined, asked: Promise<T>, operation: ServerError['operation']) {
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(failure('aborted', operation));
    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort, { once: true });
    asked.then(resolve, reject);
  });
}

/** A real truncate: any answer with any effect. */
async function send(invocation: Invocation, fields: TruncateFields, maySend: () => boolean): Promise<Truncation> {
  const { world, info } = invocation;
  const { chances, weather } = world;
  const isBad = chances.happens(weather.truncate);
  const told = isBad ? chances.pick(weather.answers ?? namesOf(answers)) : 'own';
  const effect = isBad ? chances.pick(weather.effects ?? namesOf(effects)) : 'at once';
  await yieldPoint(invocation, 'before truncate');
  if (isBad && !weather.answers && chances.happens(0.1)) {
    const phase = chances.pick(namesOf(unwritten));
    world.injected(`unwritten: ${phase}`);
    await pause(invocation, connectTimeoutMillis);
    return readWithout(new TransportError(phase, false));
  }
  await pause(invocation, chances.between(1, 100));
  if (!maySend()) return readWithout(new TransportError('withheld', false));
  const track = world.sent(info, fields);
  if (isBad) world.injected(`truncate: ${told}, ${effect}`);
  const task = take(world, track, fields, effect);
  await yieldPoint(invocation, 'after truncate');
  await pause(invocation, told === 'slow' ? chances.between(1000, 110_000) : chances.between(5, 300));
  if (told === 'time-out') await pause(invocation, truncateTimeoutMillis);
  const truncation = readAnswer(told, task);
  const status = truncation.kind === 'unresolved' ? truncation.error.status : undefined;
  const isTaskId = truncation.kind === 'started';
  world.journal.push({
    at: world.time.now(),
    kind: 'answered',
    invocation: info,
    index: track.index,
    status,
    isTaskId,
  });
  return truncation;
}

/** What the server does; from then on the answer is on its way. @returns the task, if it has one by now */
export function take(world: World, track: Track, fields: TruncateFields, effect: Effect): Task | undefined {
  const { time, chances, server, tracker } = world;
  const act = (pace: Pace = server.behaviour.pace) => {
    world.onActing(track);
    return tracker.acts(track, () => server.truncate(fields, pace));
  };
  const half = {
    share: chances.pick([0, 0.1, 0.5, 0.9, 0.99]),
    as: chances.pick(['dead', 'cancelled', 'completed'] as const),
  };
  switch (effect) {
    case 'none':
      return undefined;
    case 'at once':
      return act();
    case 'half':
      return act({ ...server.behaviour.pace, endsAt: half });
    case 'later':
    case 'much later': {
      const at =
        time.now() + (effect === 'later' ? chances.between(1000, 120_000) : chances.between(120_000, 1_195_000));
      track.pendingUntil = at;
      time.at(at, () => void act());
      return undefined;
    }
  }
}

const question = { operation: 'truncate', baseUrl: 'http://gms.test:8080' } as const;
const quote = (text: string): string => text.slice(0, 240);
const readWithout = (error: TransportError): Truncation => truncationWithoutAnswer(error, question, quote);

const restli = (status: number, message: string): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ exceptionClass: 'com.linkedin.restli.server.RestLiServiceException', message, status }),
  complete: true,
});
const plainText = (status: number, body: string, type = 'text/plain'): Answer => ({
  status,
  headers: { 'content-type': type },
  body,
  complete: true,
});

const substitutes: Record<Exclude<Told, 'own' | 'slow' | 'time-out' | 'reset' | 'body lost'>, Answer> = {
  sentence: plainText(200, '{"value":"Reindex dataset operation index"}', 'application/json'),
  empty: plainText(200, '{"value":""}', 'application/json'),
  garbage: plainText(200, '{"value":"no', 'application/json'),
  'page 200': plainText(200, '<!DOCTYPE html><html><head><title>Sign in</title></head></html>', 'text/html'),
  redirect: { ...plainText(302, ''), headers: { location: 'https://login.test/' } },
  '400': restli(400, 'Async reindex failed'),
  '401': restli(401, 'Unauthorized to perform this action.'),
  '403': plainText(403, 'RBAC: access denied'),
  '404': plainText(404, 'Not Found'),
  '429': plainText(429, 'Too many requests'),
  '500': restli(500, 'Async delete query failed'),
  'page 502': plainText(502, '<!DOCTYPE html><html><head><title>Bad Gateway</title></head></html>', 'text/html'),
  '503': plainText(503, 'no healthy upstream'),
  '504': plainText(504, 'Proxy request timed out.'),
};

/** What the core makes of an answer. */
export function readAnswer(told: Told, task: Task | undefined): Truncation {
  if (told === 'time-out') return readWithout(new TransportError('timeout', true));
  if (told === 'reset' || told === 'body lost') return readWithout(new TransportError('reset', true));
  if (told !== 'own' && told !== 'slow') return truncationOf(substitutes[told], question, quote);
  if (!task) return truncationOf(substitutes['504'], question, quote);
  return truncationOf(plainText(200, JSON.stringify({ value: task.id }), 'application/json'), question, quote);
}
