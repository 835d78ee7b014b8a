import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { abandonAfterMillis, dayMillis } from '../../../lambda/facts/limits.ts';
import { type LedgerRecord, parseRecord, type StoredRecord } from '../../../lambda/ledger/record.ts';
import { isHere, releasableAt, standing } from '../../../lambda/ledger/standing.ts';
import { holds } from '../../properties.ts';
import {
  aJudged,
  aLastVerdict,
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aRun,
  aRunning,
  aSending,
  aServer,
} from '../../support/records.ts';

/** What a record means to a run (rule 5): the run `run-1`, which started at 1,000 s. */

const now = 1_500_000;
const thisRun = { ...aRun, server: aServer };
const kindOf = (record: StoredRecord | undefined, who = thisRun, at = now) => standing(record, who, at).kind;
const run = (runId: string, runStartMillis: number) => ({ runId, runStartMillis });
const otherAttempt = anAttempt(run('run-0', 900_000));
const elsewhere = { server: 'http://elsewhere:1' };
const ofVersion = (record: LedgerRecord, version = 3) => parseRecord(anIndex, { ...record, version });
const mine = aLastVerdict(aRun);

describe('a record', () => {
  test.each<[string, StoredRecord | undefined, string]>([
    ['that is absent', undefined, 'free'],
    ['idle, never sent', anIdle(), 'free'],
    ['idle, sent by an earlier run', anIdle({ lastSender: run('run-0', 999_999) }), 'free'],
    ['idle, sent by this run', anIdle({ lastSender: aRun }), 'spent'],
    ['idle, sent by a later run', anIdle({ lastSender: run('run-2', 1_000_001) }), 'spent'],
    ['idle, sent by another run of the same start', anIdle({ lastSender: run('run-2', 1_000_000) }), 'spent'],
    ['idle, sent by an earlier run of the same name', anIdle({ lastSender: run('run-1', 900_000) }), 'free'],
    ['idle, with this run’s verdict', anIdle({ lastSender: aRun, lastVerdict: mine }), 'decided'],
    ['idle, with another run’s verdict', anIdle({ lastVerdict: aLastVerdict() }), 'free'],
    ['sending, of this run', aSending(), 'mine'],
    ['running, of this run', aRunning(), 'mine'],
    ['sending, of another run', aSending({ attempt: otherAttempt }), 'theirs'],
    ['running, of another run', aRunning({ attempt: otherAttempt }), 'theirs'],
    [
      'running, of another run, after this run’s verdict',
      aRunning({ attempt: otherAttempt, lastVerdict: mine }),
      'decided',
    ],
    ['judged by any run', aJudged(), 'judged'],
    ['judged by this run', aJudged({ lastVerdict: mine }), 'judged'],
    ['judged, of another address', aJudged(elsewhere), 'judged'],
    ['quarantined by another run', aQuarantined(), 'quarantined'],
    ['quarantined by this run', aQuarantined({ lastVerdict: mine }), 'decided'],
    // Another address
    ['idle, of another address', anIdle(elsewhere), 'free'],
    ['idle, of another address, sent by this run', anIdle({ ...elsewhere, lastSender: aRun }), 'spent'],
    ['idle, of another address, with this run’s verdict', anIdle({ ...elsewhere, lastVerdict: mine }), 'free'],
    ['sending, of another address', aSending(elsewhere), 'foreign'],
    ['running, of another address', aRunning(elsewhere), 'foreign'],
    ['quarantined, of another address', aQuarantined(elsewhere), 'foreign'],
    // Another version
    ['idle, of another version', ofVersion(anIdle()), 'free'],
    ['idle, of another version, sent by this run', ofVersion(anIdle({ lastSender: aRun })), 'spent'],
    ['sending, of another version', ofVersion(aSending()), 'foreign'],
    ['running, of another version', ofVersion(aRunning()), 'foreign'],
    ['quarantined, of another version', ofVersion(aQuarantined()), 'foreign'],
    ['judged, of another version', ofVersion(aJudged()), 'judged'],
    [
      'judged, of another version that has no decision',
      ofVersion({ ...aJudged(), decision: undefined as never }),
      'foreign',
    ],
    ['of which nothing can be read', parseRecord(anIndex, 'damaged'), 'foreign'],
    ['about another index', parseRecord(anIndex, anIdle({ index: 'chart_x' })), 'free'],
  ])('%s', (_, record, expected) => {
    expect(kindOf(record)).toBe(expected);
  });
});

test('a sender whose start is more than a day ahead of our clock counts as past: its clock was wrong', () => {
  const sentAt = (ahead: number) => anIdle({ lastSender: run('run-2', now + ahead) });
  expect(kindOf(sentAt(dayMillis))).toBe('spent');
  expect(kindOf(sentAt(dayMillis + 1))).toBe('free');
});

test('this run itself never sends again, however wrong its own start is', () => {
  const ahead = run('run-1', now + 10 * dayMillis);
  expect(kindOf(anIdle({ lastSender: ahead }), { ...thisRun, ...ahead })).toBe('spent');
});

describe('a foreign record', () => {
  const { judgeableAt } = anAttempt();
  const old = judgeableAt + abandonAfterMillis;
  const foreign = (record: StoredRecord, at = now) => {
    const stands = standing(record, thisRun, at);
    return stands.kind === 'foreign' ? stands : undefined;
  };

  test.each<[string, StoredRecord, number, string]>([
    ['is in flight until it is 20 hours old', aRunning(elsewhere), old - 1, 'in-flight'],
    ['is unknown from then on', aRunning(elsewhere), old, 'unknown'],
    ['of another version, too', ofVersion(aRunning()), old - 1, 'in-flight'],
    ['is quarantined if it was that', ofVersion(aQuarantined()), now, 'quarantined'],
    ['is unknown if its age cannot be read', parseRecord(anIndex, { state: 'reserved', version: 2 }), now, 'unknown'],
  ])('%s', (_, record, at, expected) => {
    expect(foreign(record, at)?.outcome).toBe(expected);
  });

  test('says from when on a person may release it', () => {
    expect(releasableAt(aRunning(elsewhere))).toBe(old);
    expect(releasableAt(parseRecord(anIndex, 'damaged'))).toBeUndefined();
  });
});

test('counts and verdicts are used only of this version and this address', () => {
  expect(isHere(anIdle(), thisRun)).toBe(true);
  for (const record of [undefined, anIdle(elsewhere), ofVersion(anIdle())]) expect(isHere(record, thisRun)).toBe(false);
});

test('of two runs that ask about any record, at most one is free to send', () => {
  const start = fc.integer({ min: 0, max: 3 }).map((step) => 1_000_000 + step);
  const runs = fc.record({ runId: fc.constantFrom('a', 'b', 'c'), runStartMillis: start });
  holds(
    fc.property(runs, runs, (one, other) => {
      // The first one has sent, and its verdict is written: only a later one may send.
      const record = anIdle({ lastSender: one, lastVerdict: aLastVerdict(one) });
      const isFree = kindOf(record, { ...thisRun, ...other }) === 'free';
      expect(isFree).toBe(other.runStartMillis > one.runStartMillis);
    }),
  );
});
