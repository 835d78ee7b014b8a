import { lookup } from '../../lambda/operations/http/lookup.ts';
import { preflight } from '../../lambda/preflight/preflight.ts';
import { type JsonFile, WriteError, writeJsonFile } from '../files/json-file.ts';
import type { Server } from '../files/server.ts';
import type { Output } from '../output/output.ts';
import { connect } from '../run/connect.ts';
import { firstChecks } from '../run/first-checks.ts';
import { type Survey, survey } from './count.ts';
import { suggest } from './suggestion.ts';

/** Reads are tried fewer times than in a run: somebody sits there and can start again. */
const attempts = 2;

/**
 * Surveys a server, read-only, and tells what it found.
 * @param remarks what the person should know of the files that were named
 * @param json where a policies file is written to begin with
 * @returns the exit status: 1 when something needs a person, else 0
 */
export async function surveyServer(
  server: Server,
  output: Output,
  json: JsonFile | undefined,
  remarks: readonly string[] = [],
): Promise<number> {
  const { operations, close } = connect(server, { attempts, asking: output.asking });
  const now = Date.now();
  try {
    output.header({ server: server.baseUrl, mode: 'survey', embedded: false, fast: false });
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
    if (!flight.canCount) {
      output.sizes(flight.sizes ?? []);
      output.note(`Nothing can be counted until what FAILED above is put right.${unwritten(json)}`);
      return 1;
    }
    const found = await survey(operations, flight.sizes, now, output.counted);
    output.survey(found, now);
    const written = writeSuggestions(found, now, output, json);
    const failed = flight.checks.some(({ state }) => state === 'failed') || found.stopped !== undefined;
    return failed || !written || found.indices.some(({ counts }) => counts.kind === 'failed') ? 1 : 0;
  } finally {
    output.close();
    await close();
  }
}

/** @returns whether what was asked for is written */
function writeSuggestions(found: Survey, now: number, output: Output, json: JsonFile | undefined): boolean {
  const policies = suggest(found, now).map(({ policy }) => policy);
  if (json === undefined) {
    if (policies.length > 0) output.note('With --json FILE these are written as a policies file to edit.');
    return true;
  }
  if (policies.length === 0) {
    output.note(`No index could be counted, so there is no policy to suggest.${unwritten(json)}`);
    return false;
  }
  const lines = policies.map((policy) => `  ${JSON.stringify(policy)}`);
  try {
    writeJsonFile(json, `[\n${lines.join(',\n')}\n]\n`);
  } catch (error) {
    if (!(error instanceof WriteError)) throw error;
    output.problem(error.message);
    return false;
  }
  output.written('policies', json.path);
  if (json.path !== '-') {
    output.note(
      `They are to be edited. See what a run would do, without changing anything, by adding: --policies ${json.path}`,
    );
  }
  return true;
}

const unwritten = (json: JsonFile | undefined): string =>
  json === undefined || json.path === '-' ? '' : ` ${json.path} was not written.`;
