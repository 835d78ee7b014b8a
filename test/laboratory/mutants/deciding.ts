import type {
  decide,
  guard,
  guardFloor,
  guardReindex,
  guardServerClock,
  guardStart,
  isAboveCeiling,
} from '../../../lambda/policy/decision.ts';
import type { ordersNow } from '../../../lambda/run/orders.ts';
import type { taskStatusRefused } from '../../../lambda/run/plan/policy.ts';
import type { attemptOf, decideAgain, truncate } from '../../../lambda/run/truncate.ts';
import type { biteLimit, biteOf } from '../../../lambda/truncation/bite.ts';
import type { cutoffOf, truncateFields } from '../../../lambda/truncation/fields.ts';
import type { goneSince } from '../../../lambda/truncation/gone-since.ts';
import { type Mutant, replaces } from './mutant.ts';

/** Safety rules 1 to 3: what must hold before a real truncate. */
export const decidingMutants: readonly Mutant[] = [
  {
    about: '1',
    name: 'decides by the dry run of Plan',
    replacements: [
      replaces<typeof truncate>('run/truncate', 'truncate', (original) => (state, services) => {
        const { operations, parameters } = services;
        const target = state.entries.find((entry) => entry.phase === 'approved');
        // The dry run that decides is the one after the orders have been read.
        let decides = false;
        return original(state, {
          ...services,
          parameters: {
            ...parameters,
            policies() {
              decides = true;
              return parameters.policies();
            },
          },
          operations: {
            ...operations,
            async dryRun(...given) {
              if (!decides || target === undefined) return operations.dryRun(...given);
              const { rowsToDelete, strategy } = target.plan;
              return { rowsToDelete, rowsTotal: target.entry.rowsTotal ?? 0, strategy };
            },
          },
        });
      }),
    ],
  },
  {
    about: '1',
    name: 'cutoff a day too late',
    replacements: [
      replaces<typeof cutoffOf>('truncation/fields', 'cutoffOf', () => (policy, startMillis) => {
        return startMillis - (policy.retentionDays - 1) * 86_400_000;
      }),
    ],
  },
  {
    about: '1',
    name: 'Truncate does not decide again',
    replacements: [replaces<typeof decideAgain>('run/truncate', 'decideAgain', () => () => undefined)],
  },
  {
    about: '1',
    name: 'no time-out where the server reindexes',
    replacements: [
      replaces<typeof truncateFields>(
        'truncation/fields',
        'truncateFields',
        (original) => (policy, cutoffMillis) => original(policy, cutoffMillis),
      ),
    ],
  },
  {
    about: '1',
    name: 'the pause is not read again',
    replacements: [
      replaces<typeof ordersNow>('run/orders', 'ordersNow', (original) => (target, services) => {
        return original(target, { ...services, parameters: { ...services.parameters, paused: async () => false } });
      }),
    ],
  },
  {
    about: '1',
    name: 'all goes where a bite is due',
    replacements: [
      replaces<typeof biteOf>('truncation/bite', 'biteOf', () => () => undefined),
      replaces<typeof biteLimit>('truncation/bite', 'biteLimit', () => () => Number.POSITIVE_INFINITY),
    ],
  },
  {
    about: '1',
    name: 'a bite younger than its policy’s cutoff',
    replacements: [
      replaces<typeof attemptOf>('run/truncate', 'attemptOf', (original) => (...given) => {
        const { policyCutoffMillis, ...attempt } = original(...given);
        if (policyCutoffMillis === undefined) return attempt;
        return { ...attempt, fields: { ...attempt.fields, endTimeMillis: policyCutoffMillis + 43_200_000 } };
      }),
      replaces<typeof biteLimit>('truncation/bite', 'biteLimit', () => () => Number.POSITIVE_INFINITY),
    ],
  },
  {
    about: '1',
    name: 'the ceiling is judged by the bite',
    replacements: [
      replaces<typeof decide>('policy/decision', 'decide', (original) => (policy, { whole: _, dryRun, ...given }) => {
        const rowsToDelete = Math.min(dryRun.rowsToDelete, policy.maxRowsPerRun ?? dryRun.rowsToDelete);
        return original(policy, { ...given, dryRun: { ...dryRun, rowsToDelete } });
      }),
    ],
  },
  {
    about: '2',
    name: 'the server’s clock is not compared',
    replacements: [replaces<typeof guardServerClock>('policy/decision', 'guardServerClock', () => () => undefined)],
  },
  {
    about: '2',
    name: 'a start in the future is as good as any',
    replacements: [replaces<typeof guardStart>('policy/decision', 'guardStart', () => () => undefined)],
  },
  {
    about: '2',
    name: 'no floor',
    replacements: [replaces<typeof guardFloor>('policy/decision', 'guardFloor', () => () => undefined)],
  },
  {
    about: '1',
    name: 'what has nothing left to delete is sent',
    replacements: [
      replaces<typeof decideAgain>('run/truncate', 'decideAgain', (original) => (target, given) => {
        return given.dryRun.rowsToDelete === 0 ? undefined : original(target, given);
      }),
    ],
  },
  {
    about: '2',
    name: 'the ceiling is no ceiling',
    replacements: [replaces<typeof isAboveCeiling>('policy/decision', 'isAboveCeiling', () => () => false)],
  },
  {
    about: '2',
    name: 'the last verdict is not compared',
    replacements: [replaces<typeof goneSince>('truncation/gone-since', 'goneSince', () => async () => undefined)],
  },
  {
    about: '3',
    name: 'delete-by-query-only follows a reindex',
    replacements: [
      replaces<typeof guard>('policy/decision', 'guard', (original) => (policy, given) => {
        return original({ ...policy, strategy: 'delete-by-query' }, given);
      }),
    ],
  },
  {
    about: '3',
    name: 'a reindex of any index',
    replacements: [replaces<typeof guardReindex>('policy/decision', 'guardReindex', () => () => undefined)],
  },
  {
    about: '3',
    name: 'a reindex without asking for a status',
    replacements: [
      replaces<typeof taskStatusRefused>('run/plan/policy', 'taskStatusRefused', () => async () => undefined),
    ],
  },
];
