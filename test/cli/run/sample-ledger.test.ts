import { expect, test } from 'vitest';
import { sampleLedger } from '../../../cli/run/sample-ledger.ts';
import { memoryLedger } from '../../../lambda/ledger/memory.ts';
import { standing } from '../../../lambda/ledger/standing.ts';
import { markRunning } from '../../../lambda/ledger/transitions.ts';
import { anIdle, anIndex, aReserved, aRun, aRunning, aSending, aServer } from '../../support/records.ts';

/** The times that `--fast` leaves in a ledger of sample data are ahead of the next process's clock. */

const now = 1_000_000;
const ahead = now + 36_000_000;
const us = { runId: 'next', runStartMillis: now, server: aServer };
const sending = aSending({
  judgeableAt: ahead,
  attempt: { ...aSending().attempt, ...aRun, sendingSince: ahead, sendBy: ahead },
});

test('times in the future count as now, so that a truncation of an earlier process is picked up', async () => {
  const inner = memoryLedger();
  inner.stored.set(anIndex, sending);
  const record = await sampleLedger(inner, () => now).read(anIndex);
  expect(record).toMatchObject({ judgeableAt: now, attempt: { sendingSince: now, sendBy: now } });
  expect(standing(record, us, now).kind).toBe('theirs');
  expect(standing(await inner.read(anIndex), us, now).kind).toBe('foreign');
});

test('a reservation that ends in the future is over', async () => {
  const inner = memoryLedger();
  const attempt = { ...aReserved().attempt, sendBy: ahead };
  inner.stored.set(anIndex, aReserved({ judgeableAt: ahead, attempt }));
  const [record] = await sampleLedger(inner, () => now).list();
  expect(standing(record, us, now).kind).toBe('free');
});

test('a record with changed times can be replaced, unless another process has written meanwhile', async () => {
  const inner = memoryLedger();
  inner.stored.set(anIndex, sending);
  const ledger = sampleLedger(inner, () => now);
  const record = await ledger.read(anIndex);
  expect(await ledger.replace(record, anIdle({ attemptId: 'b' }))).toBe(true);
  expect(await ledger.replace(record, anIdle({ attemptId: 'c' }))).toBe(false);
});

test('records that this process has written are not changed', async () => {
  const ledger = sampleLedger(memoryLedger(), () => now);
  const running = markRunning(sending, 'n:1', now);
  expect(await ledger.replace(undefined, sending)).toBe(true);
  expect(await ledger.read(anIndex)).toMatchObject({ judgeableAt: ahead });
  expect(await ledger.replace(sending, running)).toBe(true);
  expect(await ledger.read(anIndex)).toMatchObject({ state: 'running', attempt: { sendingSince: ahead } });
});

test('records without a truncation are not changed', async () => {
  const inner = memoryLedger();
  inner.stored.set(anIndex, anIdle());
  const ledger = sampleLedger(inner, () => now);
  expect(await ledger.read(anIndex)).toEqual(anIdle());
  expect(await ledger.read('another')).toBeUndefined();
  inner.stored.set(anIndex, aRunning());
  expect(await ledger.read(anIndex)).toMatchObject({
    state: 'running',
    attempt: { taskId: aRunning().attempt.taskId },
  });
});
