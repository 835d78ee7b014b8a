import { describe, expect, it } from 'vitest';
import { memoryLedger } from '../../../lambda/ledger/memory.ts';
import type { LedgerRecord } from '../../../lambda/ledger/record.ts';
import { whatGoesOn } from '../../../local/run/interrupt.ts';

function record(aspect: string, state: LedgerRecord['state'], taskId?: string): LedgerRecord {
  return {
    version: 1,
    server: 'http://gms:8080',
    index: `dataset.${aspect}`,
    state,
    attemptId: 'a',
    attempt: {
      attemptId: 'a',
      runId: 'run',
      runStartMillis: 0,
      strategy: 'delete-by-query',
      fields: { entityType: 'dataset', aspect, endTimeMillis: 0 },
      sendBy: 1,
      judgeableAt: 2,
      ...(taskId !== undefined && { taskId }),
    },
  };
}

describe('what an interrupted run says', () => {
  it('names every task that goes on, and how to pick it up', async () => {
    const ledger = memoryLedger();
    await ledger.replace(undefined, record('operation', 'running', 'node:7'));
    const lines = await whatGoesOn(ledger);
    expect(lines).toContain('  dataset.operation: task node:7 goes on running on the server.');
    expect(lines.at(-1)).toContain('Start the same command again');
  });

  it('does not know yet of a truncation that was just being sent', async () => {
    const ledger = memoryLedger();
    await ledger.replace(undefined, record('operation', 'sending'));
    expect(await whatGoesOn(ledger)).toContain(
      '  dataset.operation: a truncation was being sent; whether it arrived is not known yet.',
    );
  });

  it.each(['idle', 'reserved', 'quarantined'] as const)(
    'says that nothing runs where the record is %s',
    async (state) => {
      const ledger = memoryLedger();
      await ledger.replace(undefined, record('operation', state));
      expect(await whatGoesOn(ledger)).toEqual(['Stopped. Nothing is running on the server on behalf of this ledger.']);
    },
  );
});
