import type { Cause } from '../../../lambda/facts/cause.ts';
import type { mayBeJudged, Unresolved } from '../../../lambda/ledger/record.ts';
import type { standing } from '../../../lambda/ledger/standing.ts';
import type { breakerOf } from '../../../lambda/run/breaker.ts';
import type { countIn } from '../../../lambda/run/clear.ts';
import type { adopt } from '../../../lambda/run/plan/policy.ts';
import {
  type canBeRepeated,
  type isAbandoned,
  type judge,
  type judgeReindex,
  type stuck,
  whatProofLacks,
} from '../../../lambda/truncation/judge.ts';
import type { countAgain, giveUp, goesOn, isFinal, see } from '../../../lambda/truncation/look.ts';
import type { fold, isStill } from '../../../lambda/truncation/watch.ts';
import { type boundsOf, shortfallOf } from '../../../lambda/truncation/windows.ts';
import { type Mutant, replaces } from './mutant.ts';

/** Safety rules 6 to 9: who judges what, when, and by what. */
export const watchingMutants: readonly Mutant[] = [
  {
    about: '6',
    name: 'judges before it may',
    replacements: [
      replaces<typeof mayBeJudged>('ledger/record', 'mayBeJudged', () => () => true),
      replaces<typeof isStill>('truncation/watch', 'isStill', () => (watch, at) => {
        return watch.movedAt !== undefined && at - watch.movedAt >= 60_000;
      }),
    ],
  },
  {
    about: '6',
    name: 'judges an adopted record by its own cutoff',
    replacements: [
      replaces<typeof countAgain>('truncation/look', 'countAgain', (original) => ({ attempt, ...record }, services) => {
        const day = 86_400_000;
        const late = day * Math.floor((services.clock.now() - attempt.runStartMillis) / day);
        const fields = { ...attempt.fields, endTimeMillis: attempt.fields.endTimeMillis + late };
        return original({ ...record, attempt: { ...attempt, fields } } as Unresolved, services);
      }),
    ],
  },
  {
    about: '6',
    name: 'a preview writes the ledger',
    replacements: [
      replaces<typeof adopt>('run/plan/policy', 'adopt', (original) => (index, facts, record, context) => {
        return original(index, facts, record, { ...context, state: { ...context.state, mode: 'enforce' } });
      }),
    ],
  },
  {
    about: '6',
    name: 'a record of another version is free',
    replacements: [
      replaces<typeof standing>('ledger/standing', 'standing', (original) => (record, ...rest) => {
        if (record?.state === 'other-version') return { kind: 'free', record: record as never };
        return original(record, ...rest);
      }),
    ],
  },
  {
    about: '7',
    name: 'trusts "completed"',
    replacements: [
      replaces<typeof judge>('truncation/judge', 'judge', (original) => (evidence) => {
        const found = original(evidence);
        return evidence.end === 'task' ? { ...found, outcome: 'truncated', closes: 'idle' } : found;
      }),
    ],
  },
  {
    about: '7',
    name: 'judges a reindex by rows to delete',
    inSmallModel: true,
    replacements: [
      replaces<typeof judgeReindex>('truncation/judge', 'judgeReindex', () => ({ after }) => {
        const isDone = after.rowsToDelete === 0;
        return {
          outcome: isDone ? 'truncated' : 'incomplete',
          cause: isDone ? { kind: 'verified', by: 'counts' } : { kind: 'remains' },
          facts: {},
          closes: 'idle',
        };
      }),
    ],
  },
  {
    about: '7',
    name: 'a copy without proof is as good as any',
    replacements: [
      replaces<typeof judgeReindex>('truncation/judge', 'judgeReindex', (original) => (evidence) => {
        const found = original(evidence);
        if (evidence.end === 'stuck' || whatProofLacks(evidence) === undefined) return found;
        if (shortfallOf(evidence.record.windows, evidence.after.windows)?.isMissing) return found;
        return { outcome: 'truncated', cause: { kind: 'verified', by: 'counts' }, facts: found.facts, closes: 'idle' };
      }),
    ],
  },
  {
    about: '8',
    name: 'counts an open window',
    replacements: [
      replaces<typeof boundsOf>('truncation/windows', 'boundsOf', (original) => (span, now) => {
        return original(span, now).map(({ role, from }) => ({ role, from, to: 8.64e15 }));
      }),
    ],
  },
  {
    about: '8',
    name: 'no quarantine',
    replacements: [
      replaces<typeof judge>('truncation/judge', 'judge', (original) => (evidence) => {
        const found = original(evidence);
        return found.outcome === 'rows-missing' ? { ...found, closes: 'idle' } : found;
      }),
    ],
  },
  {
    about: '8',
    name: 'no circuit breaker',
    replacements: [replaces<typeof breakerOf>('run/breaker', 'breakerOf', () => () => undefined)],
  },
  {
    about: '8',
    name: 'clears without counting',
    replacements: [
      replaces<typeof countIn>('run/clear', 'countIn', () => async () => ({ kind: 'counted', rowsMissing: 0 })),
    ],
  },
  {
    about: '9',
    name: 'gives up before 20 h',
    replacements: [replaces<typeof isAbandoned>('truncation/judge', 'isAbandoned', () => () => true)],
  },
  {
    about: '9',
    name: 'gives up before 20 h what cannot be counted',
    replacements: [
      replaces<typeof giveUp>('truncation/look', 'giveUp', (original) => (target, record, ...rest) => {
        const old = { ...record, attempt: { ...record.attempt, sendingSince: 0 } } as Unresolved;
        return original(target, old, ...rest);
      }),
    ],
  },
  {
    about: '9',
    name: 'gives up what its status says goes on',
    replacements: [
      replaces<typeof stuck>('truncation/judge', 'stuck', (original) => (evidence) => {
        return original({ ...evidence, now: Number.POSITIVE_INFINITY });
      }),
    ],
  },
  {
    about: '9',
    name: 'never gives up',
    replacements: [replaces<typeof isAbandoned>('truncation/judge', 'isAbandoned', () => () => false)],
  },
  {
    about: '9',
    name: 'takes the first look for stillness',
    replacements: [replaces<typeof isStill>('truncation/watch', 'isStill', () => () => true)],
  },
  {
    about: '9',
    name: 'does not wait for the refresh',
    replacements: [replaces<typeof isFinal>('truncation/look', 'isFinal', () => () => true)],
  },
  {
    about: '9',
    name: 'a reindex that nobody saw end is opened again',
    replacements: [
      replaces<typeof canBeRepeated>('truncation/judge', 'canBeRepeated', (original) => (evidence) => {
        return original(evidence, true);
      }),
    ],
  },
  {
    about: '9',
    name: 'a copy that has hung for a day is opened again',
    among: ['a copy hangs for more than a day'],
    replacements: [
      replaces<typeof stuck>('truncation/judge', 'stuck', (original) => (evidence) => {
        const found = original(evidence);
        if (found.closes !== 'quarantined') return found;
        return { ...found, cause: { ...found.cause, closed: 'given-up' } as Cause, closes: 'idle' };
      }),
    ],
  },
  {
    about: '9',
    name: 'a delete with nothing left is over, whatever comes back',
    among: ['nothing is left, and then there is'],
    replacements: [
      replaces<typeof fold>('truncation/watch', 'fold', (original) => (before, ...rest) => {
        const found = original(before, ...rest);
        const { completedAt, completedRealAt } = before;
        if (completedAt === undefined || completedRealAt === undefined) return found;
        return { watch: { ...found.watch, completedAt, completedRealAt }, step: 'ended' };
      }),
      replaces<typeof goesOn>('truncation/look', 'goesOn', () => () => false),
    ],
  },
  {
    about: '9',
    name: 'stillness goes by a wrong clock',
    replacements: [
      replaces<typeof see>('truncation/look', 'see', (original) => async (...given) => {
        return { ...(await original(...given)), clockIsWrong: false };
      }),
    ],
  },
];
