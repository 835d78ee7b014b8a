import * as z from 'zod';
import { parseJson } from '../gms/responses/json-value.ts';
import { dueOf, outcomes, results } from '../model/outcomes.ts';
import type { PolicyEntry, Report } from '../model/report-schema.ts';
import { dottedName } from '../policy/aspects.ts';
import { type Ledger, LedgerError } from './ledger.ts';
import { visibleText } from './record.ts';

/**
 * The last runs in short, kept beside the records for people: when, by whom, and what became of each index. No
 * decision reads them, and a run does not fail because they cannot be read or written.
 */

const count = z.int().nonnegative().optional();

/** Of what an earlier run has sent, decided or released, and this one reports: that run, and who asked for it. */
const earlier = { run: visibleText.optional(), by: visibleText.optional() };

const runSchema = z.looseObject({
  runId: visibleText,
  /** ISO 8601 UTC. */
  finishedAt: visibleText,
  by: visibleText.optional(),
  jobVersion: visibleText.optional(),
  result: z.enum(results).or(visibleText),
  /** Of each index that had something to do. */
  indices: z.array(
    z.looseObject({
      name: visibleText,
      outcome: z.enum(outcomes).or(visibleText),
      rowsDeleted: count,
      rowsLeftBehind: count,
      rowsMissing: count,
      rowsNotVisible: count,
      approvedRows: count,
      /** Of what was sent, or may have been: rows up to the cutoff (epoch milliseconds) were to go. */
      retentionDays: z.number().optional(),
      cutoffMillis: z.number().optional(),
      /** Of a verdict, by which it is known where several runs report it. */
      decidedAt: visibleText.optional(),
      ...earlier,
    }),
  ),
  released: z
    .array(z.looseObject({ name: visibleText, accepted: count, unproven: z.boolean().optional(), ...earlier }))
    .optional(),
  notReleased: z.array(visibleText).optional(),
});

export type RunSummary = z.infer<typeof runSchema>;

/** Stands for whoever asked for an earlier run without giving a name. */
const unnamed = 'somebody';

const max = { runs: 30, bytes: 100_000 } as const;

/** Where they are kept: one text beside the records, where no listing of records looks. Throws LedgerError. */
export interface RunStore {
  readRuns(): Promise<string | undefined>;
  /** @returns false if another writer was first: the text is no longer `before` */
  replaceRuns(next: string, before: string | undefined): Promise<boolean>;
}

/**
 * Whether a ledger without a record is new, or has lost its records: no run has been kept yet, or one has sent
 * something. False where that cannot be read.
 */
export async function isNewOrLost({ runs }: Ledger): Promise<boolean> {
  try {
    const stored = await runs?.readRuns();
    return stored === undefined || haveSent(parseRuns(stored));
  } catch (error) {
    if (error instanceof LedgerError) return false;
    throw error;
  }
}

const storedRuns = (stored: string | undefined): unknown[] =>
  z.object({ runs: z.array(z.unknown()) }).safeParse(parseJson(stored ?? '')).data?.runs ?? [];

const parseRun = (run: unknown): RunSummary | undefined => runSchema.safeParse(run).data;

/** The newest first; entries that this version cannot read are left out. */
export const parseRuns = (stored: string | undefined): RunSummary[] =>
  storedRuns(stored).flatMap((run) => parseRun(run) ?? []);

export const haveSent = (runs: readonly RunSummary[]): boolean =>
  runs.some(({ indices }) => indices.some(({ cutoffMillis }) => cutoffMillis !== undefined));

/** The same text with one more run; the oldest go first until they fit. Entries of other versions stay as they are. */
export function withRun(stored: string | undefined, run: RunSummary): string {
  const runs = [run, ...storedRuns(stored).filter((one) => parseRun(one)?.runId !== run.runId)].slice(0, max.runs);
  const written = (): string => `${JSON.stringify({ version: 1, runs })}\n`;
  while (runs.length > 1 && Buffer.byteLength(written()) >= max.bytes) runs.pop();
  return written();
}

/** Keeps one more run. A write that loses a race is repeated once, with the new content. Throws LedgerError. */
export async function keepRun(store: RunStore, run: RunSummary): Promise<void> {
  for (let tries = 0; tries < 2; tries++) {
    const before = await store.readRuns();
    if (await store.replaceRuns(withRun(before, run), before)) return;
  }
  throw new LedgerError('Other runs kept changing the list of last runs while this one was being added.');
}

/** A call that has not left has a method, too: that of its attempt. */
const mayBeSent = ({ method, outcome, cause }: PolicyEntry): boolean =>
  method !== undefined && outcome !== 'not-started' && !('sent' in cause && cause.sent === 'no');

export function summaryOfRun(report: Report): RunSummary {
  const { runId, finishedAt, by, jobVersion, result, policies, notes = [] } = report;
  const earlierOf = (run: string | undefined, asked: string | undefined, isOther: boolean) => ({
    run: run === runId ? undefined : run,
    by: asked === by ? undefined : (asked ?? (isOther ? unnamed : undefined)),
  });
  const released = notes
    .filter((note) => note.kind === 'released')
    .map(({ index: name, accepted, unknown, decidedBy, by }) => ({
      name,
      accepted,
      unproven: unknown !== undefined || undefined,
      ...earlierOf(decidedBy, by, decidedBy !== runId),
    }));
  const notReleased = notes.flatMap((note) =>
    note.kind === 'not-released' && note.why !== 'idle' ? [note.index] : [],
  );
  return {
    runId,
    finishedAt,
    by,
    jobVersion,
    result,
    indices: policies
      .filter(({ outcome }) => dueOf[outcome] !== 'no')
      .map((entry) => ({
        name: dottedName(entry),
        outcome: entry.outcome,
        rowsDeleted: entry.rowsDeleted,
        rowsLeftBehind: entry.rowsLeftBehind,
        rowsMissing: entry.rowsMissing || undefined,
        rowsNotVisible: entry.rowsNotVisible || undefined,
        approvedRows: entry.approvedRows,
        ...(mayBeSent(entry) && { retentionDays: entry.retentionDays, cutoffMillis: entry.cutoffMillis }),
        decidedAt: entry.decidedAt,
        ...earlierOf(entry.decidedBy, entry.by, mayBeSent(entry) && entry.resumed === true),
      })),
    released: released.length > 0 ? released : undefined,
    notReleased: notReleased.length > 0 ? notReleased : undefined,
  };
}
