import { describe, expect, test } from 'vitest';
import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import type { Operations, Truncation } from '../../../lambda/gms/operations.ts';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import { fence } from '../../../lambda/ledger/transitions.ts';
import { send } from '../../../lambda/truncation/send.ts';
import { aKey, anIndex, aSending } from '../../support/records.ts';

/** The one call: until when it may be sent, and what is recorded about its answer (rule 4). */

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
  const asked: (() => boolean)[] = [];
  const operations = {
    async truncate(_: unknown, maySend: () => boolean) {
      asked.push(maySend);
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
  return { result, ledger, clock, logged, asked };
}

test.each([
  ['before its deadline by both clocks', 1999, 99, true],
  ['not at its deadline by the wall clock', 2000, 99, false],
  ['not at its deadline by the monotonic clock, whatever the wall clock says', 1500, 100, false],
  ['not when the wall clock was set back, and time has passed', 0, 5000, false],
])('the call may be written %s', async (_, wall, steady, expected) => {
  const { result, asked, clock } = await sending(started);
  await result;
  Object.assign(clock, { wall, steady });
  expect(asked[0]?.()).toBe(expected);
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

  test('is stored beside what a later run has written about itself meanwhile', async () => {
    const late = { runId: 'run-2', runStartMillis: 5_000_000 };
    const { result, ledger } = await sending(started, (stored) =>
      stored.replace(fence(aSending(), aKey, late, late.runStartMillis) ?? aSending()),
    );
    expect(await result).toMatchObject({ kind: 'sent', record: { state: 'running', revision: 3, lastSender: late } });
    expect(await ledger.read(anIndex)).toMatchObject({ state: 'running', taskId: 'n:1' });
  });
});
