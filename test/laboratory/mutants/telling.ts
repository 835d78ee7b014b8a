import { onlyEntries } from './judging.ts';
import { type Mutant, mutant, returns, takes } from './mutant.ts';

const entries = 'run/entries';
const report = 'run/report';
const transitions = 'ledger/transitions';
const ownership = 'ledger/ownership';

const withoutFlag = returns('({ ...it, unreported: false })');

/** An unreported decision is none to a run, where `is` holds. */
const passesOver = (is: string) =>
  [
    [
      ownership,
      'ownership',
      `(original) => (record, run) => {
        const it = original(record, run);
        return it.kind === 'unreported' && ${is} ? original({ ...record, unreported: false }, run) : it;
      }`,
    ],
    [transitions, 'startSending', takes('record, ...rest', 'record && { ...record, unreported: false }, ...rest')],
  ] as const;

/** Rule 15: what has been decided is reported before anything else happens. */
export const tellingMutants: readonly Mutant[] = [
  mutant(15, 'a verdict without the flag', [[transitions, 'recordVerdict', withoutFlag]]),
  mutant(15, 'a release without the flag', [[transitions, 'release', withoutFlag]]),
  mutant(15, 'releases what is unreported', [
    [
      'run/release',
      'releaseIndex',
      takes(
        '{ record, ...request }, ...rest',
        '{ ...request, record: record && { ...record, unreported: false } }, ...rest',
      ),
    ],
  ]),
  mutant(15, 'marks before it publishes', [
    [
      'truncation/check',
      'resolve',
      `(original) => async (...args) => {
        const it = await original(...args);
        const { record } = it;
        const isNew = it.kind === 'resolved' && record?.unreported;
        if (isNew) await args[3].ledger.replace({ ...record, unreported: false, revision: record.revision + 1 });
        return it;
      }`,
    ],
  ]),
  mutant(15, 'marks what could not be published', [
    [
      report,
      'report',
      `(original) => (event, { publisher, ...services }) => {
        const publish = (...args) => publisher.publish(...args).then(() => true, () => true);
        return original(event, { ...services, publisher: Object.assign(Object.create(publisher), { publish }) });
      }`,
    ],
  ]),
  mutant(15, 'marks nothing', [
    ['run/mark-reported', 'markAllReported', takes('event, services', '{ ...event, marks: [] }, services')],
  ]),
  mutant(
    15,
    'marks without the revision, and without the moment',
    [[transitions, 'markReported', takes('record, mark', 'record, { ...mark, ...markFor(record) }')]],
    ['a mark is redriven after the next verdict, which nobody has reported'],
  ),
  mutant(15, 'truncates what is unreported', passesOver('true')),
  mutant(
    15,
    'truncates what is unreported at another address',
    passesOver('record.server !== "http://gms.test:8080"'),
    ['address changed'],
  ),
  mutant(15, 'counts what is unreported', [
    [
      'run/plan/from-ledger',
      'entriesFromLedger',
      `(original) => (state, prepared, ...rest) => {
        const it = original(state, prepared, ...rest);
        const { chosen, records } = prepared;
        const unreported = chosen.filter(({ kind, index }) => kind === 'policy' && records.get(index)?.unreported);
        return { ...it, toCount: [...it.toCount, ...unreported] };
      }`,
    ],
  ]),
  mutant(15, 'says nothing of what an earlier run has decided', [
    [
      entries,
      'entryOf',
      returns(
        'args[1].kind === "unreported" && !it.decision ? doneEntry(args[0], "disabled", { kind: "not-due" }) : it',
      ),
    ],
  ]),
  mutant(15, 'reports a verdict of an earlier run as quarantined', [
    [
      entries,
      'entryOf',
      `(original) => (from, owned, state, ...rest) => {
        const { kind, record } = owned;
        const isOfOther = kind === 'unreported' && record.state === 'quarantined' && !isSameRun(record.lastVerdict, state);
        return original(from, isOfOther ? { kind: 'quarantined', record } : owned, state, ...rest);
      }`,
    ],
  ]),
  mutant(15, 'does not count the missing rows of an earlier run', [
    ['aws/metrics', 'lostIn', returns('args[0].resumed ? 0 : it')],
  ]),
  mutant(15, 'is content where an earlier run has lost rows', [
    [
      report,
      'dataOf',
      `(original) => (state, ...rest) => {
        const own = { ...state, entries: state.entries.filter(({ resumed }) => !resumed) };
        return { ...original(state, ...rest), result: original(own, ...rest).result };
      }`,
    ],
  ]),
  mutant(
    15,
    'says nothing of it where it cannot do its work',
    [onlyEntries('args[1].canAskServer || entry.phase !== "done" || entry.decision')],
    ['a run ends between its verdict and its message, and so does a release'],
  ),
  mutant(15, 'goes on after bad news of an earlier run', [
    ['run/breaker', 'breakerOf', returns('args[0].resumed ? undefined : it')],
  ]),
];
