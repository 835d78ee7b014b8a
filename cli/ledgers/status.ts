import {
  type Decision,
  decisionOf,
  headOf,
  isUnresolved,
  type LastVerdict,
  type LedgerRecord,
  namesOfRecord,
  type StoredRecord,
} from '../../lambda/ledger/record.ts';
import { iso } from '../../lambda/message/numbers.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import type { LastRun } from './last-run.ts';

/** What the ledger knows of one index. Times are ISO 8601 UTC. */
export interface IndexStatus {
  /** As policies name it. */
  name: string;
  state: StoredRecord['state'];
  /** Since when it has been in this state, where that is known. */
  since?: string;
  server?: string;
  taskId?: string;
  rowsToDelete?: number;
  rowsMissing?: number;
  lastOutcome?: string;
  lastDecidedAt?: string;
  rowsDeleted?: number;
  /** When a person released it last. */
  releasedAt?: string;
  /** What no report is known to have included yet. */
  unreported?: ('verdict' | 'release')[];
}

export function statusOf(record: StoredRecord): IndexStatus {
  if (record.state === 'other-version') {
    const { server } = headOf(record);
    const name = dottedName(namesOfRecord(record));
    const decision = decisionOf(record);
    return {
      name,
      state: record.state,
      server,
      since: decision && iso(decision.atMillis),
      rowsMissing: decision?.rowsMissing,
      lastOutcome: decision?.outcome,
      unreported: unreportedOf(decision),
    };
  }
  const { server, state, lastVerdict } = record;
  const now = { name: dottedName(record), state, server, since: sinceOf(record) };
  const taskId = 'taskId' in record ? record.taskId : undefined;
  const rowsToDelete = isUnresolved(record) ? record.attempt.baseline.rowsToDelete : undefined;
  const isMissing = state === 'quarantined' || state === 'judged';
  const rowsMissing = isMissing ? lastVerdict?.verdict.rowsMissing : undefined;
  const releasedAt = record.lastRelease && iso(record.lastRelease.decided.atMillis);
  const unreported = unreportedOf(state === 'judged' ? record.decision : undefined);
  return { ...now, taskId, rowsToDelete, rowsMissing, releasedAt, unreported, ...(lastVerdict && last(lastVerdict)) };
}

const unreportedOf = (decision: Decision | undefined): IndexStatus['unreported'] =>
  decision && [
    ...(decision.outcome === undefined ? [] : ['verdict' as const]),
    ...(decision.released ? ['release' as const] : []),
  ];

function sinceOf(record: LedgerRecord): string | undefined {
  switch (record.state) {
    case 'idle':
      return undefined;
    case 'judged':
      return iso(record.decision.atMillis);
    case 'quarantined':
      return iso(record.lastVerdict.decided.atMillis);
    default:
      return iso(record.attempt.sendingSince);
  }
}

const last = ({ decided, verdict }: LastVerdict) => ({
  lastOutcome: verdict.outcome,
  lastDecidedAt: iso(decided.atMillis),
  rowsDeleted: verdict.rowsDeleted,
});

/** `status --json`. */
export const statusJson = (records: readonly StoredRecord[], lastRun: LastRun | undefined): string =>
  `${JSON.stringify({ version: 1, lastRun, indices: records.map(statusOf) }, null, 2)}\n`;
