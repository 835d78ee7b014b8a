import { readFileSync } from 'node:fs';
import { nearest } from '../lambda/policy/nearest.ts';
import { guideOf } from '../lambda/report/guide/guides.ts';
import { anchorOf, sectionNames, sectionOf, withCommandsOf } from '../lambda/report/guide/runbook.ts';
import { audienceOf } from './command-line/audience.ts';
import type { CommandLine } from './command-line/read.ts';
import type { ProcessContext } from './commands/process-context.ts';
import { UsageError } from './events/mistakes.ts';

/** In the repository and in the package alike: beside the folder of the program. */
const runbookFile = new URL('../docs/runbook.md', import.meta.url);

/**
 * `runbook [SECTION]`: what to do when a message asks for it.
 * @returns the section; without a name, the names of all
 * @throws UsageError
 */
export function runbook(commandLine: CommandLine, { program, env }: Pick<ProcessContext, 'program' | 'env'>): string {
  const [section] = commandLine.words;
  const text = readFileSync(runbookFile, 'utf8');
  const names = sectionNames(text).map(anchorOf);
  const list = names.map((name) => `  ${name}`);
  if (section === undefined)
    return ['The sections of the runbook:', ...list, `${program} runbook SECTION prints one.`].join('\n');
  const found = sectionOf(text, section);
  if (found === undefined) {
    const meant = nearest(anchorOf(section), names);
    const hint = meant === undefined ? ['it has:', ...list].join('\n') : `did you mean ${program} runbook ${meant}?`;
    throw new UsageError(`The runbook has no such section; ${hint}`);
  }
  const audience = audienceOf(program, commandLine, env);
  // Without either, the reader's installation may be anywhere.
  const isKnown = audience.kind !== 'machine' || (commandLine.gmsUrl ?? commandLine.ledger) !== undefined;
  const here = isKnown ? withCommandsOf(found, guideOf(audience)) : found;
  return hasRequest.test(here) ? `${howToSend(text)}\n\n${here}` : here;
}

const hasRequest = /^ *(?:GET|PUT|POST) [/_]|`(?:GET|PUT|POST) [/_]/m;

/** The page's own line about requests, above its sections. */
const howToSend = (text: string): string => /^- (GET, PUT and POST .*)$/m.exec(text)?.[1] ?? '';
