import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addressElsewhere,
  fencedBy,
  overdueAfterMillis,
  ownership,
  releasableAt,
} from '../../../lambda/ledger/ownership.ts';
import { type Idle, parseRecord, type StoredRecord } from '../../../lambda/ledger/record.ts';
import { dayMillis } from '../../../lambda/model/time.ts';
import { holds } from '../../properties.ts';
import {
  aLastVerdict,
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aReleased,
  aRun,
  aRunning,
  aSending,
  aServer,
} from '../../support/records.ts';

/** What a record means to a run (rule 5): the run `run-1`, which started at 1,000 s. */

const now = 1_500_000;
const run = (runId: string, runStartMillis: number) => ({ runId, runStartMillis });
const theirs = { attempt: anAttempt(run('run-0', 900_000)) };
const unreported = { unreported: true };
const reported = { unreported: false };
const ofRun = (...of: Parameters<typeof run>) => aRunning({ attempt: anAttempt(run(...of)) });
const elsewhere = { server: 'http://elsewhere:1' };
const unreadable = (stored: unknown = {}) => parseRecord(anIndex, stored);
const mine = aLastVerdict(aRun);
const ofOthers = aLastVerdict();

test.each<[string, StoredRecord | undefined, string]>([
  ['that is absent', undefined, 'free'],
  ['idle, never sent', anIdle(), 'free'],
  ['idle, with another run’s verdict, reported', anIdle({ lastVerdict: ofOthers }), 'free'],
  ['idle, with this run’s verdict, reported', anIdle({ lastSender: aRun, lastVerdict: mine }), 'free'],
  ['idle, with another run’s verdict, unreported', anIdle({ ...unreported, lastVerdict: ofOthers }), 'unreported'],
  ['idle, with this run’s verdict, unreported', anIdle({ ...unreported, lastVerdict: mine }), 'unreported'],
  ['released, unreported', aReleased(), 'unreported'],
  ['released, reported', aReleased(reported), 'free'],
  ['sending, of this run', aSending(), 'mine'],
  ['running, of this run', aRunning(), 'mine'],
  ['sending, of another run', aSending(theirs), 'theirs'],
  ['running, of another run', aRunning(theirs), 'theirs'],
  ['running, of a run of the same name', ofRun('run-1', 900_000), 'theirs'],
  ['running, of another run of the same start', ofRun('run-2', aRun.runStartMillis), 'theirs'],
  ['running, of another run, after this run’s verdict', aRunning({ ...theirs, lastVerdict: mine }), 'theirs'],
  ['quarantined, unreported', aQuarantined(unreported), 'unreported'],
  ['quarantined, reported', aQuarantined(), 'quarantined'],
  ['quarantined by this run, reported', aQuarantined({ lastVerdict: mine }), 'quarantined'],
  ['that cannot be read', unreadable(), 'unreadable'],
  [
    'that cannot be read, of this run and unreported',
    unreadable({ ...aRunning(), taskId: 5, ...unreported }),
    'unreadable',
  ],
  ['about another index', parseRecord(anIndex, anIdle({ index: 'chart_x' })), 'unreadable'],
])('a record %s', (_, record, expected) => {
  expect(ownership(record, aRun).kind).toBe(expected);
  // Whose it is does not depend on the address: one server under three spellings must not have three ledgers.
  if (record && record.state !== 'unreadable') {
    expect(ownership({ ...record, ...elsewhere }, aRun).kind).toBe(expected);
  }
});

describe('of a free record, a run is fenced off', () => {
  const by = (record: Idle | undefined, who = aRun, at = now) => fencedBy(record, who, at)?.runId;

  test.each<[string, Idle | undefined, string | undefined]>([
    ['never where there is none', undefined, undefined],
    ['not by an earlier run', anIdle({ lastSender: run('run-0', 999_999) }), undefined],
    ['not by an earlier run of the same name', anIdle({ lastSender: run('run-1', 900_000) }), undefined],
    ['by itself', anIdle({ lastSender: aRun }), 'run-1'],
    ['by a later run', anIdle({ lastSender: run('run-2', 1_000_001) }), 'run-2'],
    ['by another run of the same start', anIdle({ lastSender: run('run-2', 1_000_000) }), 'run-2'],
    ['whatever the address is', anIdle({ ...elsewhere, lastSender: aRun }), 'run-1'],
  ])('%s', (_, record, expected) => {
    expect(by(record)).toBe(expected);
  });

  test('not by a sender whose start is more than a day ahead of our clock: its clock was wrong', () => {
    const sentAt = (ahead: number) => anIdle({ lastSender: run('run-2', now + ahead) });
    expect(by(sentAt(dayMillis))).toBe('run-2');
    expect(by(sentAt(dayMillis + 1))).toBeUndefined();
  });

  test('by itself, however wrong its own start is', () => {
    const ahead = run('run-1', now + 10 * dayMillis);
    expect(by(anIdle({ lastSender: ahead }), ahead)).toBe('run-1');
  });

  test('unless it is the later one of two', () => {
    const start = fc.integer({ min: 0, max: 3 }).map((step) => 1_000_000 + step);
    const runs = fc.record({ runId: fc.constantFrom('a', 'b', 'c'), runStartMillis: start });
    holds(
      fc.property(runs, runs, (one, other) => {
        const isFree = fencedBy(anIdle({ lastSender: one }), other, now) === undefined;
        expect(isFree).toBe(other.runStartMillis > one.runStartMillis);
      }),
    );
  });
});

test('a record of another address names it, also where nothing else can be read', () => {
  const here = { server: aServer };
  expect(addressElsewhere(anIdle(), here)).toBeUndefined();
  expect(addressElsewhere(aRunning(elsewhere), here)).toBe(elsewhere.server);
  expect(addressElsewhere(unreadable(elsewhere), here)).toBe(elsewhere.server);
});

describe('a person may release', () => {
  const old = anAttempt().judgeableAt + overdueAfterMillis;
  test.each<[string, StoredRecord, number | undefined]>([
    ['what is sending once it is 20 hours old', aSending(), old],
    ['what runs once it is 20 hours old', aRunning(), old],
    ['what is quarantined at once', aQuarantined(), undefined],
    [
      'what cannot be read once it is 20 hours old, where that can be read',
      unreadable({ ...aRunning(), taskId: 5 }),
      old,
    ],
    ['what cannot be read at all at once', unreadable(), undefined],
  ])('%s', (_, record, expected) => {
    expect(releasableAt(record)).toBe(expected);
  });
});
