import {
  type Attempt,
  type Idle,
  type Judged,
  type LastVerdict,
  LEDGER_VERSION,
  type LedgerRecord,
  type Quarantined,
  type Running,
  type Sending,
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
  policyCutoffMillis: 500_000,
  fields: {
    entityType: 'dataset',
    aspect: 'operation',
    cutoffMillis: 500_000,
    batchSize: 10_000,
    forceDeleteByQuery: true,
  },
  announcesReindex: false,
  reindexes: false,
  baseline: { rowsToDelete: 60, rowsTotal: 100, rowsToKeep: 40, countedAtMillis: 1_000_000 },
  sendingSince: 1_200_000,
  sendBy: 1_400_000,
  judgeableAt: 2_000_000,
  ...fields,
});

export const aVerdict = (fields: Partial<Verdict> = {}): Verdict => ({
  outcome: 'truncated',
  cause: { kind: 'verified' },
  rowsDeleted: 60,
  rowsRemaining: 0,
  reindexes: false,
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

const base = { version: LEDGER_VERSION, ...aKey, revision: 1 } as const;

export const anIdle = (fields: Partial<Idle> = {}): Idle => ({ ...base, state: 'idle', ...fields });

export const aSending = (fields: Partial<Sending> = {}): Sending => ({
  ...base,
  state: 'sending',
  lastSender: aRun,
  attempt: anAttempt(),
  ...fields,
});

export const aRunning = (fields: Partial<Running> = {}): Running => ({
  ...base,
  state: 'running',
  lastSender: aRun,
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

/** Judged by run-0, and to be told: rows are missing, unless `fields` say otherwise. */
export function aJudged(fields: Partial<Judged> = {}): Judged {
  const { lastVerdict, attempt } = aQuarantined();
  const { outcome, rowsMissing } = (fields.lastVerdict ?? lastVerdict).verdict;
  return {
    ...base,
    state: 'judged',
    lastVerdict,
    attempt,
    taskId: 'node:1',
    decision: { ...decidedBy, id: '1@900000', becomes: 'quarantined', outcome, rowsMissing },
    ...fields,
  };
}

/** One of each state. */
export const aRecordOfEachState = (): LedgerRecord[] => [anIdle(), aSending(), aRunning(), aJudged(), aQuarantined()];
