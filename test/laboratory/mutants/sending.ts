import type { parseLine } from '../../../lambda/ledger/lines.ts';
import type { holds } from '../../../lambda/ledger/memory.ts';
import { headOf } from '../../../lambda/ledger/record.ts';
import type { Standing, standing } from '../../../lambda/ledger/standing.ts';
import type { fence, isSameRun } from '../../../lambda/ledger/transitions.ts';
import type { truncationOf, truncationWithoutAnswer } from '../../../lambda/operations/answers/truncation.ts';
import type { createOperations } from '../../../lambda/operations/http/http-operations.ts';
import { TransportError } from '../../../lambda/operations/http/transport.ts';
import type { afterCallWithoutTask } from '../../../lambda/run/breaker.ts';
import type { plan } from '../../../lambda/run/plan/plan.ts';
import type { poll } from '../../../lambda/run/poll.ts';
import type { truncate } from '../../../lambda/run/truncate.ts';
import type { isUntouched } from '../../../lambda/truncation/judge.ts';
import type { send } from '../../../lambda/truncation/send.ts';
import { type Mutant, replaces } from './mutant.ts';

/** Safety rules 4 and 5: one real truncate, and the ledger under it. */
export const sendingMutants: readonly Mutant[] = [
  {
    about: '4',
    name: 'sends again on 504',
    inSmallModel: true,
    replacements: [
      replaces<typeof createOperations>(
        'operations/http/http-operations',
        'createOperations',
        (original) => (options) => {
          const { transport } = options;
          return original({
            ...options,
            transport: {
              ...transport,
              async postOnce(...given) {
                const first = await transport.postOnce(...given);
                return first.status === 504 ? transport.postOnce(...given) : first;
              },
            },
          });
        },
      ),
    ],
  },
  {
    about: '4',
    name: 'lets a service mesh send it again',
    replacements: [
      replaces<typeof createOperations>(
        'operations/http/http-operations',
        'createOperations',
        (original) => (options) => {
          const { transport } = options;
          return original({
            ...options,
            transport: {
              ...transport,
              postOnce({ headers: { 'x-envoy-max-retries': _, ...headers }, ...exchange }, maySend) {
                return transport.postOnce({ ...exchange, headers }, maySend);
              },
            },
          });
        },
      ),
    ],
  },
  {
    about: '4',
    name: 'takes 5xx for a rejection',
    inSmallModel: true,
    replacements: [
      replaces<typeof truncationOf>(
        'operations/answers/truncation',
        'truncationOf',
        (original) =>
          (answer, ...rest) => {
            const found = original(answer, ...rest);
            return answer.status >= 500 && found.kind === 'unresolved' ? { kind: 'not-sent', why: found.error } : found;
          },
      ),
    ],
  },
  {
    about: '4',
    name: 'takes 400 for a rejection',
    inSmallModel: true,
    replacements: [
      replaces<typeof truncationOf>(
        'operations/answers/truncation',
        'truncationOf',
        (original) =>
          (answer, ...rest) => {
            const found = original(answer, ...rest);
            return answer.status === 400 && found.kind === 'unresolved'
              ? { kind: 'not-sent', why: found.error }
              : found;
          },
      ),
    ],
  },
  {
    about: '4',
    name: 'takes a sentence for a rejection',
    replacements: [
      replaces<typeof truncationOf>(
        'operations/answers/truncation',
        'truncationOf',
        (original) =>
          (answer, ...rest) => {
            const found = original(answer, ...rest);
            return answer.status === 200 && found.kind === 'unresolved'
              ? { kind: 'not-sent', why: found.error }
              : found;
          },
      ),
    ],
  },
  {
    about: '4',
    name: 'takes a connection that broke for one that never stood',
    inSmallModel: true,
    replacements: [
      replaces<typeof truncationWithoutAnswer>(
        'operations/answers/truncation',
        'truncationWithoutAnswer',
        (original) =>
          (error, ...rest) => {
            const found = original(error, ...rest);
            const isBroken = error instanceof TransportError && error.status === undefined;
            return isBroken && found.kind === 'unresolved' ? { kind: 'not-sent', why: found.error } : found;
          },
      ),
    ],
  },
  {
    about: '4',
    name: 'takes whatever is still for unchanged',
    replacements: [
      replaces<typeof isUntouched>('truncation/judge', 'isUntouched', () => ({ record, end }) => {
        return end === 'still' && record.state === 'sending';
      }),
    ],
  },
  {
    about: '4',
    name: 'goes on after calls without a task id',
    replacements: [
      replaces<typeof afterCallWithoutTask>('run/breaker', 'afterCallWithoutTask', (original) => (...given) => {
        const { breaker: _, ...counted } = original(...given);
        return counted;
      }),
    ],
  },
  {
    about: '5',
    name: 'the ledger is ignored',
    inSmallModel: true,
    replacements: [
      replaces<typeof truncate>('run/truncate', 'truncate', (original) => (state, services) => {
        const { ledger } = services;
        return original(state, {
          ...services,
          ledger: {
            ...ledger,
            async replace(previous, next) {
              const isCall = previous?.state === 'reserved' && next.state === 'sending';
              if (!isCall) return ledger.replace(previous, next);
              await ledger.replace(previous, next).catch(() => false);
              return true;
            },
          },
        });
      }),
    ],
  },
  {
    about: '5',
    name: 'transitions without the attempt id',
    inSmallModel: true,
    replacements: [
      replaces<typeof holds>('ledger/memory', 'holds', () => (current, previous) => {
        if (current === undefined || previous === undefined) return current === previous;
        return (current as { state: string }).state === previous.state;
      }),
    ],
  },
  {
    about: '5',
    name: 'sendBy is ignored',
    replacements: [
      replaces<typeof send>('truncation/send', 'send', (original) => (record, _, services) => {
        return original(record, { wall: Number.POSITIVE_INFINITY, monotonic: Number.POSITIVE_INFINITY }, services);
      }),
    ],
  },
  {
    about: '5',
    name: 'sendBy goes by a clock that can be set',
    replacements: [
      replaces<typeof send>('truncation/send', 'send', (original) => (record, { wall }, services) => {
        return original(record, { wall, monotonic: Number.POSITIVE_INFINITY }, services);
      }),
    ],
  },
  {
    about: '5',
    name: 'no fence after a failed Truncate',
    inSmallModel: true,
    replacements: [
      replaces<typeof poll>('run/poll', 'poll', (original) => (state, services) => {
        const { ledger } = services;
        return original(state, {
          ...services,
          ledger: {
            ...ledger,
            async replace(previous, next) {
              // Of Poll's writes, only a fence changes the attempt.
              const before = previous && 'attemptId' in previous ? previous.attemptId : undefined;
              return next.attemptId !== before || ledger.replace(previous, next);
            },
          },
        });
      }),
    ],
  },
  {
    about: '5',
    name: 'a fence that keeps the attempt’s id',
    inSmallModel: true,
    replacements: [
      replaces<typeof fence>('ledger/transitions', 'fence', (original) => (record, key, run, attemptId, now) => {
        const fenced = original(record, key, run, attemptId, now);
        return { ...fenced, attemptId: (record && headOf(record)?.attemptId) ?? attemptId };
      }),
    ],
  },
  {
    about: '5',
    name: 'a run may send again',
    among: ['redriven after two others'],
    replacements: [
      replaces<typeof standing>('ledger/standing', 'standing', (original) => (stored, ...rest) => {
        const found = original(stored, ...rest);
        if (found.kind !== 'spent') return found;
        const { record } = found;
        if (record.state === 'other-version') return { kind: 'free', record };
        const { sentBy: _, ...forgotten } = record;
        return { ...original(forgotten, ...rest), record } as Standing;
      }),
    ],
  },
  {
    about: '5',
    name: 'a run is its name',
    among: ['name comes back'],
    replacements: [
      replaces<typeof isSameRun>('ledger/transitions', 'isSameRun', () => (one, other) => one.runId === other.runId),
    ],
  },
  {
    about: '5',
    name: 'a schedule event counts twice',
    replacements: [
      replaces<typeof plan>('run/plan/plan', 'plan', (original) => (event, services) => {
        const { ledger } = services;
        return original(event, {
          ...services,
          ledger: {
            ...ledger,
            async takeScheduledTime(taking) {
              await ledger.takeScheduledTime(taking);
              return taking;
            },
          },
        });
      }),
    ],
  },
  {
    about: '5',
    name: 'a damaged end of the ledger file stops everything',
    replacements: [
      replaces<typeof parseLine>('ledger/lines', 'parseLine', (original) => (path, line) => {
        return original(path, line, false);
      }),
    ],
  },
];
