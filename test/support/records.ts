import type {
  Attempt,
  Idle,
  LastVerdict,
  LedgerRecord,
  Quarantined,
  Running,
  Sending,
  Verdict,
} from '../../lambda/ledger/record.ts';

/** Ledger records with plausible fields, for tests. */

export const aServer = 'http://localhost:1';
export const anIndex = 'dataset_operationaspect_v1';
export const aKey = { index: anIndex, entityType: 'dataset', aspect: 'operation', server: aServer };
export const aRun = { runId: 'run-1', runStartMillis: 1_000_000 };

export const anAttempt = (fields: Partial<Attempt> = {}): Attempt => ({
  ...aRun,
  retentionDays: 30,
  policyCutoffMillis: 500_000,
  fields: {
    entityType: 'dataset',
    aspect: 'operation',
    cutoffMillis: 500_000,
    batchSize: 10_000,
    forceDeleteByQuery: true,
  },
  announced: 'delete',
  method: 'delete',
  baseline: { rowsToDelete: 60, rowsTotal: 100, rowsToKeep: 40, countedAtMillis: 1_000_000 },
  sendingSince: 1_200_000,
  sendBy: 1_400_000,
  judgeableAt: 2_000_000,
  ...fields,
});

/** Of a truncation that the server announced as a reindex. */
export const aReindex = (fields: Partial<Attempt> = {}): Attempt =>
  anAttempt({ announced: 'reindex', method: 'reindex', ...fields });

export const aVerdict = (fields: Partial<Verdict> = {}): Verdict => ({
  outcome: 'truncated',
  cause: { kind: 'verified' },
  rowsDeleted: 60,
  rowsRemaining: 0,
  method: 'delete',
  ...fields,
});

/** The run of `aLastVerdict`, and when it decided. */
export const decidedBy = { runId: 'run-0', runStartMillis: 800_000, atMillis: 900_000 };

export const aLastVerdict = (fields: Partial<LastVerdict> = {}): LastVerdict => ({
  runId: 'run-0',
  runStartMillis: 800_000,
  decided: { ...decidedBy },
  verdict: aVerdict(),
  ...fields,
});

const base = { ...aKey, revision: 1, unreported: false, lastSender: aRun } as const;

export const anIdle = (fields: Partial<Idle> = {}): Idle => ({ ...base, state: 'idle', ...fields });

export const aSending = (fields: Partial<Sending> = {}): Sending => ({
  ...base,
  state: 'sending',
  attempt: anAttempt(),
  ...fields,
});

export const aRunning = (fields: Partial<Running> = {}): Running => ({
  ...base,
  state: 'running',
  attempt: anAttempt(),
  taskId: 'node:1',
  ...fields,
});

export const aQuarantined = (fields: Partial<Quarantined> = {}): Quarantined => ({
  ...base,
  state: 'quarantined',
  lastVerdict: aLastVerdict({
    verdict: aVerdict({
      outcome: 'rows-missing',
      cause: { kind: 'missing', expected: 40, found: 10 },
      rowsMissing: 30,
    }),
  }),
  attempt: anAttempt(),
  ...fields,
});

/** Released by run-0, which no report has included yet. */
export const aReleased = (fields: Partial<Idle> = {}): Idle =>
  anIdle({ unreported: true, lastRelease: { decided: { ...decidedBy }, release: { missing: 0 } }, ...fields });

/** One of each state, and those that wait for a report. */
export const aRecordOfEachState = (): LedgerRecord[] => [
  anIdle(),
  anIdle({ unreported: true, lastVerdict: aLastVerdict(), attempt: anAttempt() }),
  aReleased(),
  aSending(),
  aRunning(),
  aQuarantined({ unreported: true }),
  aQuarantined(),
];
