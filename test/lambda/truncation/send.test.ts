import { describe, expect, test } from 'vitest';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import { memoryLedger } from '../../../lambda/ledger/memory.ts';
import type { Operations, Truncation } from '../../../lambda/operations/operations.ts';
import { send } from '../../../lambda/truncation/send.ts';
import { anIndex, aSending, aSentAttempt } from '../../support/records.ts';

/** The one call: until when it may be sent, and what is recorded about its answer. */

const error = { kind: 'server-error', operation: 'truncate', status: 500 } as const;

async function sending(
  answer: Truncation,
  strategy: 'delete-by-query' | 'reindex' = 'delete-by-query',
  isStored = true,
) {
  const ledger = memoryLedger();
  const logged: unknown[] = [];
  const record = aSending({ attempt: aSentAttempt({ strategy }) });
  await ledger.replace(undefined, record);
  const clock = { wall: 1000, steady: 50 };
  const sent: { fields: unknown; maySend: () => boolean }[] = [];
  const operations = {
    async truncate(fields: unknown, maySend: () => boolean) {
      sent.push({ fields, maySend });
      return answer;
    },
  } as unknown as Operations;
  const given = {
    operations,
    ledger: {
      ...ledger,
      async replace(...[previous, next]: Parameters<typeof ledger.replace>) {
        if (isStored) return ledger.replace(previous, next);
        throw new LedgerError('the table is out of reach');
      },
    },
    log: { info: (...line: unknown[]) => void logged.push(line) },
    clock: { now: () => clock.wall, realNow: () => clock.wall + 7, monotonic: () => clock.steady },
  };
  const result = send(record, { wall: 2000, monotonic: 100 }, given);
  if (!isStored) await expect(result).rejects.toThrow(LedgerError);
  return { logged, result: isStored ? await result : undefined, record, ledger, sent, clock };
}

describe('the call', () => {
  test('is made once, with exactly the fields of the record', async () => {
    const { sent, record } = await sending({ kind: 'started', taskId: 'n:1' });
    expect(sent).toHaveLength(1);
    expect(sent[0]?.fields).toEqual(record.attempt.fields);
  });

  test('may be written until its deadline by both the wall clock and a monotonic clock', async () => {
    const { sent, clock } = await sending({ kind: 'started', taskId: 'n:1' });
    const may = (wall: number, steady: number) => {
      Object.assign(clock, { wall, steady });
      return sent[0]!.maySend();
    };
    expect(may(1999, 99)).toBe(true);
    expect(may(2000, 99)).toBe(false);
    expect(may(1999, 100)).toBe(false);
    expect(may(0, 100)).toBe(false);
  });
});

describe('what came back', () => {
  test('a task id makes the record running', async () => {
    const { result, ledger, record } = await sending({ kind: 'started', taskId: 'n:1' });
    const running = { state: 'running', attempt: { taskId: 'n:1', answeredRealAt: 1007 } };
    expect(result).toMatchObject({ kind: 'open', record: running });
    expect(result).not.toHaveProperty('error');
    expect(await ledger.read(anIndex)).toMatchObject({ ...running, attemptId: record.attemptId });
  });

  test('a task id that cannot be stored is logged', async () => {
    const { logged } = await sending({ kind: 'started', taskId: 'n:1' }, 'delete-by-query', false);
    expect(logged).toEqual([['task id', { index: anIndex, taskId: 'n:1' }]]);
  });

  test.each([
    ['delete-by-query', false, 'delete-by-query'],
    ['delete-by-query', true, 'unknown'],
    ['reindex', true, 'reindex'],
    ['reindex', false, 'reindex'],
  ] as const)(
    'an error for a %s that mentions a reindex (%s) leaves it sending, as %s',
    async (strategy, mentionsReindex, noted) => {
      const { result, ledger } = await sending({ kind: 'unresolved', error, mentionsReindex }, strategy);
      const record = { state: 'sending', attempt: { strategy: noted, answer: { error, realAt: 1007 } } };
      expect(result).toMatchObject({ kind: 'open', error, record });
      expect(await ledger.read(anIndex)).toMatchObject(record);
    },
  );

  test('proof that nothing was written is returned, and the record is left to be settled', async () => {
    const { result, ledger, record } = await sending({ kind: 'not-sent', why: 'withheld' });
    expect(result).toEqual({ kind: 'not-sent', why: 'withheld' });
    expect(await ledger.read(anIndex)).toEqual(record);
  });

  test('leaves the record sending when it cannot be recorded', async () => {
    const { result, ledger, record } = await sending({ kind: 'started', taskId: 'n:1' });
    expect(result?.kind).toBe('open');
    ledger.stored.set(anIndex, { ...record, attemptId: 'another' });
    expect(await ledger.read(anIndex)).toMatchObject({ attemptId: 'another' });
  });
});
