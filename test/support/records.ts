import type { Attempt, LedgerRecord, Verdict } from '../../lambda/ledger/record.ts';

/** Ledger records with plausible fields, for tests. */

export const aServer = 'http://127.0.0.1:1';
export const anIndex = 'dataset.operation';

export const anAttempt = (fields: Partial<Attempt> = {}): Attempt => ({
  attemptId: 'attempt-1',
  runId: 'run-1',
  runStartMillis: 1_000_000,
  retentionDays: 30,
  strategy: 'delete-by-query',
  fields: {
    entityType: 'dataset',
    aspect: 'operation',
    endTimeMillis: 500_000,
    batchSize: 10_000,
    forceDeleteByQuery: true,
  },
  sendBy: 1_400_000,
  judgeableAt: 2_000_000,
  ...fields,
});

export const aBaseline = { rowsTotal: 100, rowsToDelete: 60, rowsKept: 40 };

export const aVerdict = (fields: Partial<Verdict> = {}): Verdict => ({
  attemptId: 'attempt-0',
  runId: 'run-0',
  decidedAt: 900_000,
  rowsAfter: 40,
  entry: { entityType: 'dataset', aspect: 'operation', outcome: 'truncated', reason: 'done' },
  ...fields,
});

export const aRecord = (fields: Partial<LedgerRecord> = {}): LedgerRecord => ({
  version: 1,
  server: aServer,
  index: anIndex,
  state: 'idle',
  ...fields,
});
