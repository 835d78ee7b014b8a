import { type Mutant, mutant } from './mutant.ts';

const plan = 'run/plan/plan';
const entries = 'run/entries';
const report = 'run/report';
const transitions = 'ledger/transitions';
const ownership = 'ledger/ownership';

/** Rule 15: what has been decided is reported before anything else happens. */
export const tellingMutants: readonly Mutant[] = [
  mutant(15, 'a verdict without the flag', [
    [transitions, 'unreported: true,\n    lastVerdict', 'unreported: false,\n    lastVerdict'],
  ]),
  mutant(15, 'a release without the flag', [
    [transitions, 'unreported: true,\n    lastSender', 'unreported: false,\n    lastSender'],
  ]),
  mutant(15, 'releases what is unreported', [
    ['run/release', "if (record.unreported) return refused('unreported');", ''],
  ]),
  mutant(15, 'marks before it publishes', [
    ['truncation/check', 'learnMethod, recordVerdict }', 'learnMethod, markFor, markReported, recordVerdict }'],
    [
      'truncation/check',
      "if (await ledger.replace(resolved)) return { kind: 'resolved', record: resolved };",
      "if (await ledger.replace(resolved)) {\n    await ledger.replace(markReported(resolved, markFor(resolved)!)!);\n    return { kind: 'resolved', record: resolved };\n  }",
    ],
  ]),
  mutant(15, 'marks what could not be published', [
    [
      report,
      'isPublished = await publisher.publish(composed, state?.byHand);',
      'isPublished = true;\n    await publisher.publish(composed, state?.byHand).catch(() => false);',
    ],
  ]),
  mutant(15, 'marks nothing', [['run/mark-reported', 'of marks) {', 'of marks.slice(marks.length)) {']]),
  mutant(
    15,
    'marks without the revision, and without the moment',
    [
      [
        transitions,
        'waiting.revision === mark.revision && waiting.decidedAtMillis === mark.decidedAtMillis',
        'waiting.index === mark.index',
      ],
    ],
    ['a mark is redriven after the next verdict, which nobody has reported'],
  ),
  mutant(15, 'truncates what is unreported', [
    [ownership, "if (record.unreported) return { kind: 'unreported', record };", ''],
    [transitions, 'if (record?.unreported) throw', 'if (record === null) throw'],
  ]),
  mutant(
    15,
    'truncates what is unreported at another address',
    [
      [
        ownership,
        "if (record.unreported) return { kind: 'unreported', record };",
        "if (record.unreported && record.server === 'http://gms.test:8080') return { kind: 'unreported', record };",
      ],
      [transitions, 'if (record?.unreported) throw', 'if (record === null) throw'],
    ],
    ['address changed'],
  ),
  mutant(15, 'counts what is unreported', [
    [plan, 'if (policy) taken', "if (policy && owned.kind !== 'unreported') taken"],
  ]),
  mutant(15, 'says nothing of what an earlier run has decided', [
    [entries, '? judgedEntry(from, record)', "? doneEntry(from, 'disabled', { kind: 'not-due' })"],
  ]),
  mutant(15, 'reports a verdict of an earlier run as quarantined', [
    [
      entries,
      '? judgedEntry(from, record)',
      "? record.state === 'quarantined' && !isSameRun(record.lastVerdict, state) ? doneEntry(from, 'quarantined', quarantinedCause(record)) : judgedEntry(from, record)",
    ],
  ]),
  mutant(15, 'does not count the missing rows of an earlier run', [
    [
      'aws/metrics',
      "({ outcome }) => outcome === 'rows-missing'",
      "({ outcome, resumed }) => outcome === 'rows-missing' && !resumed",
    ],
  ]),
  mutant(15, 'is content where an earlier run has lost rows', [
    [
      report,
      'policies.map(({ outcome }) => resultOf[outcome]);',
      'policies.filter(({ resumed }) => !resumed).map(({ outcome }) => resultOf[outcome]);',
    ],
  ]),
  mutant(
    15,
    'says nothing of it where it cannot do its work',
    [
      [
        plan,
        'if (policy || !release) {',
        "if ((policy || !release) && (canAskServer || owned.kind !== 'unreported')) {",
      ],
    ],
    ['a run ends between its verdict and its message, and so does a release'],
  ),
  mutant(15, 'goes on after bad news of an earlier run', [
    [plan, 'return nextStep(withBreaker(withinLimit(state)),', 'return nextStep(withinLimit(state),'],
    ['run/truncate', 'nextStep(withBreaker(next),', 'nextStep(next,'],
    ['run/poll', 'nextStep(withBreaker(checked),', 'nextStep(checked,'],
  ]),
];
