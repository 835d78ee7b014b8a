import { redactor } from '../../lambda/facts/secrets.ts';
import { shellWord } from '../../lambda/facts/text.ts';
import type { Night } from '../../lambda/memory/night.ts';
import type { LocalCommand } from '../../lambda/notification/context.ts';
import { localLine } from '../../lambda/notification/next/commands.ts';
import { lookup } from '../../lambda/operations/http/lookup.ts';
import { type Preflight, preflight } from '../../lambda/preflight/preflight.ts';
import { type OutputFile, WriteError, writeOutputFile } from '../files/output-file.ts';
import type { Server } from '../files/server.ts';
import type { Output } from '../output/output.ts';
import { surveyPage } from '../pages/survey-page.ts';
import { drawPage } from '../pages/write.ts';
import { fastClock } from '../run/clock.ts';
import { connect } from '../run/connect.ts';
import { firstChecks } from '../run/first-checks.ts';
import { type Survey, survey } from './count.ts';
import { policiesText, suggest } from './suggestion.ts';

/** Fewer attempts per read than in a run: someone is watching and can start again. */
const attempts = 2;

export interface SurveyOptions {
  /** Where the suggested policies are written. */
  json?: OutputFile;
  /** Where the page with the results is written. */
  html?: OutputFile;
  /** How this survey was started, for the next step. */
  command: LocalCommand;
  /** What the page calls this DataHub. */
  name?: string;
  /** Waits are cut short. */
  fast?: boolean;
  /** Remarks about the files that the command line names. */
  remarks?: readonly string[];
  /** The remembered nights of this server, by search index. */
  nightsOf?(isSample: boolean): Promise<ReadonlyMap<string, readonly Night[]>>;
}

/**
 * Surveys a server, read-only, and reports what it found.
 * @returns the exit status: 1 if something needs attention, else 0; the page does not affect it
 */
export async function surveyServer(
  server: Server,
  output: Output,
  { json, html, command, fast = false, name, remarks = [], nightsOf }: SurveyOptions,
): Promise<number> {
  const { operations, isSample, close } = connect(server, {
    attempts,
    asking: output.asking,
    ...(fast && { sleep: fastClock().sleep }),
  });
  const now = Date.now();
  try {
    output.header({
      server: server.baseUrl,
      ...(server.from && { from: server.from }),
      mode: 'survey',
      embedded: false,
      fast,
    });
    for (const remark of remarks) output.note(remark);
    output.preflight(await firstChecks(server), false);
    const flight = await preflight({
      gmsUrl: server.baseUrl,
      onLambda: false,
      token: server.tokenText,
      now,
      lookup,
      operations,
      onChecks: (checks) => output.preflight(checks, false),
    });
    output.preflight(flight.checks, true);
    if (!mayCount(flight)) {
      output.sizes(flight.sizes ?? []);
      output.note(`Nothing can be counted until what FAILED above is fixed.${unwritten(json)}${unwritten(html)}`);
      return 1;
    }
    const found = await survey(operations, flight.sizes, now, output.counted);
    output.survey(found, now);
    const written = writeSuggestions(found, now, output, json, command);
    if (html) {
      const nights = nightsOf ? () => nightsOf(isSample()) : async () => undefined;
      const page = async () =>
        surveyPage({
          survey: found,
          checks: flight.checks,
          server: server.baseUrl,
          ...(name !== undefined && { name }),
          now,
          nights: await nights(),
        });
      await drawPage(page, { file: html, output, clean: redactor([server.tokenText]) });
    }
    const failed = flight.checks.some(({ state }) => state === 'failed') || found.stopped !== undefined;
    return failed || !written || found.indices.some(({ counts }) => counts.kind === 'failed') ? 1 : 0;
  } finally {
    output.close();
    await close();
  }
}

/** Counts even if only the preflight's dry run timed out: one slow index says nothing about the others. */
export const mayCount = ({ canCount, checks }: Pick<Preflight, 'canCount' | 'checks'>): boolean =>
  canCount ||
  checks.some(
    ({ cause }) => cause.kind === 'refused' && cause.error.kind === 'timeout' && cause.error.operation === 'dry-run',
  );

/** @returns whether the requested files were written */
function writeSuggestions(
  found: Survey,
  now: number,
  output: Output,
  json: OutputFile | undefined,
  command: LocalCommand,
): boolean {
  const suggestions = suggest(found, now);
  if (json === undefined) {
    if (suggestions.length > 0) output.note('With --json FILE these are written as a policies file to edit.');
    return true;
  }
  if (suggestions.length === 0) {
    output.note(`No index could be counted, so there is no policy to suggest.${unwritten(json)}`);
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
  if (json.path !== '-') {
    output.note(
      `Edit them as needed. To see what a run would do, without changing anything:\n  ${localLine('preview', { ...command, policies: shellWord(json.path) })}`,
    );
  }
  return true;
}

const unwritten = (json: OutputFile | undefined): string =>
  json === undefined || json.path === '-' ? '' : ` ${json.path} was not written.`;
