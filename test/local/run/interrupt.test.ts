import { describe, expect, it } from 'vitest';
import { memoryLedger } from '../../../lambda/ledger/memory.ts';
import { whatGoesOn } from '../../../local/run/interrupt.ts';
import { anIdle, aQuarantined, aReserved, aRunning, aSending } from '../../support/records.ts';

describe('what an interrupted run says', () => {
  it('names every task that goes on, and how to pick it up', async () => {
    const ledger = memoryLedger();
    await ledger.replace(undefined, aRunning());
    const lines = await whatGoesOn(ledger);
    expect(lines).toContain('  dataset.operation: task node:1 goes on running on the server.');
    expect(lines.at(-1)).toContain('Start the same command again');
  });

  it('does not know yet of a truncation that was just being sent', async () => {
    const ledger = memoryLedger();
    await ledger.replace(undefined, aSending());
    expect(await whatGoesOn(ledger)).toContain(
      '  dataset.operation: a truncation was being sent; whether it arrived is not known yet.',
    );
  });

  it.each([anIdle(), aReserved(), aQuarantined()])(
    'says that nothing runs where the record is $state',
    async (record) => {
      const ledger = memoryLedger();
      await ledger.replace(undefined, record);
      expect(await whatGoesOn(ledger)).toEqual(['Stopped. Nothing is running on the server on behalf of this ledger.']);
    },
  );
});
