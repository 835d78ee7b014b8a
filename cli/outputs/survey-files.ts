import { shellWord } from '../../lambda/text/text.ts';
import { type Reader, runByHand } from '../../lambda/words/reader.ts';
import { type Findings, policiesText } from '../telling/findings.ts';
import type { Output } from '../telling/output.ts';
import { type OutputFile, WriteError, writeOutputFile } from './output-file.ts';
import { surveyPage } from './pages/survey-page.ts';

/** The files of a survey. */
export interface SurveyFiles {
  /** Where the suggested policies are written. */
  json?: OutputFile;
  /** Where the page with the results is written. */
  html?: OutputFile;
}

export interface Surveyed {
  /** The server's address. */
  baseUrl: string;
  /** What the page calls this DataHub. */
  name?: string;
  /** How this survey was started, for the next step. */
  reader: Reader;
  /** Removes secrets from the page. */
  clean(text: string): string;
}

/**
 * @param findings undefined if nothing could be counted
 * @returns whether what was asked for is written
 */
export function writeSurvey(
  findings: Findings | undefined,
  { json, html }: SurveyFiles,
  { baseUrl, name, reader, clean }: Surveyed,
  output: Output,
): boolean {
  if (findings === undefined) {
    const unwritten = [json, html].flatMap((file) =>
      file && file.path !== '-' ? ` ${file.path} was not written.` : [],
    );
    output.note(`Nothing can be counted until that is fixed.${unwritten.join('')}`);
    return false;
  }
  const isWritten = json === undefined || writeSuggestions(findings, json, output, reader);
  const hasPage = html === undefined || writePage(() => surveyPage(findings, baseUrl, name, clean), html, output);
  return isWritten && hasPage;
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

/** @returns whether the file was written */
function writePage(make: () => string, html: OutputFile, output: Output): boolean {
  try {
    writeOutputFile(html, make());
  } catch (error) {
    if (!(error instanceof WriteError)) throw error;
    output.problem(error.message);
    return false;
  }
  output.written('page', html.path);
  return true;
}
