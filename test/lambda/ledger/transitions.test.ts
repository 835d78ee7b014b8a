import { describe, expect, test } from 'vitest';
import { sentByMemoryMillis } from '../../../lambda/facts/limits.ts';
import { conditionOf, LEDGER_VERSION, type LedgerRecord, recordSchema } from '../../../lambda/ledger/record.ts';
import { standing } from '../../../lambda/ledger/standing.ts';
import {
  clear,
  conclude,
  decline,
  fence,
  hasSent,
  isSameRun,
  type Learnt,
  markRunning,
  noteAnswer,
  quarantine,
  release,
  reserve,
  startSending,
} from '../../../lambda/ledger/transitions.ts';
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
  aWindow,
} from '../../support/records.ts';

const now = 1_100_000;
const anotherRun = { runId: 'run-2', runStartMillis: 1_050_000 };
const attempt = anAttempt(anotherRun);
const learnt: Learnt = {
  baseline: { rowsTotal: 100, rowsToDelete: 60 },
  windows: [aWindow],
  sendingSince: now,
  sentRealAt: now + 1,
  sendBy: now + 60_000,
  judgeableAt: now + 660_000,
};
const history = { lastVerdict: aVerdict(), sentBy: [{ ...aRun, at: 7 }] };
const readable = <Stored extends LedgerRecord>(record: Stored): Stored => {
  expect(recordSchema.parse(record)).toEqual(record);
  return record;
};

describe('reserve', () => {
  test('records the run, its fields and its deadline, and nothing of an earlier attempt', () => {
    expect(readable(reserve(undefined, aKey, 'attempt-2', attempt))).toEqual({
      version: LEDGER_VERSION,
      ...aKey,
      state: 'reserved',
      attemptId: 'attempt-2',
      attempt,
      judgeableAt: attempt.sendBy,
    });
  });

  test.each([
    ['an idle record', anIdle(history)],
    ['a reservation that is over', aReserved(history)],
  ])('keeps the history of %s', (_, record) => {
    expect(readable(reserve(record, aKey, 'attempt-2', attempt))).toMatchObject({ ...history, attemptId: 'attempt-2' });
  });

  test("keeps only sentBy of another server's record, none of its counts", () => {
    const reserved = readable(reserve(anIdle({ ...history, server: 'http://other' }), aKey, 'attempt-2', attempt));
    expect(reserved).toMatchObject({ server: aServer, sentBy: history.sentBy });
    expect(reserved).not.toHaveProperty('lastVerdict');
  });
});

describe('startSending', () => {
  test('records what is sent, the counts before it, when it may be judged, and that this run has sent', () => {
    expect(readable(startSending(aReserved(), learnt))).toEqual({
      ...aReserved(),
      state: 'sending',
      windows: [aWindow],
      judgeableAt: learnt.judgeableAt,
      attempt: {
        ...anAttempt(),
        baseline: learnt.baseline,
        sendingSince: now,
        sentRealAt: now + 1,
        sendBy: learnt.sendBy,
      },
      sentBy: [{ ...aRun, at: now }],
    });
  });

  test('remembers other runs that sent, as long as one of them could still be alive', () => {
    const old = { runId: 'old', runStartMillis: 1, at: now - sentByMemoryMillis };
    const recent = { runId: 'recent', runStartMillis: 1, at: now - sentByMemoryMillis + 1 };
    const { sentBy } = startSending(aReserved({ sentBy: [old, recent] }), learnt);
    expect(sentBy).toEqual([recent, { ...aRun, at: now }]);
  });

  test('remembers a run of the same name that started at another time as another run', () => {
    const namesake = { ...aRun, runStartMillis: 1, at: now };
    expect(startSending(aReserved({ sentBy: [namesake] }), learnt).sentBy).toEqual([namesake, { ...aRun, at: now }]);
    const again = { ...aRun, at: now - 5 };
    expect(startSending(aReserved({ sentBy: [again] }), learnt).sentBy).toEqual([{ ...aRun, at: now }]);
  });
});

describe('what comes after sending', () => {
  test('a task id makes it running, for any run to watch', () => {
    const running = readable(markRunning(aSending(), 'node:1', 55));
    expect(running).toEqual({
      ...aSending(),
      state: 'running',
      judgeableAt: aSending().attempt.sendingSince,
      attempt: { ...aSending().attempt, taskId: 'node:1', answeredRealAt: 55 },
    });
  });

  test('any other answer is recorded and leaves it sending', () => {
    const error = { kind: 'bad-request', operation: 'truncate', status: 400 } as const;
    const noted = readable(noteAnswer(aSending(), { error, realAt: now }, 'unknown'));
    expect(noted).toEqual({
      ...aSending(),
      revision: 1,
      attempt: { ...aSending().attempt, answer: { error, realAt: now }, strategy: 'unknown' },
    });
  });

  test.each([aSending(history), aRunning(history)])('a verdict closes one that is $state', (record) => {
    const verdict = aVerdict({ attemptId: record.attemptId });
    expect(readable(conclude(record, verdict))).toEqual({
      version: LEDGER_VERSION,
      ...aKey,
      state: 'idle',
      attemptId: record.attemptId,
      lastVerdict: verdict,
      sentBy: history.sentBy,
    });
  });

  test('deciding against sending gives the reservation back and fences the run off', () => {
    const run = { runId: 'run-7', runStartMillis: 5 };
    const record = aReserved({ ...history, attempt: anAttempt(run) });
    expect(readable(decline(record, 7))).toEqual({
      ...anIdle(history),
      attemptId: 'attempt-1',
      sentBy: [...(history.sentBy ?? []), { ...run, at: 7, fenced: true }],
    });
  });

  test('giving a reservation back leaves only its attempt id', () => {
    expect(readable(release(aReserved(history)))).toEqual({
      ...anIdle(history),
      attemptId: 'attempt-1',
    });
  });
});

describe('quarantine', () => {
  test.each([aSending(history), aRunning(history)])(
    'closes an index that is $state, and keeps its windows and what was sent',
    (record) => {
      const verdict = aVerdict({ attemptId: 'attempt-1' });
      expect(readable(quarantine(record, verdict))).toEqual({
        ...anIdle({ ...history, attemptId: 'attempt-1' }),
        state: 'quarantined',
        windows: [aWindow],
        attempt: record.attempt,
        lastVerdict: verdict,
      });
    },
  );

  test('closes an idle index with the given windows, under a new attempt id', () => {
    const window = { from: 1, to: 2, rows: 3 };
    expect(readable(quarantine(anIdle(), aVerdict({ attemptId: 'new' }), [window]))).toMatchObject({
      state: 'quarantined',
      attemptId: 'new',
      windows: [window],
    });
    expect(quarantine(anIdle(), aVerdict({ attemptId: 'new' })).windows).toEqual([]);
  });

  test('and clear leave no record that an earlier read of the index could overwrite', () => {
    const before = anIdle({ attemptId: 'attempt-0', lastVerdict: aVerdict() });
    const after = clear(quarantine(before, aVerdict({ attemptId: 'new' }), []), aKey);
    expect(conditionOf(after)).not.toEqual(conditionOf(before));
  });

  test.each([aQuarantined(history), anIdle(history), aSending(history)])(
    'ends only by clear, which forgets the verdict’s window ($state)',
    (record) => {
      const cleared = readable(clear(record, aKey));
      expect(cleared).toMatchObject({ state: 'idle', sentBy: history.sentBy });
      expect(cleared).not.toHaveProperty('windows');
      expect(cleared.lastVerdict).toHaveProperty('entry');
      expect(cleared.lastVerdict).not.toHaveProperty('window');
    },
  );

  test('clearing a record without a verdict adds none', () => {
    expect(clear(anIdle(), aKey)).toStrictEqual(anIdle({ revision: 1 }));
  });
});

describe('fence', () => {
  const fenced = (record: Parameters<typeof fence>[0]) => fence(record, aKey, aRun, 'fence', now);

  test.each([
    ['no record', undefined],
    ['an idle record', anIdle()],
    ['a reservation', aReserved()],
  ])('changes the attempt id of %s, so that the run cannot send', (_, record) => {
    const made = readable(fenced(record));
    expect(made).toMatchObject({ state: 'idle', attemptId: 'fence', sentBy: [{ ...aRun, at: now, fenced: true }] });
    expect(hasSent(made, aRun)).toBe(false);
    expect(standing(made, { ...aRun, server: aServer }, now)).toMatchObject({ kind: 'spent', fenced: true });
  });

  test('leaves a quarantined index closed', () => {
    const made = readable(fenced(aQuarantined()));
    expect(made).toMatchObject({ ...aQuarantined(), attemptId: 'fence', sentBy: [{ ...aRun, fenced: true }] });
  });

  test('does not mark a run that has sent as only fenced', () => {
    const made = fenced(anIdle({ sentBy: [{ ...aRun, at: 5 }] }));
    expect(made.sentBy).toEqual([{ ...aRun, at: now }]);
    expect(hasSent(made, aRun)).toBe(true);
  });
});

describe('a record of another version or another address', () => {
  const head = {
    version: 9,
    state: 'quarantined',
    ...aKey,
    entityType: 'Dataset',
    attemptId: 'x',
    windows: [aWindow],
  };

  test('becomes an idle record of ours when its head is cleared, with its names and sentBy', () => {
    const sentBy = [{ ...anotherRun, at: 1 }];
    const stored = { state: 'other-version', index: aKey.index, head: { ...head, sentBy } } as const;
    expect(readable(clear(stored, aKey))).toEqual({
      version: LEDGER_VERSION,
      ...aKey,
      entityType: 'Dataset',
      state: 'idle',
      attemptId: 'x',
      sentBy,
    });
  });

  test('becomes one of this address when it is cleared, without its counts', () => {
    const elsewhere = aQuarantined({ server: 'http://other', lastVerdict: aVerdict() });
    expect(readable(clear(elsewhere, aKey))).toEqual(anIdle({ attemptId: elsewhere.attemptId }));
  });
});

test('a run is identified by its id and its start, because execution names are reused', () => {
  expect(isSameRun(aRun, { ...aRun })).toBe(true);
  expect(isSameRun(aRun, { ...aRun, runStartMillis: 5 })).toBe(false);
  expect(isSameRun(aRun, { ...aRun, runId: 'x' })).toBe(false);
  expect(hasSent(undefined, aRun)).toBe(false);
  expect(hasSent(anIdle({ sentBy: [{ ...anotherRun, at: 1 }] }), aRun)).toBe(false);
  const both = [
    { ...anotherRun, at: 1 },
    { ...aRun, at: 2 },
  ];
  expect(hasSent(anIdle({ sentBy: both }), aRun)).toBe(true);
});
