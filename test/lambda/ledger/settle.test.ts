import { describe, expect, test } from 'vitest';
import type { DecidedFacts } from '../../../lambda/facts/report-schema.ts';
import { memoryLedger } from '../../../lambda/ledger/memory.ts';
import { type Judgement, settle, settleIdle } from '../../../lambda/ledger/settle.ts';
import { conclude } from '../../../lambda/ledger/transitions.ts';
import { anIdle, anIndex, aRunning, aVerdict, aWindow } from '../../support/records.ts';

const now = 9_000_000;
const from = { entityType: 'dataset', aspect: 'operation', rowsToDelete: 60, adopted: true };
const judgement: Judgement = {
  outcome: 'truncated',
  cause: { kind: 'verified', by: 'counts' },
  facts: { rowsDeleted: 60 },
  closes: 'idle',
  window: { from: 1, to: 2, rows: 3 },
};
const decided: DecidedFacts = {
  ...from,
  rowsDeleted: 60,
  outcome: 'truncated',
  cause: { kind: 'verified', by: 'counts' },
};

async function holding(record = aRunning()) {
  const ledger = memoryLedger();
  await ledger.replace(undefined, record);
  return { ledger, record };
}

describe('settle', () => {
  test('writes verdict, record and entry from one judgement', async () => {
    const { ledger, record } = await holding();
    expect(await settle(ledger, record, from, judgement, now)).toEqual({ kind: 'decided', entry: decided });
    const { adopted: _, ...lasting } = decided;
    expect(await ledger.read(anIndex)).toEqual({
      ...anIdle({ attemptId: 'attempt-1' }),
      lastVerdict: {
        attemptId: 'attempt-1',
        runId: record.attempt.runId,
        runStartMillis: record.attempt.runStartMillis,
        decidedAt: now,
        window: { ...judgement.window, countedAt: now },
        entry: lasting,
      },
    });
  });

  test('keeps the previous verdict’s window if this one counted none', async () => {
    const { ledger, record } = await holding(aRunning({ lastVerdict: aVerdict() }));
    const { window: _, ...uncounted } = judgement;
    await settle(ledger, record, from, uncounted, now);
    expect(await ledger.read(anIndex)).toMatchObject({
      lastVerdict: { attemptId: 'attempt-1', decidedAt: now, window: aVerdict().window },
    });
  });

  test.each(['dataset_operationaspect_v1_1700000000000', undefined])(
    'remembers %s as the index that is known to be whole',
    async (provenName) => {
      const { ledger, record } = await holding();
      await settle(ledger, record, from, { ...judgement, ...(provenName !== undefined && { provenName }) }, now);
      const verdict = (await ledger.read(anIndex)) as { lastVerdict?: object };
      expect(Object.entries(verdict.lastVerdict ?? {}).filter(([name]) => name === 'provenName')).toEqual(
        provenName === undefined ? [] : [['provenName', provenName]],
      );
    },
  );

  test('closes the index to every later run if the judgement says so', async () => {
    const { ledger, record } = await holding();
    await settle(ledger, record, from, { ...judgement, outcome: 'rows-missing', closes: 'quarantined' }, now);
    expect(await ledger.read(anIndex)).toMatchObject({ state: 'quarantined', windows: record.windows });
  });

  test('leaves the record unchanged if the judgement does not close it, and decides only this run’s entry', async () => {
    const { ledger, record } = await holding();
    const left = { ...judgement, outcome: 'unknown', cause: { kind: 'unsettled', why: 'hung' }, closes: 'no' } as const;
    expect(await settle(ledger, record, from, left, now)).toMatchObject({
      kind: 'decided',
      entry: { outcome: 'unknown' },
    });
    expect(await ledger.read(anIndex)).toEqual(record);
  });

  test('returns the verdict of the run that was first, and marks only this run’s entry as adopted', async () => {
    const { ledger, record } = await holding();
    const entry = {
      entityType: 'dataset',
      aspect: 'operation',
      outcome: 'incomplete',
      cause: { kind: 'remains', why: 'rows' },
    } as const;
    const first = aVerdict({ attemptId: record.attemptId, entry });
    await ledger.replace(record, conclude(record, first));
    expect(await settle(ledger, record, from, judgement, now)).toEqual({
      kind: 'decided',
      entry: { ...entry, adopted: true },
    });
    const { adopted: _, ...own } = from;
    expect(await settle(ledger, record, own, judgement, now)).toEqual({ kind: 'decided', entry });
  });

  test.each([
    ['another attempt has its verdict there', aVerdict({ attemptId: 'other' })],
    ['there is no verdict', undefined],
  ])('reports that another run was first if the record has changed and %s', async (_, lastVerdict) => {
    const { ledger, record } = await holding();
    ledger.stored.set(anIndex, anIdle({ attemptId: 'other', ...(lastVerdict && { lastVerdict }) }));
    expect(await settle(ledger, record, from, judgement, now)).toEqual({ kind: 'overtaken' });
  });

  test('reports that another run was first if another version took the record over, or it is gone', async () => {
    const { ledger, record } = await holding();
    ledger.stored.set(anIndex, { ...record, version: 9 });
    expect(await settle(ledger, record, from, judgement, now)).toEqual({ kind: 'overtaken' });
    ledger.stored.delete(anIndex);
    expect(await settle(ledger, record, from, judgement, now)).toEqual({ kind: 'overtaken' });
  });
});

describe('settleIdle', () => {
  const run = { runId: 'run-7', runStartMillis: 5 };
  const closing = { entry: decided, windows: [aWindow], run, id: 'new', now };

  test('closes an index without a truncation, under a new attempt id', async () => {
    const ledger = memoryLedger();
    const idle = anIdle();
    await ledger.replace(undefined, idle);
    expect(await settleIdle(ledger, idle, closing)).toBe(true);
    expect(await ledger.read(anIndex)).toMatchObject({
      state: 'quarantined',
      attemptId: 'new',
      windows: [aWindow],
      lastVerdict: { attemptId: 'new', ...run, decidedAt: now },
    });
  });

  test('writes nothing if another run has changed the record since', async () => {
    const ledger = memoryLedger();
    await ledger.replace(undefined, anIdle({ attemptId: 'other' }));
    expect(await settleIdle(ledger, anIdle(), closing)).toBe(false);
    expect(await ledger.read(anIndex)).toEqual(anIdle({ attemptId: 'other' }));
  });
});
