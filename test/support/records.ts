import {
  type Attempt,
  type AttemptWindow,
  type Idle,
  LEDGER_VERSION,
  type LedgerRecord,
  type Quarantined,
  type Reserved,
  type Running,
  type Sending,
  type SentAttempt,
  type Verdict,
} from '../../lambda/ledger/record.ts';

/** Ledger records with plausible fields, for tests. */

export const aServer = 'http://localhost:1';
export const anIndex = 'dataset_operationaspect_v1';
export const aKey = { index: anIndex, entityType: 'dataset', aspect: 'operation', server: aServer };
export const aRun = { runId: 'run-1', runStartMillis: 1_000_000 };

export const anAttempt = (fields: Partial<Attempt> = {}): Attempt => ({
  ...aRun,
  retentionDays: 30,
  strategy: 'delete-by-query',
  fields: {
    entityType: 'dataset',
    aspect: 'operation',
    endTimeMillis: 500_000,
    batchSize: 10_000,
    forceDeleteByQuery: true,
  },
  reservedAt: 1_000_000,
  sendBy: 1_400_000,
  ...fields,
});

export const aWindow: AttemptWindow = { role: 'kept', from: 500_000, to: 1_000_000, rows: 40 };

export const aSentAttempt = (fields: Partial<SentAttempt> = {}): SentAttempt => ({
  ...anAttempt(),
  sendingSince: 1_200_000,
  sentRealAt: 1_200_000,
  baseline: { rowsTotal: 100, rowsToDelete: 60, indexName: 'dataset_operationaspect_v1_0000000000100' },
  ...fields,
});

export const aVerdict = (fields: Partial<Verdict> = {}): Verdict => ({
  attemptId: 'attempt-0',
  runId: 'run-0',
  runStartMillis: 800_000,
  decidedAt: 900_000,
  window: { from: 400_000, to: 800_000, rows: 40, countedAt: 900_000 },
  entry: {
    entityType: 'dataset',
    aspect: 'operation',
    outcome: 'truncated',
    cause: { kind: 'verified', by: 'counts' },
  },
  ...fields,
});

const base = { version: LEDGER_VERSION, ...aKey } as const;
const attempted = { attemptId: 'attempt-1', judgeableAt: 2_000_000 } as const;

export const anIdle = (fields: Partial<Idle> = {}): Idle => ({ ...base, state: 'idle', ...fields });

export const aReserved = (fields: Partial<Reserved> = {}): Reserved => {
  const { attempt = anAttempt() } = fields;
  return { ...base, ...attempted, state: 'reserved', attempt, judgeableAt: attempt.sendBy, ...fields };
};

export const aSending = (fields: Partial<Sending> = {}): Sending => ({
  ...base,
  ...attempted,
  state: 'sending',
  windows: [aWindow],
  attempt: aSentAttempt(),
  ...fields,
});

export const aRunning = (fields: Partial<Running> = {}): Running => ({
  ...base,
  ...attempted,
  state: 'running',
  windows: [aWindow],
  attempt: { ...aSentAttempt(), taskId: 'node:1', answeredRealAt: 1_200_500 },
  ...fields,
});

export const aQuarantined = (fields: Partial<Quarantined> = {}): Quarantined => ({
  ...base,
  attemptId: 'attempt-0',
  state: 'quarantined',
  windows: [aWindow],
  lastVerdict: aVerdict({
    entry: {
      entityType: 'dataset',
      aspect: 'operation',
      outcome: 'rows-missing',
      cause: { kind: 'missing', expected: 40, found: 10 },
      rowsMissing: 30,
    },
  }),
  ...fields,
});

/** One of each state. */
export const aRecordOfEachState = (): LedgerRecord[] => [anIdle(), aReserved(), aSending(), aRunning(), aQuarantined()];
