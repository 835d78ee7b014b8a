import { describe, expect, test } from 'vitest';
import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import { fence, withdraw } from '../../../lambda/ledger/transitions.ts';
import type { Operations, Truncation } from '../../../lambda/operations/operations.ts';
import { send } from '../../../lambda/truncation/send.ts';
import { aKey, anIndex, aRun, aSending, aVerdict } from '../../support/records.ts';

/** The one call: until when it may be sent, and what is recorded about its answer (rule 4). */

const error = { kind: 'server-error', operation: 'truncate', status: 500 } as const;
const started: Truncation = { kind: 'started', taskId: 'n:1' };

/** @param meanwhile happens to the ledger before the answer arrives */
async function sending(
  answer: Truncation,
  meanwhile: (ledger: ReturnType<typeof memoryLedger>) => Promise<unknown> = async () => {},
) {
  const ledger = memoryLedger();
  const record = aSending();
  await ledger.replace(record);
  const clock = { wall: 1000, steady: 50 };
  const logged: unknown[] = [];
  const sent: { fields: unknown; maySend: () => boolean }[] = [];
  const operations = {
    async truncate(fields: unknown, maySend: () => boolean) {
      sent.push({ fields, maySend });
      await meanwhile(ledger);
      return answer;
    },
  } as unknown as Operations;
  const result = send(
    record,
    { wall: 2000, monotonic: 100 },
    {
      operations,
      ledger,
      log: { info: (...line: unknown[]) => void logged.push(line) },
      clock: { now: () => clock.wall, monotonic: () => clock.steady, sleep: async () => {} },
    },
  );
  return { result, record, ledger, clock, logged, sent };
}

describe('the call', () => {
  test('is made once, with exactly the fields of the record', async () => {
    const { result, sent, record } = await sending(started);
    await result;
    expect(sent.map(({ fields }) => fields)).toEqual([record.attempt.fields]);
  });

  test.each([
    ['before its deadline by both clocks', 1999, 99, true],
    ['not at its deadline by the wall clock', 2000, 99, false],
    ['not at its deadline by the monotonic clock, whatever the wall clock says', 1500, 100, false],
    ['not when the wall clock was set back, and time has passed', 0, 5000, false],
  ])('may be written %s', async (_, wall, steady, expected) => {
    const { result, sent, clock } = await sending(started);
    await result;
    Object.assign(clock, { wall, steady });
    expect(sent[0]?.maySend()).toBe(expected);
  });
});

describe('its answer', () => {
  test('with a task id is logged before it is stored, and makes the record running', async () => {
    const { result, ledger, logged } = await sending(started, async (stored) => {
      stored.replace = async () => {
        throw new LedgerError('the table is out of reach');
      };
    });
    await expect(result).rejects.toThrow(LedgerError);
    expect(logged).toEqual([['task id', { index: anIndex, taskId: 'n:1' }]]);
    expect(await ledger.read(anIndex)).toMatchObject({ state: 'sending' });
  });

  test('without one leaves it open, with what the server said', async () => {
    const { result, ledger } = await sending({ kind: 'unresolved', error });
    expect(await result).toMatchObject({ kind: 'open', error });
    expect(await ledger.read(anIndex)).toMatchObject({ state: 'sending', attempt: { answer: error } });
  });

  test('that proves that nothing was sent changes no record', async () => {
    const { result, ledger } = await sending({ kind: 'not-sent', why: 'withheld' });
    expect(await result).toEqual({ kind: 'not-sent', why: 'withheld' });
    expect(await ledger.read(anIndex)).toMatchObject({ state: 'sending', revision: 1 });
  });

  test('is stored beside what a later run has written about itself meanwhile', async () => {
    const late = { runId: 'run-2', runStartMillis: 5_000_000 };
    const { result, ledger } = await sending(started, (stored) =>
      stored.replace(fence(aSending(), aKey, late, late.runStartMillis)),
    );
    expect(await result).toMatchObject({ kind: 'open', record: { state: 'running', revision: 3, lastSender: late } });
    expect(await ledger.read(anIndex)).toMatchObject({ state: 'running', taskId: 'n:1' });
  });

  test('does not undo a verdict that was written meanwhile', async () => {
    const { result, ledger } = await sending(started, (stored) =>
      stored.replace(withdraw(aSending(), aVerdict(), { ...aRun, atMillis: 3_000_000 })),
    );
    await result;
    expect(await ledger.read(anIndex)).toMatchObject({ state: 'idle', revision: 2 });
  });
});
