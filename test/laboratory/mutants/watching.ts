import type { mayBeJudged } from '../../../lambda/ledger/record.ts';
import type { standing } from '../../../lambda/ledger/standing.ts';
import type { breakerOf } from '../../../lambda/run/breaker.ts';
import type { countIn } from '../../../lambda/run/clear.ts';
import type { adopt } from '../../../lambda/run/plan/policy.ts';
import type { whatProofLacks } from '../../../lambda/truncation/copied.ts';
import type { isFinal } from '../../../lambda/truncation/final.ts';
import type { judge } from '../../../lambda/truncation/judge.ts';
import type { isOld } from '../../../lambda/truncation/look.ts';
import type { clocksAgree, countAll } from '../../../lambda/truncation/see.ts';
import type { fold, isStill } from '../../../lambda/truncation/watch.ts';
import type { boundsOf } from '../../../lambda/truncation/windows.ts';
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
      replaces<typeof countAll>('truncation/see', 'countAll', (original) => (record, services) => {
        const { fields, runStartMillis } = record.attempt;
        const late = 86_400_000 * Math.floor((services.clock.now() - runStartMillis) / 86_400_000);
        const attempt = { ...record.attempt, fields: { ...fields, endTimeMillis: fields.endTimeMillis + late } };
        return original({ ...record, attempt } as typeof record, services);
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
      replaces<typeof judge>('truncation/judge', 'judge', (original) => (evidence) => {
        const found = original(evidence);
        if (!evidence.copied || found.outcome === 'failed') return found;
        const isDone = evidence.after.rowsToDelete === 0;
        const cause = isDone ? { kind: 'verified', by: 'counts' } : { kind: 'remains', why: 'rows' };
        return { outcome: isDone ? 'truncated' : 'incomplete', cause: cause as never, facts: {}, closes: 'idle' };
      }),
    ],
  },
  {
    about: '7',
    name: 'a copy without proof is as good as any',
    replacements: [replaces<typeof whatProofLacks>('truncation/copied', 'whatProofLacks', () => () => undefined)],
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
    replacements: [replaces<typeof isOld>('truncation/look', 'isOld', () => () => true)],
  },
  {
    about: '9',
    name: 'gives up what its status says goes on',
    among: ['at work for more than a day'],
    replacements: [
      replaces<typeof fold>('truncation/watch', 'fold', (original) => (before, sighting, watched) => {
        const { watch, end } = original(before, sighting, watched);
        return { watch, end: end ?? (watched.isLastLook ? 'over' : undefined) };
      }),
    ],
  },
  {
    about: '9',
    name: 'never gives up',
    replacements: [replaces<typeof isOld>('truncation/look', 'isOld', () => () => false)],
  },
  {
    about: '9',
    name: 'takes the first look for stillness',
    replacements: [replaces<typeof isStill>('truncation/watch', 'isStill', () => () => true)],
  },
  {
    about: '9',
    name: 'does not wait for the refresh',
    replacements: [replaces<typeof isFinal>('truncation/final', 'isFinal', () => () => true)],
  },
  {
    about: '9',
    name: 'a reindex that nobody saw end is opened again',
    replacements: [
      replaces<typeof judge>('truncation/judge', 'judge', (original) => (evidence) => {
        const found = original(evidence);
        return found.outcome === 'unknown' && found.closes === 'quarantined' ? { ...found, closes: 'idle' } : found;
      }),
    ],
  },
  {
    about: '9',
    name: 'a copy that has hung for a day is opened again',
    among: ['at work for more than a day'],
    replacements: [
      replaces<typeof judge>('truncation/judge', 'judge', (original) => (evidence) => {
        const found = original(evidence);
        return evidence.end === 'hung' && found.closes === 'quarantined' ? { ...found, closes: 'idle' } : found;
      }),
    ],
  },
  {
    about: '9',
    name: 'a delete with nothing left is over, whatever comes back',
    among: ['nothing is left, and then there is'],
    replacements: [
      replaces<typeof fold>('truncation/watch', 'fold', (original) => (before, sighting, watched) => {
        const found = original(before, sighting, watched);
        const { completedAt, completedRealAt } = before;
        if (completedAt === undefined || completedRealAt === undefined) return found;
        return { watch: { ...found.watch, completedAt, completedRealAt }, end: 'task' };
      }),
      replaces<typeof isFinal>('truncation/final', 'isFinal', (original) => (judgement, evidence, ...rest) => {
        const task = evidence.task && { ...evidence.task, completed: true };
        return original(judgement, { ...evidence, task }, ...rest);
      }),
    ],
  },
  {
    about: '9',
    name: 'stillness goes by a wrong clock',
    replacements: [replaces<typeof clocksAgree>('truncation/see', 'clocksAgree', () => () => true)],
  },
];
