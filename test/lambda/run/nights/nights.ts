import type { PolicyEntry, Report } from '../../../../lambda/facts/report-schema.ts';
import type { LedgerRecord, Running } from '../../../../lambda/ledger/record.ts';
import { composeMessage } from '../../../../lambda/notification/message.ts';
import type { Deployment } from '../../../support/deployment.ts';
import { anIndex } from '../../../support/records.ts';

/** What the tests of whole nights have in common. */

export const hour = 3_600_000;
export const day = 24 * hour;
export const name = 'dataset.operation';
export const operation = { entityType: 'dataset', aspect: 'operation', retentionDays: 30 };
export const slow = { ...operation, batchSize: 10 };
export const asReindex = { ...operation, strategy: 'reindex' };

export const recordOf = async ({ ledger }: Deployment) => (await ledger.read(anIndex)) as LedgerRecord;
export async function runningOf(deployment: Deployment): Promise<Running> {
  const record = await recordOf(deployment);
  if (record.state !== 'running') throw new Error(`the record is ${record.state}`);
  return record;
}
export const entryOf = (report: Report, aspect = 'operation'): PolicyEntry => {
  const entry = report.policies.find((policy) => policy.aspect === aspect);
  if (!entry) throw new Error(`the report has no ${aspect}`);
  return entry;
};
export const mailOf = (report: Report): string => composeMessage(report).email;

/** Rows with the beginning of yesterday as their timestamp, like daily usage. */
export const ofYesterday = ({ clock }: Deployment, count: number): number[] =>
  Array(count).fill(Math.floor(clock.time / day) * day - day);

/** Answers real truncates with a status, and lets the server act after this time, or never if it is omitted. */
export function answersTruncates({ service }: Deployment, status: number, actsAfterMillis?: number): void {
  service.engine.onRequest = ({ body }) => {
    if (!body.includes('"dryRun":false')) return undefined;
    const answer = { kind: 'status', status } as const;
    return actsAfterMillis === undefined
      ? { kind: 'fail-before', answer }
      : { kind: 'act-then', answer, actsAfterMillis };
  };
}
