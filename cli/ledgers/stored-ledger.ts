import * as z from 'zod';
import { parseJson } from '../../lambda/gms/responses/json-value.ts';
import type { Ledger } from '../../lambda/ledger/ledger.ts';
import { visibleText } from '../../lambda/ledger/record.ts';
import type { RunStore } from '../../lambda/ledger/runs.ts';
import { results } from '../../lambda/model/outcomes.ts';
import type { Report } from '../../lambda/model/report-schema.ts';
import { moment } from '../../lambda/report/sentences/numbers.ts';

/**
 * The last run that used a ledger, a preview or a release among them: `status` begins with it. It is kept beside the
 * records and decides nothing.
 */
const lastRunSchema = z.object({
  runId: visibleText,
  /** ISO 8601, UTC. */
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  server: visibleText.optional(),
  jobVersion: visibleText.optional(),
  verb: z.enum(['preview', 'enforce', 'release']),
  result: z.enum(results),
  subject: visibleText,
  /** Its report went to a reader who had gone, and nowhere else. */
  unread: z.boolean().optional(),
});

export type LastRun = z.infer<typeof lastRunSchema>;

/** A ledger that outlives the process: in a folder, or in ConfigMaps. */
export interface StoredLedger extends Ledger, LastRunStore {
  runs: RunStore;
  /**
   * Makes it if it is missing, and tries whether it can be written, without storing a record.
   * @throws LedgerError
   */
  prepare(): void | Promise<void>;
  /**
   * Whether there is one: only a folder that does not exist is an empty ledger.
   * @throws LedgerError where that cannot be seen
   */
  exists(): boolean;
}

/** Where the last run of any verb is kept, as text. */
export interface LastRunStore {
  last: RunStore;
}

/** @returns undefined if there is none, or it cannot be understood. Throws LedgerError. */
export async function readLastRun({ last }: LastRunStore): Promise<LastRun | undefined> {
  return lastRunSchema.safeParse(parseJson((await last.readRuns()) ?? '')).data;
}

/** Of two runs that end at the same moment, either may count as the last. Throws LedgerError. */
export async function keepLastRun({ last }: LastRunStore, run: LastRun): Promise<void> {
  await last.replaceRuns(`${JSON.stringify(run)}\n`, await last.readRuns());
}

export const lastRunOf = (
  { runId, startedAt, finishedAt, server, jobVersion, result }: Report,
  verb: LastRun['verb'],
  subject: string,
): LastRun => ({ runId, startedAt, finishedAt, server, jobVersion, verb, result, subject });

/** For people, as lines. */
export function lastRunLines(run: LastRun | undefined): string[] {
  if (run === undefined) return ['Last run  none is known'];
  const { finishedAt, verb, result, subject, runId, jobVersion, unread } = run;
  const version = jobVersion === undefined ? '' : `, version ${jobVersion}`;
  return [
    `Last run  ${moment(Date.parse(finishedAt))}: ${verb}, ${result} (${runId}${version})`,
    `  ${subject}`,
    ...(unread ? ['  Its report was not read: its output was closed before it, and no message was posted.'] : []),
  ];
}
