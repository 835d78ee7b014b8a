import type { fitState } from '../../../lambda/run/fit.ts';
import { type Mutant, replaces, replacesHidden, text } from './mutant.ts';

/** Safety rules 10 and 11: what people get to see. */
export const sayingMutants: readonly Mutant[] = [
  {
    about: '10',
    name: 'the token is in an error',
    patches: [
      text(
        'operations/http/http-operations',
        'if (!attempt.transient || tries >= attempts) throw new OperationsError(tries === 1 ? failure : { ...failure, tries });',
        'if (!attempt.transient || tries >= attempts) throw new OperationsError({ ...failure, text: token });',
      ),
    ],
  },
  {
    about: '11',
    name: 'two policies for one index are both taken',
    among: ['policy twice'],
    patches: [
      replacesHidden('policy/parse', 'withoutDuplicates', () => (parsed: never) => parsed),
      text('run/orders', "if (second) return { kind: 'policy-changed', field: 'duplicate' };", 'void second;'),
    ],
  },
  {
    about: '11',
    name: 'a policy that fails is left out',
    patches: [
      replaces<typeof fitState>('run/fit', 'fitState', (original) => (state) => {
        const kept = state.entries.filter((entry) => entry.phase !== 'done' || entry.entry.outcome !== 'failed');
        return original({ ...state, entries: kept });
      }),
    ],
  },
  {
    about: '11',
    name: 'what failed is folded into counts',
    patches: [text('run/report', 'result: cause === undefined ? worst(results)', "result: cause === undefined ? 'ok'")],
  },
];
