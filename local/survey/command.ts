import { existsSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { lookup } from '../../lambda/operations/http/lookup.ts';
import { preflight } from '../../lambda/preflight/preflight.ts';
import type { Server } from '../files/server.ts';
import { connect } from '../run/connect.ts';
import type { Screen } from '../screen/progress.ts';
import { wrap } from '../screen/text.ts';
import { type Survey, survey } from './count.ts';
import { hints } from './hints.ts';
import { renderChecks, renderFailures, renderSizes, renderTable } from './render.ts';
import { suggest } from './suggestion.ts';

/** Reads are tried fewer times than in a run: somebody sits there and can start again. */
const attempts = 2;

/**
 * Surveys a server, read-only, and prints what it found.
 * @param jsonPath where a policies file is written to begin with
 * @returns the exit status: 1 when something needs a person, else 0
 */
export async function surveyServer(server: Server, screen: Screen, jsonPath: string | undefined): Promise<number> {
  const { operations, close } = connect(server, attempts);
  const now = Date.now();
  const print = (lines: string[]) => screen.write(`${lines.join('\n')}\n`);
  try {
    print([`Survey of ${server.baseUrl}, read-only: nothing is changed.`, '', 'Preflight:']);
    const flight = await preflight({
      gmsUrl: server.baseUrl,
      onLambda: false,
      token: server.tokenText,
      now,
      lookup,
      operations,
    });
    print(renderChecks(flight.checks, screen.width));
    if (!flight.canCount) {
      print([
        '',
        ...renderSizes(flight.sizes ?? []),
        ...wrap(`Nothing can be counted until what FAILED above is put right.${unwritten(jsonPath)}`, screen.width),
      ]);
      return 1;
    }
    const found = await survey(operations, flight.sizes, now);
    print(['', ...renderSurvey(found, screen.width, now)]);
    const written = writeSuggestions(found, screen, jsonPath);
    const failed = flight.checks.some(({ state }) => state === 'failed') || found.stopped !== undefined;
    return failed || !written || found.indices.some(({ counts }) => counts.kind === 'failed') ? 1 : 0;
  } finally {
    await close();
  }
}

function renderSurvey(found: Survey, width: number, now: number): string[] {
  if (found.indices.length === 0) return ['There is no time series index.'];
  return [
    ...wrap('Rows older than so many days, and what would remain without them:', width),
    '',
    ...renderTable(found.indices, width),
    ...prefixed('', renderFailures(found, width)),
    ...prefixed(
      'What to know:',
      hints(found, now).flatMap((hint) => wrap(hint, width, '- ')),
    ),
    ...prefixed(
      'Policies to begin with:',
      suggest(found).flatMap(({ reason }) => wrap(reason, width, '- ')),
    ),
  ];
}

const prefixed = (title: string, lines: string[]): string[] =>
  lines.length === 0 ? [] : ['', ...(title === '' ? [] : [title]), ...lines];

/** @returns whether what was asked for is written */
function writeSuggestions(found: Survey, screen: Screen, jsonPath: string | undefined): boolean {
  const policies = suggest(found).map(({ policy }) => policy);
  const say = (text: string) => screen.write(`\n${wrap(text, screen.width).join('\n')}\n`);
  if (jsonPath === undefined) {
    if (policies.length > 0) say('With --json FILE these are written as a policies file to edit.');
    return true;
  }
  if (policies.length === 0) {
    say(`No index could be counted, so there is no policy to suggest.${unwritten(jsonPath)}`);
    return false;
  }
  const lines = policies.map((policy) => `  ${JSON.stringify(policy)}`);
  const kept = keepFormer(jsonPath);
  writeFileSync(jsonPath, `[\n${lines.join(',\n')}\n]\n`);
  say(
    `Written to ${jsonPath}, to be edited.${kept} See what a run would do, without changing anything, by adding: --policies ${jsonPath}`,
  );
  return true;
}

/** Somebody may have edited what an earlier survey wrote, and what was kept then: no copy takes the place of another. */
function keepFormer(path: string): string {
  if (!existsSync(path) || statSync(path).size === 0) return '';
  let copy = `${path}.old`;
  for (let number = 2; existsSync(copy); number++) copy = `${path}.old${number}`;
  renameSync(path, copy);
  return ` What was there before is in ${copy}.`;
}

const unwritten = (jsonPath: string | undefined): string =>
  jsonPath === undefined ? '' : ` ${jsonPath} was not written.`;
