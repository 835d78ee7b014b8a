import { capped } from '../gms/text.ts';
import { addressElsewhere } from '../ledger/ownership.ts';
import type { Attempt, LastVerdict, LedgerRecord } from '../ledger/record.ts';
import { isSameRun } from '../ledger/transitions.ts';
import { textsForPeople } from '../model/policy-fields.ts';
import type { IndexData } from '../model/report-schema.ts';
import { sentAttempt } from './entries.ts';
import type { Entry, Planned, RunState } from './state.ts';

/**
 * What people see of an index: the only place where figures for them are derived. Each part of an entry says more than
 * those before it: its policy, what was counted before the call, the attempt in its record, and how that ended.
 */
export function view(entry: Entry, run: Pick<RunState, 'runId' | 'runStartMillis' | 'server'>): IndexData {
  const { names, policy, plan, record, resumed } = entry;
  const attempt = sentAttempt(entry);
  const verdict = entry.phase === 'done' && !entry.decision ? entry.record.lastVerdict : undefined;
  return {
    ...names,
    retentionDays: policy?.retentionDays,
    ...(policy && textsForPeople(policy)),
    ...(plan && ofPlan(plan)),
    ...(attempt && record && ofAttempt(attempt, record)),
    ...ofLastCount(entry, attempt),
    ...ofToday(entry),
    ...(verdict && ofVerdict(verdict)),
    minDeletePercent: verdict?.verdict.rowsRemaining ? policy?.minDeletePercent : undefined,
    server: serverShown(entry, run),
    resumed: verdict && !isSameRun(verdict, run) ? true : resumed,
  };
}

const ofPlan = ({ cutoffMillis, indexName, counts, limited }: Planned): Partial<IndexData> => ({
  cutoffMillis,
  policyCutoffMillis: limited?.policyCutoffMillis,
  announced: counts?.method,
  rowsTotal: counts?.rowsTotal,
  rowsToDelete: counts?.rowsToDelete,
  rowsPastRetention: limited?.rowsPastRetention,
  indexName,
});

/** It works even if the run that sent the truncation is long gone. */
const ofAttempt = ({ fields, baseline, ...attempt }: Attempt, record: LedgerRecord): Partial<IndexData> => ({
  entityType: fields.entityType,
  aspect: fields.aspect,
  retentionDays: attempt.retentionDays,
  cutoffMillis: fields.cutoffMillis,
  policyCutoffMillis: attempt.policyCutoffMillis === fields.cutoffMillis ? undefined : attempt.policyCutoffMillis,
  announced: attempt.announced,
  method: attempt.method,
  rowsTotal: baseline.rowsTotal,
  rowsToDelete: baseline.rowsToDelete,
  approvedRows: attempt.approvedRows,
  by: attempt.by && capped(attempt.by),
  taskId: 'taskId' in record ? record.taskId : undefined,
  indexName: baseline.indexName,
});

/** Without a verdict, as of the last check. Not of a reindex: rows not found may be only in the old index. */
function ofLastCount(entry: Entry, attempt: Attempt | undefined): Partial<IndexData> {
  if (entry.phase !== 'done' || !entry.decision) return {};
  const { rowsLeft, decision, plan } = entry;
  const { cause } = decision;
  // It may have been sent, as it was announced.
  const isUnknown = cause.kind === 'step-failed' && cause.sent === 'maybe' && plan?.counts?.method === 'reindex';
  if (isUnknown) return { method: 'reindex' };
  if (attempt === undefined || rowsLeft === undefined || attempt.method === 'reindex') return {};
  return { rowsDeleted: Math.max(0, attempt.baseline.rowsToDelete - rowsLeft), rowsRemaining: rowsLeft };
}

/** A quarantined index has today's numbers. */
function ofToday(entry: Entry): Partial<IndexData> {
  const cause = entry.phase === 'done' ? entry.decision?.cause : undefined;
  const today = cause?.kind === 'quarantined' ? cause.today : undefined;
  if (today === undefined || 'error' in today || !today.inPlace) return {};
  const rows = Math.max(0, today.expected - today.found);
  const { notVisible, unwritten = 0 } = today;
  return notVisible ? { rowsMissing: unwritten || undefined, rowsNotVisible: rows - unwritten } : { rowsMissing: rows };
}

/** The fields of this version: a verdict in the ledger may have others. */
const ofVerdict = ({ verdict, decided }: LastVerdict): Partial<IndexData> => ({
  method: verdict.method,
  rowsDeleted: verdict.rowsDeleted,
  rowsLeftBehind: verdict.rowsLeftBehind,
  rowsRemaining: verdict.rowsRemaining,
  rowsMissing: verdict.rowsMissing,
  rowsNotVisible: verdict.rowsNotVisible,
  noIndex: verdict.noIndex,
  indexNow: verdict.indexNow,
  durationSeconds: verdict.durationSeconds,
  decidedAt: new Date(decided.atMillis).toISOString(),
  decidedBy: capped(decided.runId),
});

/** The address that a verdict is about, where it is not this run's: an unresolved truncation's is in its cause. */
function serverShown(entry: Entry, run: Pick<RunState, 'server'>): string | undefined {
  if (entry.phase !== 'done' || entry.record === undefined) return undefined;
  if (entry.decision && entry.decision.outcome !== 'quarantined') return undefined;
  const address = addressElsewhere(entry.record, run);
  return address === undefined ? undefined : capped(address);
}
