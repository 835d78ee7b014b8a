import { describe, expect, test } from 'vitest';
import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import { LEDGER_VERSION, type LedgerRecord, parseRecord, type StoredRecord } from '../../../lambda/ledger/record.ts';
import {
  conclude,
  learnCopies,
  markRunning,
  noteAnswer,
  quarantine,
  quarantineCounted,
  release,
  spend,
  startSending,
} from '../../../lambda/ledger/transitions.ts';
import {
  aKey,
  aLastVerdict,
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aRecordOfEachState,
  aRun,
  aRunning,
  aSending,
  aVerdict,
} from '../../support/records.ts';

/** Each transition of a record (design rule 5), and what it keeps. */

const window = { afterMillis: 600_000, untilMillis: 1_000_000, rows: 40, countedAtMillis: 1_100_000 };
const attempt = anAttempt();
const later = { runId: 'run-9', runStartMillis: 9_000_000 };
const now = 9_000_000;

describe('startSending', () => {
  test('makes the first record of an index', () => {
    expect(startSending(undefined, aKey, attempt)).toEqual({
      ...aKey,
      version: LEDGER_VERSION,
      revision: 1,
      state: 'sending',
      lastSender: aRun,
      lastVerdict: undefined,
      attempt,
    });
  });

  test('keeps the last verdict, and names its own run as the last that sent', () => {
    const lastVerdict = aLastVerdict({ window });
    const before = anIdle({ revision: 7, lastSender: later, lastVerdict });
    expect(startSending(before, aKey, attempt)).toMatchObject({ revision: 8, lastSender: aRun, lastVerdict });
  });

  test('keeps no verdict of another server: its counts say nothing about this one', () => {
    const before = anIdle({ server: 'http://elsewhere:1', lastVerdict: aLastVerdict({ window }) });
    expect(startSending(before, aKey, attempt).lastVerdict).toBeUndefined();
  });

  test('takes the revision of a record of another version over', () => {
    const before = parseRecord(anIndex, { ...anIdle({ revision: 4 }), version: 3 });
    expect(startSending(before, aKey, attempt).revision).toBe(5);
  });
});

describe('an answer', () => {
  test('with a task id makes it running', () => {
    expect(markRunning(aSending({ revision: 2 }), 'n:5')).toEqual({
      ...aSending({ revision: 3 }),
      state: 'running',
      taskId: 'n:5',
    });
  });

  test('without one is kept for the verdict, and it stays sending', () => {
    const answer = { kind: 'server-error', operation: 'truncate', status: 504 } as const;
    const noted = noteAnswer(aSending(), answer);
    expect([noted.state, noted.revision, noted.attempt.answer]).toEqual(['sending', 2, answer]);
  });

  test('of a status shows whether it copies', () => {
    expect(learnCopies(aRunning(), true)).toMatchObject({ state: 'running', revision: 2, attempt: { copies: true } });
  });
});

describe('a verdict', () => {
  test('frees the index, and leaves its window', () => {
    const idle = conclude(aRunning({ revision: 3 }), aVerdict(), window, now);
    expect(idle).toMatchObject({ state: 'idle', revision: 4, lastSender: aRun });
    expect(idle.lastVerdict).toEqual({ ...aRun, decidedAtMillis: now, verdict: aVerdict(), window });
    expect(idle).not.toHaveProperty('attempt');
  });

  test('that could not be counted keeps the window before', () => {
    const before = aRunning({ lastVerdict: aLastVerdict({ window }) });
    expect(conclude(before, aVerdict({ outcome: 'unknown' }), undefined, now).lastVerdict?.window).toEqual(window);
  });

  test('that could not be counted keeps no window of which it may have deleted rows itself', () => {
    const before = (policyCutoffMillis: number) =>
      aRunning({ lastVerdict: aLastVerdict({ window }), attempt: anAttempt({ policyCutoffMillis }) });
    const kept = (cutoff: number) => conclude(before(cutoff), aVerdict(), undefined, now).lastVerdict?.window;
    expect([kept(600_000), kept(600_001)]).toEqual([window, undefined]);
  });

  test('that quarantines keeps what was sent, and no window', () => {
    const quarantined = quarantine(aRunning({ taskId: 'n:5' }), aVerdict({ outcome: 'rows-missing' }), now);
    expect(quarantined).toMatchObject({ state: 'quarantined', since: now, attempt, taskId: 'n:5', lastSender: aRun });
    expect(quarantined.lastVerdict.window).toBeUndefined();
  });

  test('of a call without a task id has none', () => {
    expect(quarantine(aSending(), aVerdict(), now).taskId).toBeUndefined();
  });

  test('about a loss between two runs keeps the window that showed it, and no attempt', () => {
    const loss = aVerdict({ outcome: 'rows-missing' });
    const quarantined = quarantineCounted(anIdle({ lastSender: aRun }), window, loss, later, now);
    expect(quarantined).toMatchObject({ state: 'quarantined', counted: window, lastSender: aRun, lastVerdict: later });
    expect(quarantined.attempt).toBeUndefined();
  });
});

describe('a run that is given up', () => {
  test('is written down as the last that sent, also where there was no record', () => {
    expect(spend(undefined, aKey, aRun, now)).toMatchObject({ state: 'idle', revision: 1, lastSender: aRun });
    expect(spend(anIdle({ lastVerdict: aLastVerdict({ window }) }), aKey, aRun, now)).toMatchObject({
      revision: 2,
      lastSender: aRun,
      lastVerdict: { window },
    });
  });

  test.each<[string, LedgerRecord]>(aRecordOfEachState().map((record) => [record.state, record]))(
    'changes nothing else of a record that is %s',
    (_, record) => {
      const spent = spend(record, aKey, later, now);
      expect(spent).toEqual({ ...record, revision: 2, lastSender: later });
    },
  );

  test('does not take the place of a later sender, which shuts it out as well', () => {
    expect(spend(anIdle({ lastSender: later }), aKey, aRun, now).lastSender).toEqual(later);
  });

  test('takes the place of one that a wrong clock has written, which shuts out nobody', () => {
    const sent = (ahead: number) => anIdle({ lastSender: { runId: 'run-9', runStartMillis: now + ahead } });
    expect(spend(sent(86_400_000), aKey, aRun, now).lastSender?.runId).toBe('run-9');
    expect(spend(sent(86_400_001), aKey, aRun, now).lastSender).toEqual(aRun);
  });

  test('takes the place of another run that started at the same moment', () => {
    const other = { ...aRun, runId: 'run-2' };
    expect(spend(anIdle({ lastSender: other }), aKey, aRun, now).lastSender).toEqual(aRun);
  });

  test.each<[string, StoredRecord]>([
    ['version', parseRecord(anIndex, { ...anIdle(), version: 3 })],
    ['server', anIdle({ server: 'http://elsewhere:1', lastVerdict: aLastVerdict({ window }) })],
  ])('makes an idle record of another %s one of its own', (_, record) => {
    const spent = spend(record, aKey, aRun, now);
    expect(spent).toMatchObject({ ...aKey, version: LEDGER_VERSION, revision: 2, state: 'idle', lastSender: aRun });
    expect(spent.lastVerdict).toBeUndefined();
  });
});

describe('a release', () => {
  test.each<[string, StoredRecord]>([
    ['quarantined', aQuarantined({ lastSender: aRun })],
    ['sending', aSending()],
    ['running', aRunning()],
    ['idle', anIdle({ lastSender: aRun, lastVerdict: aLastVerdict({ window }) })],
    ['of another version', parseRecord(anIndex, { ...aRunning(), version: 9 })],
    ['of another server', aRunning({ server: 'http://elsewhere:1' })],
  ])('frees a record that is %s, and expects nothing of it any more', (_, record) => {
    const idle = release(record, aKey);
    expect(idle).toMatchObject({ state: 'idle', revision: 2, lastSender: aRun, server: aKey.server });
    expect(idle.lastVerdict?.window).toBeUndefined();
    for (const field of ['attempt', 'taskId', 'counted']) expect(idle).not.toHaveProperty(field);
  });

  test('keeps the verdict that quarantined it', () => {
    expect(release(aQuarantined(), aKey).lastVerdict?.verdict.outcome).toBe('rows-missing');
  });

  test('of what was unresolved keeps no verdict: the last one is about another truncation', () => {
    expect(release(aRunning({ lastVerdict: aLastVerdict() }), aKey).lastVerdict).toBeUndefined();
  });
});

test('every transition can be stored after the record that it was made from, and only once', async () => {
  const first = startSending(undefined, aKey, attempt);
  const second = markRunning(first, 'n:1');
  const third = conclude(second, aVerdict(), window, now);
  const ledger = memoryLedger();
  for (const record of [first, second, third, spend(third, aKey, later, now)]) {
    expect(await ledger.replace(record)).toBe(true);
    expect(await ledger.replace(record)).toBe(false);
    expect(await ledger.read(anIndex)).toEqual(JSON.parse(JSON.stringify(record)));
  }
});

test('a function that was frozen between reading and writing finds its condition broken', async () => {
  const ledger = memoryLedger();
  const before = anIdle();
  await ledger.replace(before);
  const thawed = startSending(before, aKey, attempt);
  await ledger.replace(spend(before, aKey, aRun, now));
  expect(await ledger.replace(thawed)).toBe(false);
});
