import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { LedgerError } from '../../lambda/ledger/ledger.ts';
import type { StoredRecord } from '../../lambda/ledger/record.ts';
import { haveSent, parseRuns } from '../../lambda/ledger/runs.ts';
import { shellWord } from '../../lambda/report/guide/words.ts';
import type { CommandLine } from '../command-line/read.ts';
import { UsageError } from '../events/mistakes.ts';
import { defaultLedgerPath, ledgerAt } from '../ledgers/choose.ts';
import { statusJson } from '../ledgers/status.ts';
import { lastRunLines, readLastRun } from '../ledgers/stored-ledger.ts';
import { outputFile, writeOutputFile } from '../outputs/output-file.ts';
import { runsText, statusText } from '../outputs/status.ts';
import type { ProcessContext } from './process-context.ts';

/** `status`: what the ledger holds, and the last run. @throws UsageError */
export async function status(
  commandLine: CommandLine,
  { env, print, width, program }: ProcessContext,
): Promise<number> {
  const { ledger: named } = commandLine;
  const folder = named ?? defaultLedgerPath(env, false);
  const file = outputFile('status', commandLine);
  const ledger = ledgerAt(folder, env);
  let records: StoredRecord[];
  const unreadable: string[] = [];
  /** Neither the last run nor the list of runs decides anything: without them, the records are shown all the same. */
  const keepProblem = (error: unknown): undefined => {
    if (!(error instanceof LedgerError)) throw error;
    unreadable.push(error.message);
  };
  try {
    if (named !== undefined && !ledger.exists())
      throw new LedgerError(`The ledger ${resolve(folder)} does not exist: name another with --ledger.`);
    records = await ledger.list();
  } catch (error) {
    if (error instanceof LedgerError) throw new UsageError(error.message);
    throw error;
  }
  const lastRun = await readLastRun(ledger).catch(keepProblem);
  const stored = await ledger.runs.readRuns().catch(keepProblem);
  const runs = parseRuns(stored);
  if (stored !== undefined && runs.length === 0)
    unreadable.push('The list of the last runs is damaged; the next run that enforces or releases begins it anew.');
  if (unreadable.length > 0 && (file !== undefined || commandLine.runs)) throw new UsageError(unreadable.join('\n'));
  if (file !== undefined) {
    writeOutputFile(file, statusJson(records, lastRun, runs));
    return 0;
  }
  // A pod that names its ledger may have no home folder.
  const samples = named === undefined ? defaultLedgerPath(env, true) : undefined;
  print(`${[...unreadable, ...lastRunLines(lastRun)].join('\n')}\nLedger  ${folder}\n`);
  if (commandLine.runs) {
    print(runs.length === 0 ? 'No run that enforces or releases is known.\n' : runsText(runs, width));
    return 0;
  }
  const isLost = haveSent(runs) && 'although its last runs (--runs) have truncated: find out where its records are';
  const noRecord = `It has no record, ${isLost || 'as before the first truncation'}.\n`;
  print(records.length === 0 ? noRecord : statusText(records, width));
  if (samples !== undefined && existsSync(samples))
    print(`\nRuns on sample data have a ledger of their own: ${program} status --ledger ${shellWord(samples)}\n`);
  return 0;
}
