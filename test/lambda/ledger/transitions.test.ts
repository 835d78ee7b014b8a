import { describe, expect, test } from 'vitest';
import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import {
  decisionOf,
  LEDGER_VERSION,
  type LedgerRecord,
  parseRecord,
  type StoredRecord,
} from '../../../lambda/ledger/record.ts';
import {
  conclude,
  concludeCounted,
  dropWindow,
  fence,
  learnReindexes,
  markReported,
  markRunning,
  noteAnswer,
  release,
  startSending,
  withdraw,
} from '../../../lambda/ledger/transitions.ts';
import {
  aJudged,
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

/** Each transition of a record (rule 5), and what it keeps. */

const window = { afterMillis: 600_000, untilMillis: 1_000_000, rows: 40, countedAtMillis: 1_100_000 };
const attempt = anAttempt();
const later = { runId: 'run-9', runStartMillis: 9_000_000 };
const now = 9_000_000;
const decided = { ...later, atMillis: now };
const toIdle = { becomes: 'idle', window, decided } as const;
const toQuarantine = { becomes: 'quarantined', window: undefined, decided } as const;

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

  test('of a status shows whether it reindexes', () => {
    expect(learnReindexes(aRunning(), true)).toMatchObject({
      state: 'running',
      revision: 2,
      attempt: { reindexes: true },
    });
  });
});

describe('a verdict', () => {
  test('is judged until people have been told, by a decision that names run, moment, outcome and what it becomes', () => {
    const judged = conclude(aRunning({ revision: 3, taskId: 'n:5' }), aVerdict(), toIdle);
    expect(judged).toMatchObject({ state: 'judged', revision: 4, lastSender: aRun, attempt, taskId: 'n:5' });
    expect(judged.lastVerdict).toEqual({ ...aRun, decided, verdict: aVerdict(), window });
    expect(judged.decision).toMatchObject({ ...decided, becomes: 'idle', outcome: 'truncated' });
  });

  test('has an id that no other write of this index has', () => {
    const [first, second] = [3, 4].map((revision) => conclude(aRunning({ revision }), aVerdict(), toIdle).decision.id);
    expect(first).not.toBe(second);
  });

  test('that could not be counted keeps the window before', () => {
    const before = aRunning({ lastVerdict: aLastVerdict({ window }) });
    const judged = conclude(before, aVerdict({ outcome: 'unknown' }), { ...toIdle, window: undefined });
    expect(judged.lastVerdict?.window).toEqual(window);
  });

  test('that could not be counted keeps no window of which it may have deleted rows itself', () => {
    const before = (policyCutoffMillis: number) =>
      aRunning({ lastVerdict: aLastVerdict({ window }), attempt: anAttempt({ policyCutoffMillis }) });
    const kept = (cutoff: number) =>
      conclude(before(cutoff), aVerdict(), { ...toIdle, window: undefined }).lastVerdict?.window;
    expect([kept(600_000), kept(600_001)]).toEqual([window, undefined]);
  });

  test('that quarantines has no window, and names the missing rows in the head', () => {
    const judged = conclude(aRunning(), aVerdict({ outcome: 'rows-missing', rowsMissing: 7 }), toQuarantine);
    expect(judged.decision).toMatchObject({ becomes: 'quarantined', outcome: 'rows-missing', rowsMissing: 7 });
    expect(judged.lastVerdict?.window).toBeUndefined();
  });

  test('of a call without a task id has none', () => {
    expect(conclude(aSending(), aVerdict(), toIdle).taskId).toBeUndefined();
  });

  test('about a loss between two runs keeps the window that showed it, and no attempt', () => {
    const loss = aVerdict({ outcome: 'rows-missing' });
    const judged = concludeCounted(anIdle({ lastSender: aRun }), window, loss, decided);
    expect(judged).toMatchObject({ state: 'judged', counted: window, lastSender: aRun, lastVerdict: later });
    expect(judged.decision.becomes).toBe('quarantined');
    expect(judged.attempt).toBeUndefined();
  });

  test('of a call of which not one byte was written frees the index at once', () => {
    const idle = withdraw(aSending({ revision: 3 }), aVerdict({ outcome: 'failed' }), decided);
    expect(idle).toMatchObject({ state: 'idle', revision: 4, lastVerdict: { verdict: { outcome: 'failed' } } });
    expect(idle).not.toHaveProperty('attempt');
  });
});

describe('the mark', () => {
  test('makes the record what its decision says, and drops what only a judged one needs', () => {
    const judged = conclude(aRunning({ revision: 3 }), aVerdict(), toIdle);
    const { lastVerdict, decision } = judged;
    const idle = markReported(judged, decision.id);
    expect(idle).toMatchObject({ state: 'idle', revision: 5, lastSender: aRun, lastVerdict });
    for (const field of ['attempt', 'taskId', 'decision']) expect(idle).not.toHaveProperty(field);
  });

  test('of a loss keeps what a release counts', () => {
    const judged = aJudged({ revision: 3 });
    expect(markReported(judged, judged.decision.id)).toMatchObject({
      state: 'quarantined',
      revision: 4,
      attempt: judged.attempt,
      taskId: judged.taskId,
    });
  });

  test('fits its own decision alone, whatever the revision is', () => {
    const judged = aJudged();
    const givenUp = fence(judged, aKey, later, now);
    expect(markReported(judged, 'another')).toBeUndefined();
    expect(markReported(undefined, judged.decision.id)).toBeUndefined();
    expect(markReported(anIdle(), judged.decision.id)).toBeUndefined();
    expect(markReported(givenUp, judged.decision.id)).toMatchObject({
      state: 'quarantined',
      revision: 3,
      lastSender: later,
    });
  });

  test('of another version changes the state, and leaves everything else as it is', async () => {
    const { decision } = aJudged();
    const theirs = {
      version: 9,
      revision: 4,
      state: 'judged',
      decision,
      entityType: 'dataset',
      ofTheirs: [1, { a: 2 }],
    };
    const ledger = memoryLedger();
    ledger.stored.set(anIndex, theirs);
    const marked = markReported(await ledger.read(anIndex), decision.id);
    expect(marked && (await ledger.replace(marked))).toBe(true);
    expect(ledger.stored.get(anIndex)).toMatchObject({
      ...theirs,
      decision: undefined,
      state: 'quarantined',
      revision: 5,
    });
  });
});

describe('a run that is given up', () => {
  test('is written down as the last that sent, also where there was no record', () => {
    expect(fence(undefined, aKey, aRun, now)).toMatchObject({ state: 'idle', revision: 1, lastSender: aRun });
    expect(fence(anIdle({ lastVerdict: aLastVerdict({ window }) }), aKey, aRun, now)).toMatchObject({
      revision: 2,
      lastSender: aRun,
      lastVerdict: { window },
    });
  });

  test.each<[string, LedgerRecord]>(aRecordOfEachState().map((record) => [record.state, record]))(
    'changes nothing else of a record that is %s',
    (_, record) => {
      const givenUp = fence(record, aKey, later, now);
      expect(givenUp).toEqual({ ...record, revision: 2, lastSender: later });
    },
  );

  test('does not take the place of a later sender, which shuts it out as well', () => {
    expect(fence(anIdle({ lastSender: later }), aKey, aRun, now)).toMatchObject({ lastSender: later });
  });

  test('takes the place of one that a wrong clock has written, which shuts out nobody', () => {
    const sent = (ahead: number) => anIdle({ lastSender: { runId: 'run-9', runStartMillis: now + ahead } });
    expect(fence(sent(86_400_000), aKey, aRun, now)).toMatchObject({ lastSender: { runId: 'run-9' } });
    expect(fence(sent(86_400_001), aKey, aRun, now)).toMatchObject({ lastSender: aRun });
  });

  test('takes the place of another run that started at the same moment', () => {
    const other = { ...aRun, runId: 'run-2' };
    expect(fence(anIdle({ lastSender: other }), aKey, aRun, now)).toMatchObject({ lastSender: aRun });
  });

  test.each<[string, StoredRecord]>([
    ['version', parseRecord(anIndex, { ...anIdle(), version: 3 })],
    ['server', anIdle({ server: 'http://elsewhere:1', lastVerdict: aLastVerdict({ window }) })],
  ])('makes an idle record of another %s one of its own', (_, record) => {
    const givenUp = fence(record, aKey, aRun, now);
    expect(givenUp).toMatchObject({ ...aKey, version: LEDGER_VERSION, revision: 2, state: 'idle', lastSender: aRun });
    expect((givenUp as LedgerRecord).lastVerdict).toBeUndefined();
  });
});

describe('a release', () => {
  const opened = { rowsMissing: 3 };

  test.each<[string, StoredRecord]>([
    ['quarantined', aQuarantined({ lastSender: aRun })],
    ['sending', aSending()],
    ['running', aRunning()],
    ['judged', aJudged({ lastSender: aRun })],
    ['of another version', parseRecord(anIndex, { ...aRunning(), version: 9 })],
    ['of another server', aRunning({ server: 'http://elsewhere:1' })],
  ])('of a record that is %s is judged until people have been told, and becomes idle', (_, record) => {
    const judged = release(record, aKey, opened, decided);
    expect(judged).toMatchObject({ state: 'judged', revision: 2, lastSender: aRun, server: aKey.server });
    expect(judged.decision).toMatchObject({ ...decided, becomes: 'idle', released: true });
    expect(judged.lastRelease).toEqual({ decided, release: opened });
    expect(judged.lastVerdict?.window).toBeUndefined();
    expect(markReported(judged, judged.decision.id)).toMatchObject({ state: 'idle', lastRelease: { release: opened } });
  });

  test('keeps the verdict that quarantined it, which people know', () => {
    const judged = release(aQuarantined(), aKey, opened, decided);
    expect(judged.lastVerdict?.verdict.outcome).toBe('rows-missing');
    expect(judged.decision.outcome).toBeUndefined();
  });

  test('of a judged index does not forget the verdict, which nobody has been told of', () => {
    const before = aJudged();
    const { decision, lastVerdict } = release(before, aKey, opened, decided);
    expect(decision).toMatchObject({ outcome: 'rows-missing', rowsMissing: 30, released: true });
    expect(lastVerdict).toMatchObject({ decided: before.lastVerdict?.decided });
    expect(decision.id).not.toBe(before.decision.id);
  });

  test.each([
    ['another version', 9],
    ['this version', undefined],
  ])('of what %s has judged keeps who gave the verdict, also in a second release', (_, version) => {
    const before = aJudged();
    const { runId, runStartMillis, atMillis } = before.decision;
    const record = version === undefined ? before : parseRecord(anIndex, { ...before, version });
    const once = release(record, aKey, opened, decided);
    const verdictBy = { runId, runStartMillis, atMillis, version };
    expect(once.decision).toMatchObject({ ...decided, outcome: 'rows-missing', verdictBy });
    expect(release(once, aKey, opened, decided).decision).toMatchObject({ verdictBy });
  });

  test('of what was unresolved keeps no verdict: the last one is about another truncation', () => {
    const { lastVerdict } = release(aRunning({ lastVerdict: aLastVerdict() }), aKey, opened, decided);
    expect(lastVerdict).toBeUndefined();
  });

  test('that an index does not need drops its window, and no decision', () => {
    const judged = conclude(aRunning(), aVerdict(), toIdle);
    expect(dropWindow(judged)).toMatchObject({ revision: 3, decision: judged.decision });
    expect(dropWindow(judged).lastVerdict?.window).toBeUndefined();
  });
});

test('every transition can be stored after the record that it was made from, and only once', async () => {
  const first = startSending(undefined, aKey, attempt);
  const second = markRunning(first, 'n:1');
  const third = conclude(second, aVerdict(), toIdle);
  const fourth = fence(third, aKey, later, now);
  const fifth = markReported(fourth, decisionOf(fourth)?.id ?? '') as StoredRecord;
  const ledger = memoryLedger();
  for (const record of [first, second, third, fourth, fifth]) {
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
  await ledger.replace(fence(before, aKey, aRun, now));
  expect(await ledger.replace(thawed)).toBe(false);
});
