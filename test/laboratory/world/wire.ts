import {
  type DryRun,
  type Operations,
  OperationsError,
  type ReadOptions,
  type TruncateFields,
  type Truncation,
} from '../../../lambda/gms/operations.ts';
import { failureOfStatus } from '../../../lambda/gms/responses/failures.ts';
import { truncationOf, truncationWithoutAnswer } from '../../../lambda/gms/responses/truncation.ts';
import {
  connectTimeoutMillis,
  type HttpResponse,
  readTimeoutMillis,
  TransportError,
  truncateTimeoutMillis,
} from '../../../lambda/gms/transport.ts';
import type { ServerError, ServerErrorKind } from '../../../lambda/model/server-error.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import {
  type Answer as AnswerName,
  answers,
  type Effect,
  effects,
  isStranger,
  namesOf,
  strangers,
  unwritten,
} from '../alphabet/answers.ts';
import { vagueCounters } from '../alphabet/server.ts';
import type { Track } from '../truth/track.ts';
import type { Pace, Task } from './engine.ts';
import { type Invocation, pause } from './invocation.ts';
import type { World } from './world.ts';

/**
 * The server as one function sees it, in virtual time and in the same process, with everything that can break on the
 * way. Answers pass through the core's own reading of them.
 */
export function operationsOf(invocation: Invocation): Operations {
  const { world, info } = invocation;
  const { server, journal, time } = world;
  return {
    async dryRun(fields, options) {
      let countedAt = time.now();
      const note = (answer: DryRun | undefined, isAbsent = false) => {
        const index = searchIndex(fields);
        journal.push({
          at: time.now(),
          kind: 'dry-run',
          invocation: info,
          index,
          fields: { ...fields },
          answer,
          isAbsent,
          countedAt,
        });
      };
      try {
        const answer = await read(invocation, 'dry-run', options, () => {
          countedAt = time.now();
          return server.dryRun(fields) as ReturnType<typeof server.dryRun> | 'of a stranger';
        });
        if (answer === 'of a stranger') {
          note(undefined);
          return { rowsToDelete: 0, rowsTotal: 0, method: 'delete' };
        }
        if (answer === 'no index') throw failure('no-index', 'dry-run', 500);
        if (answer === 'refused') throw failure('bad-request', 'dry-run', 400);
        if (answer === 'no count') throw failure('unreadable', 'dry-run', 200);
        note(answer);
        return answer;
      } catch (error) {
        // An index that the search engine does not know has no rows; what a stranger says is no count.
        const isUnknown =
          error instanceof OperationsError && error.serverError.kind === 'no-index' && error.serverError.status;
        if (isUnknown) note({ rowsToDelete: 0, rowsTotal: 0, method: 'delete' }, true);
        else note(undefined);
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
      journal.push({
        at: time.now(),
        kind: 'sizes',
        invocation: info,
        names: answer.map(({ indexName }) => indexName),
      });
      return answer;
    },
    truncate: (fields, maySend) => send(invocation, fields, maySend),
  };
}

const failure = (kind: ServerErrorKind, operation: ServerError['operation'], status?: number): OperationsError =>
  new OperationsError({ kind, operation, status });

const quote = Object.assign((text: string) => text.slice(0, 240), { repeatsSecret: () => false });
const baseUrl = 'http://gms.test:8080';

/** A read after all its attempts: the server's answer, or why there is none. */
function read<T>(
  invocation: Invocation,
  operation: ServerError['operation'],
  { signal }: ReadOptions = {},
  ask: () => T,
): Promise<T> {
  const { world, exchange } = invocation;
  const fails = (answerName: AnswerName | keyof typeof unwritten) => async (): Promise<T> => {
    const answer = ask();
    if (answerName === 'own') return answer;
    if (answerName === 'slow') {
      await pause(invocation, world.chances.between(1000, readTimeoutMillis));
      return answer;
    }
    if (answerName === 'time-out') {
      await pause(invocation, 2 * readTimeoutMillis);
      throw failure('timeout', operation);
    }
    if (answerName === 'reset' || answerName === 'body lost') throw failure('reset', operation);
    if (answerName === 'dns' || answerName === 'connect' || answerName === 'tls') throw failure(answerName, operation);
    const fact = failureOfStatus(substitutes[answerName], { operation, baseUrl }, quote);
    throw fact ? new OperationsError(fact) : failure('unreadable', operation, 200);
  };
  /** Once for each function, so that it never answers all counts of a check. */
  const stranger = async (): Promise<T> => {
    if (operation !== 'dry-run' || invocation.sawStranger) return ask();
    invocation.sawStranger = true;
    throw failure('no-index', operation);
  };
  const emptyStranger = async (): Promise<T> => {
    if (operation !== 'dry-run' || invocation.sawStranger) return ask();
    invocation.sawStranger = true;
    return 'of a stranger' as T;
  };
  const all = [...namesOf(strangers), ...namesOf(answers), ...namesOf(unwritten)];
  const strange = { stranger, 'empty stranger': emptyStranger };
  const faults = Object.fromEntries(
    (world.weather.reads ?? all).map((answerName) => [
      answerName,
      isStranger(answerName) ? strange[answerName] : fails(answerName),
    ]),
  );
  const asked = exchange(operation, ask, faults, world.weather.read);
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(failure('aborted', operation));
    asked.then(resolve, reject);
    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** A real truncate: any answer with any effect. */
function send(invocation: Invocation, fields: TruncateFields, maySend: () => boolean): Promise<Truncation> {
  const { world, info, exchange } = invocation;
  const { chances, weather } = world;
  const sent = (answerName: AnswerName, effect: Effect) => async (): Promise<Truncation> => {
    if (!maySend()) return { kind: 'not-sent', why: 'withheld' };
    const track = world.sent(info, fields);
    const task = take(world, track, fields, effect);
    if (answerName === 'slow') await pause(invocation, chances.between(1000, 110_000));
    if (answerName === 'time-out') await pause(invocation, truncateTimeoutMillis);
    const truncation = readAnswer(answerName, task);
    const status = truncation.kind === 'unresolved' ? truncation.error.status : undefined;
    const answered = { status, isTaskId: truncation.kind === 'started', index: track.index };
    world.journal.push({ at: world.time.now(), kind: 'answered', invocation: info, ...answered });
    return truncation;
  };
  const notWritten = (phase: keyof typeof unwritten) => async (): Promise<Truncation> => {
    await pause(invocation, connectTimeoutMillis);
    return truncationWithoutAnswer(new TransportError(phase, false), question, quote);
  };
  const faults: Record<string, () => Promise<Truncation>> = {};
  for (const answerName of weather.answers ?? namesOf(answers)) {
    for (const effect of weather.effects ?? namesOf(effects))
      faults[`${answerName}, ${effect}`] = sent(answerName, effect);
  }
  for (const phase of weather.answers ? [] : namesOf(unwritten)) faults[phase] = notWritten(phase);
  return exchange('truncate', sent('own', 'at once'), faults, weather.truncate);
}

/** What the server does; from then on the answer is on its way. @returns the task, if it has one by now */
function take(world: World, track: Track, fields: TruncateFields, effect: Effect): Task | undefined {
  const { chances, server, tracker } = world;
  const act = (pace: Pace = server.behavior.pace) => {
    world.onActing(track);
    const isVague = vagueCounters.includes(server.behavior.counters);
    return tracker.acts(track, isVague, () => server.truncate(fields, pace));
  };
  if (effect === 'none') return undefined;
  if (effect === 'at once') return act();
  if (effect === 'half') {
    const as = chances.pick(['dead', 'cancelled', 'completed'] as const);
    return act({ ...server.behavior.pace, endsAt: { share: chances.pick([0, 0.1, 0.5, 0.9, 0.99]), as } });
  }
  const [least, most] = effect === 'later' ? [1000, 120_000] : [120_000, 1_195_000];
  track.pendingUntil = world.time.now() + most;
  world.actLater(world.time.now() + chances.between(least, most), () => {
    if (track.pendingUntil !== undefined) act();
  });
  return undefined;
}

const question = { operation: 'truncate', baseUrl } as const;

const page = (title: string) => `<!DOCTYPE html><html><head><title>${title}</title></head></html>`;
const answer = (status: number, body: string, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers: { 'content-type': body.startsWith('{') ? 'application/json' : 'text/html', ...headers },
  dates: [],
  body,
  complete: true,
});
const restli = (status: number, message: string): HttpResponse =>
  answer(
    status,
    JSON.stringify({ exceptionClass: 'com.linkedin.restli.server.RestLiServiceException', message, status }),
  );

const substitutes: Record<Exclude<AnswerName, 'own' | 'slow' | 'time-out' | 'reset' | 'body lost'>, HttpResponse> = {
  sentence: answer(200, '{"value":"Reindex dataset operation index"}'),
  empty: answer(200, '{"value":""}'),
  garbage: answer(200, '{"value":"no'),
  'page 200': answer(200, page('Sign in')),
  redirect: answer(302, '', { location: 'https://login.test/' }),
  '400': restli(400, 'Async reindex failed'),
  '401': restli(401, 'Unauthorized to perform this action.'),
  '403': answer(403, 'RBAC: access denied'),
  '404': answer(404, 'Not Found'),
  '429': answer(429, 'Too many requests'),
  '500': restli(500, 'Async delete query failed'),
  'page 502': answer(502, page('Bad Gateway')),
  '503': answer(503, 'no healthy upstream'),
  '504': answer(504, 'Proxy request timed out.'),
};

/** What the core makes of an answer. */
function readAnswer(answerName: AnswerName, task: Task | undefined): Truncation {
  if (answerName === 'time-out' || answerName === 'reset' || answerName === 'body lost') {
    return truncationWithoutAnswer(
      new TransportError(answerName === 'time-out' ? 'timeout' : 'reset', true),
      question,
      quote,
    );
  }
  if (answerName !== 'own' && answerName !== 'slow') return truncationOf(substitutes[answerName], question, quote);
  const own = task ? answer(200, JSON.stringify({ value: task.id })) : substitutes['504'];
  return truncationOf(own, question, quote);
}
