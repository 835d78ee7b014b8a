import type { worst } from '../../../lambda/facts/outcomes.ts';
import type { isQuiet } from '../../../lambda/notification/quiet.ts';
import type { createOperations } from '../../../lambda/operations/http/http-operations.ts';
import { asking, OperationsError } from '../../../lambda/operations/operations.ts';
import type { withoutDuplicates } from '../../../lambda/policy/parse.ts';
import type { ordersNow } from '../../../lambda/run/orders.ts';
import type { carried } from '../../../lambda/run/plan/carried.ts';
import { type Mutant, replaces } from './mutant.ts';

/** Promise 1 and safety rules 10 and 11: what people see. */
export const sayingMutants: readonly Mutant[] = [
  {
    about: 'P1',
    name: 'a stage that reports problems only is not sent what a copy may have lost',
    replacements: [
      replaces<typeof isQuiet>(
        'notification/quiet',
        'isQuiet',
        () =>
          ({ result }) =>
            result === 'ok',
      ),
    ],
  },
  {
    about: '10',
    name: 'the token is in an error',
    replacements: [
      replaces<typeof createOperations>(
        'operations/http/http-operations',
        'createOperations',
        (original) => (options) => {
          const { dryRun, taskStatus, indexSizes, ...rest } = original(options);
          const telling = async <Value>(read: Promise<Value>): Promise<Value> => {
            const asked = await asking(() => read);
            if (asked.kind === 'done') return asked.value;
            throw new OperationsError({ ...asked.error, text: await options.token.get() });
          };
          return {
            ...rest,
            dryRun: (...given) => telling(dryRun(...given)),
            taskStatus: (...given) => telling(taskStatus(...given)),
            indexSizes: (...given) => telling(indexSizes(...given)),
          };
        },
      ),
    ],
  },
  {
    about: '11',
    name: 'two policies for one index are both taken',
    among: ['policy twice'],
    replacements: [
      replaces<typeof withoutDuplicates>('policy/parse', 'withoutDuplicates', () => (parsed) => parsed),
      replaces<typeof ordersNow>('run/orders', 'ordersNow', (original) => async (...given) => {
        const changed = await original(...given);
        return changed?.kind === 'changed' && changed.what === 'policy-duplicate' ? undefined : changed;
      }),
    ],
  },
  {
    about: '11',
    name: 'a policy that fails is left out',
    replacements: [
      replaces<typeof carried>('run/plan/carried', 'carried', (original) => (state) => {
        const kept = state.entries.filter((entry) => entry.phase !== 'done' || entry.entry.outcome !== 'failed');
        return original({ ...state, entries: kept });
      }),
    ],
  },
  {
    about: '11',
    name: 'what failed counts as ok',
    replacements: [replaces<typeof worst>('facts/outcomes', 'worst', () => () => 'ok')],
  },
];
