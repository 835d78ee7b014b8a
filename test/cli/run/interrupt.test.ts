import { describe, expect, it } from 'vitest';
import { whatGoesOn } from '../../../cli/run/interrupt.ts';
import { memoryLedger } from '../../../lambda/ledger/memory.ts';
import { anIdle, anIndex, aQuarantined, aReserved, aRunning, aSending, aServer } from '../../support/records.ts';

describe('what an interrupted run says', () => {
  it('names every task that goes on, and how to pick it up again', async () => {
    const ledger = memoryLedger();
    await ledger.replace(undefined, aRunning());
    const lines = await whatGoesOn(ledger);
    expect(lines).toContain('  dataset.operation: task node:1 is still running on the server.');
    expect(lines.at(-1)).toContain('Start the same command again');
    // In a cluster nobody can start the same command again.
    expect((await whatGoesOn(ledger, true)).at(-1)).toMatch(/^The next run continues: it picks up what is there/);
  });

  it('says that a truncation which was just being sent may have begun', async () => {
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

  const head = { version: 1, index: anIndex, entityType: 'dataset', aspect: 'operation', server: aServer };

  it.each(['running', 'sending', 'a state of its own'])(
    'says that a record of another version in the state "%s" may be a running truncation',
    async (state) => {
      const ledger = memoryLedger();
      ledger.stored.set(anIndex, { ...head, state, judgeableAt: 5 });
      const lines = await whatGoesOn(ledger);
      expect(lines[0]).toBe('Stopped, but perhaps not on the server:');
      expect(lines[1]).toBe(
        `  dataset.operation: its ledger record (version 1) cannot be read by this program, but says "${state}": a truncation may be running.`,
      );
      expect(lines.join(' ')).not.toMatch(/Nothing is running|picks up/);
    },
  );

  it('names a record that cannot be read', async () => {
    const ledger = memoryLedger();
    ledger.stored.set(anIndex, { garbage: 1 });
    expect(await whatGoesOn(ledger)).toContain(
      `  ${anIndex}: its ledger record cannot be read; a truncation may be running.`,
    );
  });

  it('names both a task of ours and one of another version', async () => {
    const ledger = memoryLedger();
    await ledger.replace(undefined, aRunning());
    ledger.stored.set('another', { ...head, index: 'another', aspect: 'another', state: 'running' });
    const lines = await whatGoesOn(ledger);
    expect(lines).toContain('  dataset.operation: task node:1 is still running on the server.');
    expect(lines.join('\n')).toMatch(/dataset\.another: its ledger record .version 1. cannot be read by this program/);
    expect(lines[0]).toBe('Stopped, but not on the server:');
    expect(lines.slice(-2)).toEqual([
      expect.stringContaining('Start the same command again'),
      expect.stringContaining('leaves alone what it cannot read: finish it with the version that wrote it'),
    ]);
  });

  it.each(['idle', 'reserved', 'quarantined'])(
    'says that nothing runs where a record of another version is %s',
    async (state) => {
      const ledger = memoryLedger();
      ledger.stored.set(anIndex, { ...head, state });
      expect(await whatGoesOn(ledger)).toEqual(['Stopped. Nothing is running on the server on behalf of this ledger.']);
    },
  );
});
