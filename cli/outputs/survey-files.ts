import { type Audience, runByHand } from '../../lambda/message/sentences/audience.ts';
import { shellWord } from '../../lambda/message/sentences/text.ts';
import { type Findings, policiesText } from '../telling/findings.ts';
import type { Output } from '../telling/output.ts';
import { type OutputFile, writeAndTell } from './output-file.ts';
import { surveyPage } from './pages/survey-page.ts';

/** The files of a survey. */
interface SurveyFiles {
  /** Where the suggested policies are written. */
  json?: OutputFile<'policies'>;
  /** Where the page with the results is written. */
  html?: OutputFile<'page'>;
}

interface PageFacts {
  /** The server's address. */
  baseUrl: string;
  /** What the page calls this DataHub. */
  name?: string;
  /** How this survey was started, for the next step. */
  audience: Audience;
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
  { baseUrl, name, audience, clean }: PageFacts,
  output: Output,
): boolean {
  if (findings === undefined) {
    const unwritten = [json, html].flatMap((file) =>
      file && file.path !== '-' ? ` ${file.path} was not written.` : [],
    );
    output.note(`Nothing can be counted until that is fixed.${unwritten.join('')}`);
    return false;
  }
  const isWritten = json === undefined || writeSuggestions(findings, json, output, audience);
  const hasPage = writeAndTell(html, () => surveyPage(findings, baseUrl, name, clean), output);
  return isWritten && hasPage;
}

/** @returns whether the file was written */
function writeSuggestions(
  { suggestions }: Findings,
  json: OutputFile<'policies'>,
  output: Output,
  audience: Audience,
): boolean {
  if (suggestions.length === 0) {
    output.note('No index could be counted, so there is no policy to suggest.');
    return false;
  }
  if (!writeAndTell(json, () => policiesText(suggestions), output)) return false;
  const line =
    json.path === '-'
      ? undefined
      : runByHand({ mode: 'preview' }, { ...audience, policies: shellWord(json.path) } as Audience);
  if (line) output.note('Edit them as needed. To see what a run would do, without changing anything:', [`  ${line}`]);
  return true;
}
