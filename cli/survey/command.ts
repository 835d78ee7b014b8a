import { redactor } from '../../lambda/facts/secrets.ts';
import { shellWord } from '../../lambda/facts/text.ts';
import { LedgerError } from '../../lambda/ledger/ledger.ts';
import type { StoredRecord } from '../../lambda/ledger/record.ts';
import { type Reader, runByHand } from '../../lambda/words/reader.ts';
import type { Server } from '../inputs/server.ts';
import { type OutputFile, WriteError, writeOutputFile } from '../outputs/output-file.ts';
import { surveyPage } from '../outputs/pages/survey-page.ts';
import { connect } from '../run/connect.ts';
import { UsageError } from '../telling/mistakes.ts';
import type { Output } from '../telling/output.ts';
import { checkServer } from './checks.ts';
import { survey } from './count.ts';
import { type Findings, findingsOf } from './findings.ts';
import { policiesText } from './suggestion.ts';

/** Fewer attempts per read than in a run: someone is watching and can start again. */
const attempts = { failed: 2, timedOut: 1 };

export interface SurveyOptions {
  /** Where the suggested policies are written. */
  json?: OutputFile | undefined;
  /** Where the page with the results is written. */
  html?: OutputFile | undefined;
  /** How this survey was started, for the next step. */
  reader: Reader;
  /** What the page calls this DataHub. */
  name?: string | undefined;
  /** This job's own ledger, which depends on whether the server is a sample. */
  records(isSample: boolean): Promise<StoredRecord[]>;
}

/**
 * Surveys a server, read-only, and reports what it found.
 * @returns the exit status: 1 if something needs attention, else 0; the page does not affect it
 */
export async function surveyServer(server: Server, output: Output, options: SurveyOptions): Promise<number> {
  const { json, html, name, reader } = options;
  const { operations, isSample, close } = connect(server, { attempts, asking: output.asking });
  const now = Date.now();
  try {
    const { baseUrl, tokenText: token } = server;
    const { checks, sizes, canCount, refusesForceField } = await checkServer({ baseUrl, token, operations, now });
    output.checks(checks);
    if (!canCount) {
      const unwritten = [json, html].flatMap((file) =>
        file && file.path !== '-' ? ` ${file.path} was not written.` : [],
      );
      output.note(`Nothing can be counted until that is fixed.${unwritten.join('')}`);
      return 1;
    }
    const found = await survey(operations, sizes, now, { refusesForceField, onIndex: output.counted });
    const findings = findingsOf(found, checks, await recordsOf(options, isSample()), now);
    output.survey(findings);
    const clean = redactor([token]);
    const written = json === undefined || writeSuggestions(findings, json, output, reader);
    if (html) writePage(() => surveyPage(findings, baseUrl, name, clean), html, output);
    const failed = checks.some(({ state }) => state === 'failed') || found.stopped !== undefined;
    return failed || !written || found.indices.some(({ counts }) => counts.kind === 'failed') ? 1 : 0;
  } finally {
    await close();
  }
}

/** A survey needs no ledger: one that cannot be read says nothing. */
async function recordsOf({ records }: SurveyOptions, isSample: boolean): Promise<StoredRecord[]> {
  try {
    return await records(isSample);
  } catch (error) {
    // Where there is no home folder, there is no ledger either.
    if (error instanceof LedgerError || error instanceof UsageError) return [];
    throw error;
  }
}

/** @returns whether the file was written */
function writeSuggestions({ suggestions }: Findings, json: OutputFile, output: Output, reader: Reader): boolean {
  if (suggestions.length === 0) {
    output.note('No index could be counted, so there is no policy to suggest.');
    return false;
  }
  try {
    writeOutputFile(json, policiesText(suggestions));
  } catch (error) {
    if (!(error instanceof WriteError)) throw error;
    output.problem(error.message);
    return false;
  }
  output.written('policies', json.path);
  const line =
    json.path === '-'
      ? undefined
      : runByHand({ mode: 'preview' }, { ...reader, policies: shellWord(json.path) } as Reader);
  if (line) output.note(`Edit them as needed. To see what a run would do, without changing anything:\n  ${line}`);
  return true;
}

/** A picture never changes how a survey ends: whatever goes wrong here is reported, and nothing is thrown. */
function writePage(make: () => string, html: OutputFile, output: Output): void {
  try {
    writeOutputFile(html, make());
    output.written('page', html.path);
  } catch (error) {
    if (!(error instanceof WriteError)) throw error;
    output.problem(error.message);
  }
}
