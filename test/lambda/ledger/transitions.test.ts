import { describe, expect, test } from 'vitest';
import { sentByMemoryMillis } from '../../../lambda/facts/limits.ts';
import type { LedgerRecord, LedgerState } from '../../../lambda/ledger/record.ts';
import {
  clear,
  conclude,
  fence,
  markRunning,
  noteAnswer,
  quarantine,
  release,
  reserve,
  startSending,
} from '../../../lambda/ledger/transitions.ts';
import { aBaseline, anAttempt, anIndex, aRecord, aServer, aVerdict } from '../../support/records.ts';

const attempt = anAttempt();
const now = 1_100_000;
const sent = { fields: attempt.fields, strategy: attempt.strategy, baseline: aBaseline };
const inState = (state: LedgerState, more: Partial<LedgerRecord> = {}): LedgerRecord =>
  aRecord({
    state,
    attemptId: attempt.attemptId,
    ...(['reserved', 'sending', 'running'].includes(state) && { attempt: { ...attempt, baseline: aBaseline } }),
    ...more,
  });
const reserved = (
  record: LedgerRecord | undefined,
  attemptNow = anAttempt({ attemptId: 'attempt-2', runId: 'run-2' }),
  at = now,
) => reserve(record, aServer, anIndex, attemptNow, at);

describe('reserve', () => {
  test('takes an index that has no record yet', () => {
    expect(reserved(undefined)).toMatchObject({
      kind: 'reserved',
      record: { server: aServer, index: anIndex, state: 'reserved', attemptId: 'attempt-2' },
    });
  });

  test('takes an idle one and keeps its last verdict', () => {
    const lastVerdict = aVerdict();
    expect(reserved(inState('idle', { lastVerdict, shrunkRows: 3 }))).toMatchObject({
      kind: 'reserved',
      record: { state: 'reserved', lastVerdict, shrunkRows: 3 },
    });
  });

  test.each(['sending', 'running'] as const)('never takes one that is %s, however old it is', (state) => {
    expect(reserved(inState(state), undefined, Number.MAX_SAFE_INTEGER)).toMatchObject({ kind: 'in-flight' });
  });

  test('takes a reservation back at its sendBy, not a millisecond before', () => {
    expect(reserved(inState('reserved'), undefined, attempt.sendBy - 1).kind).toBe('in-flight');
    expect(reserved(inState('reserved'), undefined, attempt.sendBy).kind).toBe('reserved');
  });

  test('never takes a quarantined one', () => {
    expect(reserved(inState('quarantined', { lastVerdict: aVerdict() }))).toMatchObject({ kind: 'quarantined' });
  });

  test('is refused to a run that has sent before, also after other runs have', () => {
    const record = inState('idle', {
      sentBy: [
        { runId: 'run-2', at: 1 },
        { runId: 'run-3', at: 2 },
      ],
    });
    expect(reserved(record).kind).toBe('spent');
  });
});

describe('startSending', () => {
  test('writes what is sent, the counts before it, and that this run has sent', () => {
    const record = startSending(inState('reserved'), sent, now);
    expect(record).toMatchObject({
      state: 'sending',
      attempt: { ...sent, sendingSince: now },
      sentBy: [{ runId: 'run-1', at: now }],
    });
  });

  test('remembers other runs that sent, as long as one of them could still be alive', () => {
    const sentBy = [
      { runId: 'old', at: now - sentByMemoryMillis },
      { runId: 'recent', at: now - sentByMemoryMillis + 1 },
    ];
    expect(startSending(inState('reserved', { sentBy }), sent, now).sentBy).toEqual([
      { runId: 'recent', at: now - sentByMemoryMillis + 1 },
      { runId: 'run-1', at: now },
    ]);
  });
});

describe('what comes after sending', () => {
  test('a task id makes it running', () => {
    expect(markRunning(inState('sending'), 'node:1', true)).toMatchObject({
      state: 'running',
      attempt: { taskId: 'node:1', pollable: true },
    });
  });

  test('another answer is noted and leaves it sending', () => {
    const answer = { kind: 'bad-request', reason: 'Async reindex failed', receivedAt: now } as const;
    expect(noteAnswer(inState('sending'), answer, 'unknown')).toMatchObject({
      state: 'sending',
      attempt: { answer, strategy: 'unknown' },
    });
  });

  test.each(['sending', 'running'] as const)('a verdict closes one that is %s', (state) => {
    const verdict = aVerdict({ attemptId: attempt.attemptId });
    const record = conclude(inState(state), verdict, 0);
    expect(record).toMatchObject({ state: 'idle', attemptId: attempt.attemptId, lastVerdict: verdict });
    expect(record.attempt).toBeUndefined();
  });

  test('small shrinks add up until a verdict without any', () => {
    const once = conclude(inState('running'), aVerdict(), 4);
    expect(once.shrunkRows).toBe(4);
    const twice = conclude({ ...inState('running'), shrunkRows: 4 }, aVerdict(), 5);
    expect(twice.shrunkRows).toBe(9);
    expect(conclude({ ...inState('running'), shrunkRows: 9 }, aVerdict(), 0).shrunkRows).toBeUndefined();
    expect(conclude({ ...inState('running'), shrunkRows: 9 }, aVerdict()).shrunkRows).toBe(9);
  });
});

describe('quarantine', () => {
  test.each(['idle', 'sending', 'running'] as const)('closes an index that is %s', (state) => {
    expect(quarantine(inState(state), aVerdict())).toMatchObject({ state: 'quarantined', lastVerdict: aVerdict() });
  });

  test('is left by clear alone, which forgets what the index held', () => {
    const cleared = clear(inState('quarantined', { lastVerdict: aVerdict(), shrunkRows: 5 }));
    expect(cleared.state).toBe('idle');
    expect(cleared.lastVerdict?.rowsAfter).toBeUndefined();
    expect(cleared.lastVerdict?.entry).toEqual(aVerdict().entry);
    expect(cleared.shrunkRows).toBeUndefined();
  });
});

describe('fence', () => {
  const key = { server: aServer, index: anIndex, runId: 'run-1', attemptId: 'fence' };

  test.each([
    ['no record', undefined],
    ['an idle record', inState('idle')],
    ["this run's reservation", inState('reserved')],
  ])('changes the attempt id of %s, and the run may send no more', (_, record) => {
    const fenced = fence(record, key, now);
    expect(fenced).toMatchObject({ state: 'idle', attemptId: 'fence', sentBy: [{ runId: 'run-1', at: now }] });
    expect(reserved(fenced, anAttempt({ attemptId: 'again' })).kind).toBe('spent');
  });

  test('leaves a quarantined index closed, and after it is cleared the run may send no more', () => {
    const fenced = fence(inState('quarantined', { lastVerdict: aVerdict() }), key, now);
    expect(fenced).toMatchObject({ state: 'quarantined', attemptId: 'fence', lastVerdict: aVerdict() });
    expect(reserved(clear(fenced), anAttempt({ attemptId: 'again' })).kind).toBe('spent');
  });

  test("does not touch another run's reservation before its time to send is over", () => {
    const other = { ...key, runId: 'run-9' };
    const { sendBy } = inState('reserved').attempt!;
    expect(() => fence(inState('reserved'), other, sendBy - 1)).toThrow(/does not allow fence/);
    expect(fence(inState('reserved'), other, sendBy)).toMatchObject({ state: 'idle', sentBy: [{ runId: 'run-9' }] });
  });
});

describe('every other transition is refused', () => {
  const verdict = aVerdict();
  const all: LedgerState[] = ['idle', 'reserved', 'sending', 'running', 'quarantined'];
  const steps: Array<[string, LedgerState[], (record: LedgerRecord) => LedgerRecord]> = [
    ['startSending', ['reserved'], (record) => startSending(record, sent, now)],
    ['markRunning', ['sending'], (record) => markRunning(record, 'node:1', true)],
    [
      'noteAnswer',
      ['sending'],
      (record) => noteAnswer(record, { kind: 'unresolved', reason: '', receivedAt: now }, 'unknown'),
    ],
    ['release', ['reserved'], release],
    ['conclude', ['sending', 'running'], (record) => conclude(record, verdict, 0)],
    ['quarantine', ['idle', 'sending', 'running'], (record) => quarantine(record, verdict)],
    ['clear', ['quarantined', 'idle'], clear],
    [
      'fence',
      ['idle', 'reserved', 'quarantined'],
      (record) => fence(record, { server: aServer, index: anIndex, runId: 'run-1', attemptId: 'f' }, now),
    ],
  ];
  const cases = steps.flatMap(([name, allowed, step]) =>
    all.map((state) => ({ name, state, allowed: allowed.includes(state), step })),
  );

  test.each(cases)('$name from $state: $allowed', ({ state, allowed, step }) => {
    if (allowed) expect(() => step(inState(state))).not.toThrow();
    else expect(() => step(inState(state))).toThrow(/does not allow/);
  });
});
