import type { holds } from '../../../lambda/ledger/memory.ts';
import type { fence, isSameRun } from '../../../lambda/ledger/transitions.ts';
import type { truncationOf } from '../../../lambda/operations/answers/truncation.ts';
import { type Mutant, replaces, replacesHidden, text } from './mutant.ts';

/** Safety rules 4 and 5: one real truncate, and the ledger under it. */
export const sendingMutants: readonly Mutant[] = [
  {
    about: '4',
    name: 'sends again on 504',
    inSmallModel: true,
    patches: [
      text(
        'operations/http/http-operations',
        'truncationOf(await transport.postOnce(exchange, maySend), question, bearer.quote)',
        'truncationOf(await transport.postOnce(exchange, maySend).then((first) => first.status === 504 ? transport.postOnce(exchange, maySend) : first), question, bearer.quote)',
      ),
    ],
  },
  {
    about: '4',
    name: 'takes 5xx for a rejection',
    inSmallModel: true,
    patches: [
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
    patches: [
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
    patches: [
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
    patches: [
      text(
        'operations/answers/truncation',
        'if (!error.mayBeWritten) {',
        'if (!error.mayBeWritten || error.status === undefined) {',
      ),
    ],
  },
  {
    about: '4',
    name: 'takes whatever is still for unchanged',
    patches: [replacesHidden('truncation/judge', 'isUnchanged', () => () => true)],
  },
  {
    about: '4',
    name: 'goes on after calls without a task id',
    patches: [
      text('run/breaker', 'const isEnough = callsWithoutTask >= 2 ||', 'const isEnough = callsWithoutTask < 0 &&'),
    ],
  },
  {
    about: '5',
    name: 'the ledger is ignored',
    inSmallModel: true,
    patches: [
      text(
        'run/truncate',
        "if (await ledger.replace(record, sending)) return { kind: 'approved', record: sending, dryRunAt };",
        "await ledger.replace(record, sending).catch(() => false); if (record) return { kind: 'approved', record: sending, dryRunAt };",
      ),
    ],
  },
  {
    about: '5',
    name: 'transitions without the attempt id',
    inSmallModel: true,
    patches: [
      replaces<typeof holds>('ledger/memory', 'holds', () => (current, previous) => {
        if (current === undefined || previous === undefined) return current === previous;
        return (current as { state: string }).state === previous.state;
      }),
    ],
  },
  {
    about: '5',
    name: 'sendBy is ignored',
    patches: [
      text(
        'truncation/send',
        'clock.now() < until.wall && clock.monotonic() < until.monotonic',
        'clock.now() > 0 || until.wall > 0',
      ),
    ],
  },
  {
    about: '5',
    name: 'sendBy goes by a clock that can be set',
    patches: [
      text(
        'truncation/send',
        'clock.now() < until.wall && clock.monotonic() < until.monotonic',
        'clock.now() < until.wall',
      ),
    ],
  },
  {
    about: '5',
    name: 'no fence after a failed Truncate',
    inSmallModel: true,
    patches: [text('run/poll', 'if (!(await ledger.replace(stored, fenced))) continue;', 'if (!fenced) continue;')],
  },
  {
    about: '5',
    name: 'a fence that keeps the attempt’s id',
    inSmallModel: true,
    patches: [
      replaces<typeof fence>('ledger/transitions', 'fence', (original) => (record, key, run, attemptId, now) => {
        const fenced = original(record, key, run, attemptId, now);
        return { ...fenced, attemptId: record?.attemptId ?? attemptId };
      }),
    ],
  },
  {
    about: '5',
    name: 'a run may send again',
    among: ['redriven after two others'],
    patches: [
      text('ledger/standing', "if (sent) return { kind: 'spent'", "if (sent && !record) return { kind: 'spent'"),
    ],
  },
  {
    about: '5',
    name: 'a run is its name',
    among: ['name comes back'],
    patches: [
      replaces<typeof isSameRun>('ledger/transitions', 'isSameRun', () => (one, other) => one.runId === other.runId),
    ],
  },
  {
    about: '5',
    name: 'a schedule event counts twice',
    patches: [text('run/plan/preparation', 'return holder === state.runId ?', 'return holder !== undefined ?')],
  },
  {
    about: '5',
    name: 'a damaged end of the ledger file stops everything',
    patches: [
      text(
        'ledger/journal',
        'if (!text.includes(lineEnd) && mayBeCut) return undefined;',
        "if (!text.includes(lineEnd) && mayBeCut) throw new LedgerError('damaged');",
      ),
    ],
  },
];
