import { describe, expect, test } from 'vitest';
import type { Head, StoredRecord } from '../../../lambda/ledger/record.ts';
import { isHere, standing } from '../../../lambda/ledger/standing.ts';
import {
  aKey,
  anAttempt,
  anIdle,
  aQuarantined,
  aReserved,
  aRun,
  aRunning,
  aSending,
  aServer,
  aVerdict,
} from '../../support/records.ts';

/** What each record means to a run, in one table. */

const us = { ...aRun, server: aServer };
const anotherRun = { runId: 'run-2', runStartMillis: aRun.runStartMillis };
const namesake = { runId: aRun.runId, runStartMillis: 5 };
const elsewhere = 'http://elsewhere';
const ofAddress = { kind: 'foreign', why: 'address', address: elsewhere, ourAddress: aServer };
const sendBy = anAttempt().sendBy;
const theirAttempt = <Attempt extends object>(attempt: Attempt) => ({ ...attempt, ...anotherRun });
const ourVerdict = aVerdict(aRun);
const otherVersion = (state: string, more: Partial<Head> = {}): StoredRecord => ({
  state: 'other-version',
  index: 'x',
  head: { version: 9, ...aKey, state, ...more },
});

const cases: [what: string, record: StoredRecord | undefined, kind: string, more?: object][] = [
  ['no record', undefined, 'free'],
  [
    'a record that cannot be read',
    { state: 'other-version', index: 'x' },
    'foreign',
    { outcome: 'in-flight', cause: { kind: 'foreign', why: 'version' } },
  ],
  ['a call of another version', otherVersion('sending'), 'foreign', { cause: { why: 'version' } }],
  ['a state that only another version knows', otherVersion('new'), 'foreign', { cause: { why: 'version' } }],
  [
    'a quarantine of another version',
    otherVersion('quarantined'),
    'foreign',
    { outcome: 'quarantined', cause: { why: 'version' } },
  ],
  [
    'a reservation of another version',
    otherVersion('reserved', { judgeableAt: sendBy }),
    'foreign',
    { cause: { why: 'version' } },
  ],
  ['one whose time is over', otherVersion('reserved', { judgeableAt: sendBy - 1 }), 'free'],
  ['one without a time', otherVersion('reserved'), 'foreign', { cause: { why: 'version' } }],
  ['an idle record of another version', otherVersion('idle'), 'free'],
  ['one of which our run has sent', otherVersion('idle', { sentBy: [{ ...aRun, at: 1 }] }), 'spent', { fenced: false }],

  ['an idle record', anIdle(), 'free'],
  ["an idle record with another run's verdict", anIdle({ lastVerdict: aVerdict() }), 'free'],
  ["an idle record with our run's verdict", anIdle({ lastVerdict: ourVerdict }), 'decided', { verdict: ourVerdict }],
  ['the verdict of a run of our name, long ago', anIdle({ lastVerdict: aVerdict(namesake) }), 'free'],
  ['an idle record of which our run has sent', anIdle({ sentBy: [{ ...aRun, at: 1 }] }), 'spent', { fenced: false }],
  [
    'an idle record from which our run was fenced off',
    anIdle({ sentBy: [{ ...aRun, at: 1, fenced: true }] }),
    'spent',
    { fenced: true },
  ],
  ['an idle record of which a namesake has sent', anIdle({ sentBy: [{ ...namesake, at: 1 }] }), 'free'],
  ['an idle record of another address', anIdle({ server: elsewhere }), 'free'],
  ['one with our verdict', anIdle({ server: elsewhere, lastVerdict: ourVerdict }), 'free'],
  ['one of which our run has sent', anIdle({ server: elsewhere, sentBy: [{ ...aRun, at: 1 }] }), 'spent'],

  ['our reservation', aReserved(), 'mine'],
  ["another run's reservation", aReserved({ attempt: theirAttempt(anAttempt()) }), 'theirs'],
  ["a namesake's reservation", aReserved({ attempt: { ...anAttempt(), ...namesake } }), 'theirs'],
  [
    "another address's reservation",
    aReserved({ server: elsewhere, attempt: theirAttempt(anAttempt()), judgeableAt: sendBy }),
    'foreign',
    { cause: ofAddress },
  ],
  [
    'our verdict under a reservation of another run',
    aReserved({ lastVerdict: ourVerdict, attempt: theirAttempt(anAttempt()) }),
    'decided',
  ],

  ['our call', aSending(), 'mine'],
  ['our task', aRunning(), 'mine'],
  ["another run's call", aSending({ attempt: theirAttempt(aSending().attempt) }), 'theirs'],
  ["another run's task", aRunning({ attempt: theirAttempt(aRunning().attempt) }), 'theirs'],
  [
    'our call at another address',
    aSending({ server: elsewhere }),
    'foreign',
    { outcome: 'in-flight', cause: ofAddress },
  ],
  [
    "our verdict under another run's task",
    aRunning({ lastVerdict: ourVerdict, attempt: theirAttempt(aRunning().attempt) }),
    'decided',
  ],

  ['a quarantine', aQuarantined(), 'quarantined'],
  [
    'a quarantine of another address',
    aQuarantined({ server: elsewhere }),
    'foreign',
    { outcome: 'quarantined', cause: ofAddress },
  ],
  ['a quarantine by our own verdict', aQuarantined({ lastVerdict: ourVerdict }), 'decided'],
];

describe('standing', () => {
  test.each(cases)('%s', (_, record, kind, more = {}) => {
    const found = standing(record, us, sendBy - 1);
    expect(found).toMatchObject({ kind, ...more });
  });

  test('the address of a foreign record is cut where it is longer than a text of the run state may be', () => {
    const cause = { address: `http://${'a'.repeat(230)}…` };
    expect(standing(aSending({ server: `http://${'a'.repeat(5000)}` }), us, sendBy)).toMatchObject({ cause });
  });

  test('a reservation is over at its sendBy, not a millisecond before', () => {
    const theirs = aReserved({ attempt: theirAttempt(anAttempt()) });
    expect(standing(theirs, us, sendBy - 1).kind).toBe('theirs');
    expect(standing(theirs, us, sendBy)).toEqual({ kind: 'free', record: theirs });
    expect(standing(aReserved(), us, sendBy).kind).toBe('free');
  });

  test('a time more than 20 minutes ahead makes a record foreign, unless it is our own', () => {
    const later = sendBy + 1_200_000;
    const theirs = (judgeableAt: number) => [
      aReserved({ judgeableAt, attempt: theirAttempt(anAttempt()) }),
      aSending({ judgeableAt, attempt: theirAttempt(aSending().attempt) }),
      aRunning({ judgeableAt, attempt: theirAttempt(aRunning().attempt) }),
    ];
    for (const record of theirs(later)) expect(standing(record, us, sendBy).kind).toBe('theirs');
    for (const record of theirs(later + 1)) {
      const cause = { kind: 'foreign', why: 'clock', until: later + 1 };
      expect(standing(record, us, sendBy)).toStrictEqual({ kind: 'foreign', outcome: 'in-flight', cause });
    }
    for (const record of [aReserved, aSending, aRunning]) {
      expect(standing(record({ judgeableAt: later + 1 }), us, sendBy).kind).toBe('mine');
    }
  });

  test('a call or a task never expires', () => {
    for (const record of [
      aSending({ attempt: theirAttempt(aSending().attempt) }),
      aRunning({ attempt: theirAttempt(aRunning().attempt) }),
    ]) {
      expect(standing(record, us, Number.MAX_SAFE_INTEGER).kind).toBe('theirs');
    }
  });
});

test('a record’s counts mean something only to a run of its version and address', () => {
  const records = [aQuarantined(), { ...aQuarantined(), server: elsewhere }, otherVersion('quarantined'), undefined];
  expect(records.map((record) => isHere(record, us))).toEqual([true, false, false, false]);
});
