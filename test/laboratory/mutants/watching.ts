import type { standing } from '../../../lambda/ledger/standing.ts';
import type { breakerOf } from '../../../lambda/run/breaker.ts';
import type { judge } from '../../../lambda/truncation/judge.ts';
import type { isStill } from '../../../lambda/truncation/watch.ts';
import type { boundsOf } from '../../../lambda/truncation/windows.ts';
import { type Mutant, replaces, replacesHidden, text } from './mutant.ts';

/** Safety rules 6 to 9: who judges what, when, and by what. */
export const watchingMutants: readonly Mutant[] = [
  {
    about: '6',
    name: 'judges before it may',
    patches: [
      text(
        'truncation/look',
        "if (step === 'still' && sighting.at < record.judgeableAt) return",
        'if (sighting.at < 0) return',
      ),
      text('run/plan/policy', '|| now < record.judgeableAt) {', ') {'),
      replaces<typeof isStill>('truncation/watch', 'isStill', () => (watch, at) => {
        return watch.movedAt !== undefined && at - watch.movedAt >= 60_000;
      }),
    ],
  },
  {
    about: '6',
    name: 'judges an adopted record by its own cutoff',
    patches: [
      text(
        'truncation/look',
        'const after = await countWindows(ask, attempt.fields, windows,',
        'const late = 86_400_000 * Math.floor((services.clock.now() - attempt.runStartMillis) / 86_400_000); const after = await countWindows(ask, { ...attempt.fields, endTimeMillis: attempt.fields.endTimeMillis + late }, windows,',
      ),
    ],
  },
  {
    about: '6',
    name: 'a preview writes the ledger',
    patches: [text('run/plan/policy', "if (state.mode === 'preview' || record.server", 'if (record.server')],
  },
  {
    about: '6',
    name: 'a record of another version is free',
    patches: [
      replaces<typeof standing>('ledger/standing', 'standing', (original) => (record, ...rest) => {
        if (record?.state === 'other-version') return { kind: 'free', record: record as never };
        return original(record, ...rest);
      }),
    ],
  },
  {
    about: '7',
    name: 'trusts "completed"',
    patches: [
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
    patches: [
      replacesHidden('truncation/judge', 'judgeReindex', () => (evidence: never) => {
        const { after } = evidence as { after: { rowsToDelete: number } };
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
    patches: [
      text(
        'truncation/judge',
        'if (lost && lost.rows > 0) return rowsMissing(evidence, lost);',
        'if (lost?.isMissing) return rowsMissing(evidence, lost);',
      ),
      text(
        'truncation/judge',
        'return { facts, ...unseen(evidence, cause) };\n  }\n  const expected',
        "if (cause) return { facts, outcome: 'truncated', cause: { kind: 'verified', by: 'counts' }, closes: 'idle' };\n  }\n  const expected",
      ),
    ],
  },
  {
    about: '8',
    name: 'counts an open window',
    patches: [
      replaces<typeof boundsOf>('truncation/windows', 'boundsOf', (original) => (span, now) => {
        return original(span, now).map(({ role, from }) => ({ role, from, to: 8.64e15 }));
      }),
    ],
  },
  {
    about: '8',
    name: 'no quarantine',
    patches: [
      replaces<typeof judge>('truncation/judge', 'judge', (original) => (evidence) => {
        const found = original(evidence);
        return found.outcome === 'rows-missing' ? { ...found, closes: 'idle' } : found;
      }),
    ],
  },
  {
    about: '8',
    name: 'no circuit breaker',
    patches: [replaces<typeof breakerOf>('run/breaker', 'breakerOf', () => () => undefined)],
  },
  {
    about: '8',
    name: 'clears without counting',
    patches: [replacesHidden('run/clear', 'missingIn', () => async () => 0)],
  },
  {
    about: '9',
    name: 'gives up before 20 h',
    patches: [
      text(
        'truncation/judge',
        'now - record.attempt.sendingSince >= abandonAfterMillis;',
        'now - record.attempt.sendingSince >= 0;',
      ),
    ],
  },
  {
    about: '9',
    name: 'gives up before 20 h what cannot be counted',
    patches: [
      text(
        'truncation/look',
        'if (!watch.clearing && now - record.attempt.sendingSince < abandonAfterMillis) return',
        'if (now < 0) return',
      ),
    ],
  },
  {
    about: '9',
    name: 'gives up what its status says goes on',
    patches: [text('truncation/judge', 'if (now - since < abandonAfterMillis) {', 'if (now < 0) {')],
  },
  {
    about: '9',
    name: 'never gives up',
    patches: [
      text('truncation/judge', 'clearing || now - record.attempt.sendingSince >= abandonAfterMillis;', 'clearing;'),
    ],
  },
  {
    about: '9',
    name: 'takes the first look for stillness',
    patches: [replaces<typeof isStill>('truncation/watch', 'isStill', () => () => true)],
  },
  {
    about: '9',
    name: 'does not wait for the refresh',
    patches: [replacesHidden('truncation/look', 'isFinal', () => () => true)],
  },
  {
    about: '9',
    name: 'a reindex that nobody saw end is opened again',
    patches: [text('truncation/judge', 'const canRepeat = isDelete && isWhole', 'const canRepeat = isWhole')],
  },
  {
    about: '9',
    name: 'a copy that has hung for a day is opened again',
    among: ['a copy hangs for more than a day'],
    patches: [
      text('truncation/judge', "closedAs(isDelete ? 'idle' : 'quarantined', cause)", "closedAs('idle', cause)"),
    ],
  },
  {
    about: '9',
    name: 'a delete with nothing left is over, whatever comes back',
    among: ['nothing is left, and then there is'],
    patches: [
      text(
        'truncation/watch',
        '  delete watch.completedAt;\n',
        "  if (watch.completedAt !== undefined) return { watch, step: 'ended' };\n",
      ),
      text(
        'truncation/look',
        "const goesOn = judgement.outcome === 'incomplete' &&",
        "const goesOn = judgement.outcome === 'failed' &&",
      ),
    ],
  },
  {
    about: '9',
    name: 'stillness goes by a wrong clock',
    patches: [text('truncation/look', 'if (clockIsWrong) return', 'if (clockIsWrong && sighting.at < 0) return')],
  },
];
