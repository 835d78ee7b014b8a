import type { biteLimit, biteOf } from '../../../lambda/truncation/bite.ts';
import type { cutoffOf, truncateFields } from '../../../lambda/truncation/fields.ts';
import type { goneSince } from '../../../lambda/truncation/gone-since.ts';
import { type Mutant, replaces, replacesHidden, text } from './mutant.ts';

/** Safety rules 1 to 3: what must hold before a real truncate. */
export const decidingMutants: readonly Mutant[] = [
  {
    about: '1',
    name: 'decides by the dry run of Plan',
    patches: [
      text(
        'run/truncate',
        'const dryRun = await ask(attempt.fields);',
        'const dryRun: DryRun = { rowsToDelete: plan.rowsToDelete, rowsTotal: target.entry.rowsTotal ?? 0, strategy: plan.strategy };',
      ),
    ],
  },
  {
    about: '1',
    name: 'cutoff a day too late',
    patches: [
      replaces<typeof cutoffOf>('truncation/fields', 'cutoffOf', () => (policy, startMillis) => {
        return startMillis - (policy.retentionDays - 1) * 86_400_000;
      }),
    ],
  },
  {
    about: '1',
    name: 'Truncate does not decide again',
    patches: [
      text(
        'run/truncate',
        "if (decision.kind === 'refuse') return",
        "if (decision.kind !== 'refuse' && decision.strategy === undefined) return",
      ),
      text(
        'run/truncate',
        'if (decision.strategy !== plan.strategy) {',
        "if (decision.kind !== 'refuse' && decision.strategy !== plan.strategy && false) {",
      ),
    ],
  },
  {
    about: '1',
    name: 'no time-out where the server reindexes',
    patches: [
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
    patches: [text('run/orders', 'if (paused) return paused;', 'if (paused && !services) return paused;')],
  },
  {
    about: '1',
    name: 'all goes where a bite is due',
    patches: [
      replaces<typeof biteOf>('truncation/bite', 'biteOf', () => () => undefined),
      replaces<typeof biteLimit>('truncation/bite', 'biteLimit', () => () => Number.POSITIVE_INFINITY),
    ],
  },
  {
    about: '1',
    name: 'a bite younger than its policy’s cutoff',
    patches: [
      text(
        'run/truncate',
        'plan.bite?.cutoffMillis ?? policyCutoff',
        'plan.bite ? policyCutoff + 43_200_000 : policyCutoff',
      ),
      text('run/truncate', '...(plan.bite && { policyCutoffMillis: policyCutoff }),', ''),
      text('run/truncate', "const backlog = windowOf(windows, 'backlog')?.rows ?? 0;", 'const backlog = 0;'),
      replaces<typeof biteLimit>('truncation/bite', 'biteLimit', () => () => Number.POSITIVE_INFINITY),
    ],
  },
  {
    about: '1',
    name: 'the ceiling is judged by the bite',
    patches: [
      text(
        'run/plan/policy',
        "if (decision.kind === 'refuse') return { entry: done(counted",
        "if (decision.kind === 'refuse' && bite === undefined) return { entry: done(counted",
      ),
      text('run/plan/bite', 'dryRun: part, whole: dryRun, cutoffMillis: sent', 'dryRun: part, cutoffMillis: sent'),
      text(
        'run/truncate',
        'dryRun, whole, cutoffMillis: attempt.fields.endTimeMillis',
        'dryRun, cutoffMillis: attempt.fields.endTimeMillis',
      ),
    ],
  },
  {
    about: '2',
    name: 'the server’s clock is not compared',
    patches: [
      text(
        'policy/decision',
        'if (Math.abs(clockSkewMillis) > maxClockSkewMillis) {',
        'if (Number.isNaN(clockSkewMillis)) {',
      ),
    ],
  },
  {
    about: '2',
    name: 'a start in the future is as good as any',
    patches: [text('policy/decision', 'if (ahead > maxStartAheadMillis) return', 'if (Number.isNaN(ahead)) return')],
  },
  {
    about: '2',
    name: 'no floor',
    patches: [
      text(
        'policy/decision',
        'if (!(present - given.cutoffMillis >=',
        'if (Number.isNaN(present) && !(present - given.cutoffMillis >=',
      ),
    ],
  },
  {
    about: '2',
    name: 'others who delete are not waited for',
    patches: [
      replacesHidden(
        'run/truncate',
        'countTwiceIfFewer',
        (original) =>
          (attempt: never, _: never, ...rest: never[]) => {
            return original(attempt, 0 as never, ...rest);
          },
      ),
    ],
  },
  {
    about: '2',
    name: 'the ceiling is no ceiling',
    patches: [replacesHidden('policy/decision', 'isAboveCeiling', () => () => false)],
  },
  {
    about: '2',
    name: 'the last verdict is not compared',
    patches: [replaces<typeof goneSince>('truncation/gone-since', 'goneSince', () => async () => undefined)],
  },
  {
    about: '3',
    name: 'delete-by-query-only follows a reindex',
    patches: [
      text(
        'policy/decision',
        "if (policy.strategy === 'delete-by-query-only' && strategy === 'reindex')",
        'if (strategy === undefined && policy.retentionDays < 0)',
      ),
    ],
  },
  {
    about: '3',
    name: 'a reindex of any index',
    patches: [replacesHidden('policy/decision', 'guardReindex', () => () => undefined)],
  },
  {
    about: '3',
    name: 'a reindex without asking for a status',
    patches: [replacesHidden('run/plan/policy', 'taskStatusRefused', () => async () => undefined)],
  },
];
