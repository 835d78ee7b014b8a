import { type Mutant, mutant } from './mutant.ts';

const plan = 'run/plan/plan';
const standing = 'ledger/standing';
const transitions = 'ledger/transitions';

/** Rule 15: what has been decided is told before anything else happens. */
export const tellingMutants: readonly Mutant[] = [
  mutant(15, 'frees an index with its verdict', [
    [
      transitions,
      "state: 'judged',\n    lastVerdict: { ...runOf(record.attempt)",
      "state: 'idle' as never,\n    lastVerdict: { ...runOf(record.attempt)",
    ],
  ]),
  mutant(15, 'marks before it publishes', [
    ['truncation/look', 'import { conclude, ', 'import { conclude, markReported, '],
    [
      'truncation/look',
      "if (await ledger.replace(judgment)) return { kind: 'settled', record: judgment };",
      "if (await ledger.replace(judgment)) {\n    await ledger.replace(markReported(judgment, judgment.decision.id)!);\n    return { kind: 'settled', record: judgment };\n  }",
    ],
  ]),
  mutant(15, 'marks what could not be published', [
    [
      'run/report',
      'await publisher.publish(composed, state?.byHand)',
      'await publisher.publish(composed, state?.byHand).catch((): string[] => [])',
    ],
    ['run/report', 'new Set(published), settings', '({ has: () => true }) as never, settings'],
  ]),
  mutant(15, 'marks nothing', [['run/mark-reported', 'of told) {', 'of told.slice(told.length)) {']]),
  mutant(15, 'never counts a good verdict as told', [
    [
      'message/message',
      "resultOf[entry.outcome] === 'ok' || told.every(",
      "resultOf[entry.outcome] !== 'ok' && told.every(",
    ],
  ]),
  mutant(15, 'marks whatever decision is there', [[transitions, ' || decision.id !== decisionId', '']]),
  mutant(15, 'truncates what nobody has been told of', [
    [standing, "return { kind: 'judged', record, decision };", "return { kind: 'free', record: record as never };"],
  ]),
  mutant(
    15,
    'truncates what was judged at another address',
    [
      [
        standing,
        "return { kind: 'judged', record, decision };",
        "return isHere(record, thisRun) ? { kind: 'judged', record, decision } : { kind: 'free', record: record as never };",
      ],
    ],
    ['address changed'],
  ),
  mutant(15, 'counts the window of what nobody has been told of', [
    [
      'run/plan/policy',
      "stored.state === 'idle' ? stored : undefined;",
      "(stored.state === 'idle' || stored.state === 'judged') ? (stored as Idle) : undefined;",
    ],
  ]),
  mutant(15, 'forgets the verdict in a release', [[transitions, '...untold, released: true', 'released: true']]),
  mutant(
    15,
    'marks a release that it has not told',
    [['run/entries', '(released ? {} : { decision: id })', '({ decision: id })']],
    ['a run ends between its verdict and its message, and so does a release'],
  ),
  mutant(15, 'says nothing of what an earlier run has decided', [
    [
      plan,
      'const verdict = verdicts.get(entry.index);\n    return verdict?.replacesEntry ? verdict.entry : entry;',
      'return entry;',
    ],
    [plan, 'const further = [...verdicts.values()]', 'const further = [...verdicts.values()].slice(verdicts.size)'],
  ]),
  mutant(15, 'says nothing of it where it cannot do its work', [
    [
      plan,
      'withUntold({ ...state, entries: unasked(chosen) }, untold(policies))',
      '({ ...state, entries: unasked(chosen) })',
    ],
  ]),
  mutant(15, 'marks what an enforcing stage has only previewed', [
    ['run/report', "if (state.mode === 'preview' && mode !== 'preview') return [];", ''],
  ]),
  mutant(15, 'goes on after bad news of an earlier run', [
    [plan, 'return proceed(withBreaker(withinLimit(state)),', 'return proceed(withinLimit(state),'],
  ]),
];
