import type { standing } from '../../../lambda/ledger/standing.ts';
import type { noteAnswer } from '../../../lambda/ledger/transitions.ts';
import type { truncationOf } from '../../../lambda/operations/answers/truncation.ts';
import type { serverAddress } from '../../../lambda/operations/http/base-url.ts';
import type { searchIndex, searchIndexOfName } from '../../../lambda/policy/aspects.ts';
import type { guardFloor, guardReindex, guardStart } from '../../../lambda/policy/decision.ts';
import { type ordersNow, pausedCause } from '../../../lambda/run/orders.ts';
import type { validUntil } from '../../../lambda/run/truncate.ts';
import type { mayHaveCopied, whatProofLacks } from '../../../lambda/truncation/copied.ts';
import type { goneSince } from '../../../lambda/truncation/gone-since.ts';
import type { ownTask } from '../../../lambda/truncation/own-task.ts';
import type { isStill } from '../../../lambda/truncation/watch.ts';
import type { shortfallOf } from '../../../lambda/truncation/windows.ts';
import { type Mutant, replaces } from './mutant.ts';

/**
 * Defects that a hostile review of the first core found, brought back one by one; the laboratory of that time had
 * shared the core's assumptions and missed them. The numbers are those of docs/finds.md.
 */

export const findMutants: readonly Mutant[] = [
  {
    about: 'find 1',
    name: 'find-1-late-rows-refill',
    among: ['a copy is cut, and late rows fill it up'],
    replacements: [
      replaces<typeof whatProofLacks>('truncation/copied', 'whatProofLacks', () => () => undefined),
      replaces<typeof shortfallOf>('truncation/windows', 'shortfallOf', (original) => (before, after) => {
        return original(
          before.filter(({ role }) => role !== 'settled'),
          after,
        );
      }),
    ],
  },
  {
    about: 'find 2',
    name: 'find-2-one-server-two-ledgers',
    replacements: [
      replaces<typeof serverAddress>('operations/http/base-url', 'serverAddress', () => (baseUrl) => baseUrl),
      replaces<typeof standing>('ledger/standing', 'standing', (original) => (record, asking, now) => {
        const isElsewhere = record !== undefined && record.state !== 'other-version' && record.server !== asking.server;
        return isElsewhere ? { kind: 'free', record: record as never } : original(record, asking, now);
      }),
    ],
  },
  {
    about: 'find 3',
    name: 'find-3-late-400',
    replacements: [
      replaces<typeof noteAnswer>('ledger/transitions', 'noteAnswer', (original) => (record, answer, strategy) => {
        const noted = original(record, answer, strategy);
        const at = noted.attempt.sendingSince + 90_000;
        return answer.error.status === 400 ? { ...noted, judgeableAt: Math.min(noted.judgeableAt, at) } : noted;
      }),
      replaces<typeof isStill>('truncation/watch', 'isStill', () => (watch, at) => at - watch.startedAt >= 90_000),
    ],
  },
  {
    about: 'find 4',
    name: 'find-4-refusals-that-acted',
    replacements: [
      replaces<typeof truncationOf>(
        'operations/answers/truncation',
        'truncationOf',
        (original) =>
          (answer, ...rest) => {
            const found = original(answer, ...rest);
            const isRefusal = [401, 403, 404, 429].includes(answer.status);
            return isRefusal && found.kind === 'unresolved' ? { kind: 'not-sent', why: found.error } : found;
          },
      ),
    ],
  },
  {
    about: 'find 5',
    name: 'find-5-cutoff-compared-with-itself',
    replacements: [
      replaces<typeof guardStart>('policy/decision', 'guardStart', () => () => undefined),
      replaces<typeof guardFloor>('policy/decision', 'guardFloor', (original) => ({ dryRun, ...given }) => {
        return original({ ...given, now: given.startMillis, dryRun: { ...dryRun, clockSkewMillis: 0 } });
      }),
    ],
  },
  {
    about: 'find 6',
    name: 'find-6-orders-that-came-later',
    replacements: [replaces<typeof ordersNow>('run/orders', 'ordersNow', () => (_, services) => pausedCause(services))],
  },
  {
    about: 'find 8',
    name: 'find-8-one-index-two-names',
    replacements: [
      replaces<typeof searchIndex>('policy/aspects', 'searchIndex', () => ({ entityType, aspect }) => {
        return `${entityType}.${aspect}`.toLowerCase();
      }),
      replaces<typeof searchIndexOfName>('policy/aspects', 'searchIndexOfName', () => (name) => name.toLowerCase()),
    ],
  },
  {
    about: 'find 10',
    name: 'find-10-an-old-dry-run',
    replacements: [replaces<typeof validUntil>('run/truncate', 'validUntil', () => (madeAt) => madeAt + 450_000)],
  },
  {
    about: 'find 37',
    name: 'find-37-a-delete-that-became-a-reindex',
    among: ['a delete becomes a reindex'],
    replacements: [
      replaces<typeof mayHaveCopied>('truncation/copied', 'mayHaveCopied', () => ({ attempt }) => {
        return attempt.strategy !== 'delete-by-query';
      }),
    ],
  },
  {
    about: 'find 38',
    name: 'find-38-into-somebodys-copy',
    among: ['somebody’s copy is under way'],
    replacements: [
      replaces<typeof guardReindex>('policy/decision', 'guardReindex', (original) => (given) => {
        const refusal = original(given);
        const isYoung = refusal?.cause.kind === 'guard' && refusal.cause.which === 'index-young';
        return isYoung ? undefined : refusal;
      }),
    ],
  },
  {
    about: 'find 39',
    name: 'find-39-emptied-and-refilled',
    replacements: [
      replaces<typeof goneSince>('truncation/gone-since', 'goneSince', () => async ({ rows }, _cutoff, upTo) => {
        const rowsTotal = await upTo(8.64e15);
        return rowsTotal < rows / 2 ? { found: rowsTotal } : undefined;
      }),
    ],
  },
  {
    about: 'find 41',
    name: 'find-41-a-number-that-came-back',
    among: ['a task number comes back'],
    replacements: [
      replaces<typeof ownTask>('truncation/own-task', 'ownTask', () => (status) => {
        if (status.kind === 'vanished') return undefined;
        const { completed, counters } = status;
        const { created = 0, updated = 0, deleted = 0 } = counters;
        const does = created + updated > 0 ? 'copy' : deleted > 0 ? 'delete' : undefined;
        return { completed, counters, ...(does !== undefined && { does }) };
      }),
    ],
  },
];
