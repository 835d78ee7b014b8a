import { describe, expect, test } from 'vitest';
import { type LedgerRecord, parseRecord, type StoredRecord } from '../../../lambda/ledger/record.ts';
import {
  fence,
  type Mark,
  markFor,
  markReported,
  markRunning,
  recordCallError,
  recordStatus,
  recordVerdict,
  release,
  startSending,
  withdraw,
} from '../../../lambda/ledger/transitions.ts';
import {
  aKey,
  aLastVerdict,
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aRecordOfEachState,
  aReleased,
  aRun,
  aRunning,
  aSending,
  aVerdict,
  decidedBy,
} from '../../support/records.ts';

/** Each transition of a record (rules 5 and 15), and what it keeps. */

const window = { afterMillis: 600_000, untilMillis: 1_000_000, rows: 40, countedAtMillis: 1_100_000 };
const attempt = anAttempt();
const later = { runId: 'run-9', runStartMillis: 9_000_000 };
const now = 9_000_000;
const decided = { ...later, atMillis: now };
const toIdle = { state: 'idle', window, decided } as const;
const toQuarantine = { state: 'quarantined', window: undefined, decided } as const;
const lastRelease = { decided: decidedBy, release: { missing: 0 } };
const elsewhere = { server: 'http://elsewhere:1' };
const opened = { missing: 3, accepted: 5 };
const named = (record: LedgerRecord) => [`${record.state}${record.unreported ? ', unreported' : ''}`, record] as const;

describe('startSending', () => {
  test('keeps the last verdict and its window, and names its own run as the last that sent', () => {
    const before = anIdle({ revision: 7, lastSender: later, lastVerdict: aLastVerdict(), window, taskId: 'n:1' });
    const sending = startSending(before, aKey, attempt);
    expect(sending).toMatchObject({ revision: 8, lastSender: aRun, lastVerdict: before.lastVerdict, window });
    expect(sending).not.toHaveProperty('taskId');
  });

  test('keeps nothing that was counted on another server', () => {
    const before = anIdle({ ...elsewhere, lastVerdict: aLastVerdict(), window });
    expect(startSending(before, aKey, attempt)).toMatchObject({
      server: aKey.server,
      lastVerdict: undefined,
      window: undefined,
    });
  });

  test.each([
    ['a verdict', anIdle({ unreported: true, lastVerdict: aLastVerdict() })],
    ['a release', aReleased()],
  ])('refuses a record with %s that is unreported', (_, record) => {
    expect(() => startSending(record, aKey, attempt)).toThrow('before its last decision is reported');
  });
});

describe('a verdict', () => {
  test.each([
    ['frees the index', toIdle, 'idle', window],
    ['quarantines it, without a window', toQuarantine, 'quarantined', undefined],
  ] as const)('%s, and is unreported', (_, options, state, kept) => {
    const record = aRunning({ revision: 3, taskId: 'n:5', lastRelease });
    const ended = recordVerdict(record, aVerdict(), options);
    expect(ended).toMatchObject({ state, unreported: true, revision: 4, lastSender: aRun, attempt, taskId: 'n:5' });
    expect(ended.lastVerdict).toEqual({ ...aRun, decided, verdict: aVerdict() });
    expect([ended.window, ended.lastRelease]).toEqual([kept, undefined]);
  });

  test('keeps the window before where nothing could be counted, unless it may have deleted rows of it itself', () => {
    const kept = (policyCutoffMillis: number) =>
      recordVerdict(
        aRunning({ window, attempt: anAttempt({ policyCutoffMillis }) }),
        aVerdict({ outcome: 'unknown' }),
        {
          ...toIdle,
          window: undefined,
        },
      ).window;
    expect([kept(600_000), kept(600_001)]).toEqual([window, undefined]);
  });

  test('frees the index at once if not one byte of the call was written, and needs no report', () => {
    const idle = withdraw(aSending({ revision: 3, window, lastRelease }), aVerdict({ outcome: 'failed' }), decided);
    expect(idle).toMatchObject({ state: 'idle', unreported: false, revision: 4, window });
    expect(idle.lastVerdict).toMatchObject({ ...aRun, decided, verdict: { outcome: 'failed' } });
    expect([idle.lastRelease, markFor(idle)]).toEqual([undefined, undefined]);
  });
});

describe('the mark', () => {
  const ended = recordVerdict(aRunning({ revision: 3 }), aVerdict({ outcome: 'rows-missing' }), toQuarantine);
  const mark = { index: anIndex, revision: 4, decidedAtMillis: now };

  test.each<[string, StoredRecord | undefined]>([
    ['a verdict', ended],
    ['a release', release(aQuarantined({ revision: 3 }), aKey, opened, decided)],
  ])('of %s names the revision and the moment, and clears the flag alone', (_, record) => {
    expect(markFor(record)).toEqual(mark);
    expect(markReported(record, mark)).toEqual({ ...record, unreported: false, revision: 5 });
  });

  test.each<[string, StoredRecord | undefined]>([
    ['an absent record', undefined],
    ['a record that is reported', markReported(ended, mark)],
    ['another revision of the same decision', { ...ended, revision: 5 }],
    [
      'another decision with the same revision',
      recordVerdict(aRunning({ revision: 3 }), aVerdict(), { ...toIdle, decided: { ...later, atMillis: now + 1 } }),
    ],
    ['a decision after which a run was fenced off', fence(ended, aKey, aRun, now)],
    ['a record that is in use again', aRunning({ revision: 4, unreported: true, lastVerdict: ended.lastVerdict })],
    ['a record that cannot be read', parseRecord(anIndex, { ...ended, lastSender: 5 })],
  ])('does not fit %s', (_, record) => {
    expect(markReported(record, mark)).toBeUndefined();
  });
});

describe('a run that is fenced off', () => {
  test('is written down as the last that sent, also where there was no record', () => {
    expect(fence(undefined, aKey, aRun, now)).toEqual({
      ...aKey,
      state: 'idle',
      revision: 1,
      unreported: false,
      lastSender: aRun,
    });
  });

  test.each(aRecordOfEachState().map(named))('changes nothing else of a record that is %s', (_, record) => {
    expect(fence(record, aKey, later, now)).toEqual({ ...record, revision: 2, lastSender: later });
  });

  test.each<[string, StoredRecord]>([
    ['its own run has sent', anIdle({ lastSender: aRun })],
    ['a later run has sent, which must not be forgotten', anIdle({ lastSender: later })],
    ['the record cannot be read', parseRecord(anIndex, { ...anIdle(), lastSender: 5 })],
  ])('is not written down where %s', (_, record) => {
    expect(fence(record, aKey, aRun, now)).toBeUndefined();
  });

  test('replaces a sender that a wrong clock has written, which shuts out nobody', () => {
    const sent = (ahead: number) => anIdle({ lastSender: { runId: 'run-9', runStartMillis: now + ahead } });
    expect(fence(sent(86_400_000), aKey, aRun, now)).toBeUndefined();
    expect(fence(sent(86_400_001), aKey, aRun, now)).toMatchObject({ lastSender: aRun });
  });

  test('takes the place of another run that started at the same moment', () => {
    const other = { ...aRun, runId: 'run-2' };
    expect(fence(anIdle({ lastSender: other }), aKey, aRun, now)).toMatchObject({ lastSender: aRun });
  });
});

describe('a release', () => {
  test.each([aQuarantined({ window }), aSending({ window }), aRunning({ ...elsewhere, window })].map(named))(
    'of a record that is %s frees the index, is unreported, and expects nothing that was counted before',
    (_, record) => {
      const idle = release(record, aKey, opened, decided);
      expect(idle).toMatchObject({ ...aKey, state: 'idle', unreported: true, revision: 2, lastSender: aRun });
      expect(idle.lastRelease).toEqual({ decided, release: opened });
      expect([idle.lastVerdict, idle.window, idle.attempt, idle.taskId]).toEqual(Array(4).fill(undefined));
    },
  );

  const unreadable = (lastSender: unknown) =>
    parseRecord(anIndex, { ...aRunning(), taskId: 5, revision: 6, lastSender });

  test('of what cannot be read shuts out all runs that have started by then', () => {
    expect(release(unreadable('nobody'), aKey, opened, decided)).toMatchObject({ revision: 7, lastSender: later });
    expect(release(parseRecord(anIndex, {}), aKey, opened, decided)).toMatchObject({ revision: 1, lastSender: later });
  });

  test('of what cannot be read shuts out a later sender, too, where that can be read', () => {
    const released = (lastSender: object) => release(unreadable(lastSender), aKey, opened, decided).lastSender;
    const sender = { runId: 'run-10', runStartMillis: later.runStartMillis + 1 };
    expect(released(sender)).toEqual(sender);
    expect(released(aRun)).toEqual(later);
  });
});

describe('fields that this version does not know', () => {
  const more = { later: 'another version' };
  const unresolved = [aSending(), aRunning()];
  const unreported = aRecordOfEachState().filter((record) => record.unreported);
  type Transition = (record: never) => StoredRecord | undefined;
  test.each<[string, readonly LedgerRecord[], Transition]>([
    ['startSending', [anIdle()], (record) => startSending(record, aKey, attempt)],
    ['markRunning', [aSending()], (record) => markRunning(record, 'n:1')],
    ['recordCallError', [aSending()], (record) => recordCallError(record, { kind: 'reset', operation: 'truncate' })],
    ['recordStatus', unresolved, (record) => recordStatus(record, { method: 'reindex' })],
    ['recordVerdict', unresolved, (record) => recordVerdict(record, aVerdict(), toIdle)],
    ['quarantine', unresolved, (record) => recordVerdict(record, aVerdict(), toQuarantine)],
    ['withdraw', [aSending()], (record) => withdraw(record, aVerdict(), decided)],
    ['markReported', unreported, (record) => markReported(record, markFor(record) as Mark)],
    ['fence', aRecordOfEachState(), (record) => fence(record, aKey, later, now)],
    ['release', [...unresolved, aQuarantined()], (record) => release(record, aKey, opened, decided)],
  ])('are kept by %s', (_, records, transition) => {
    for (const record of records) {
      expect(transition({ ...record, ...more } as never), record.state).toMatchObject(more);
    }
  });
});
