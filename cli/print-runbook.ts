import { readFileSync } from 'node:fs';
import { nearest } from '../lambda/policy/nearest.ts';
import { anchorOf, sectionNames, sectionOf } from '../lambda/report/guide/runbook.ts';
import { UsageError } from './events/mistakes.ts';

/** In the repository and in the package alike: beside the folder of the program. */
const runbookFile = new URL('../docs/runbook.md', import.meta.url);

/**
 * `runbook [SECTION]`: what to do when a message asks for it.
 * @returns the section; without a name, the names of all
 * @throws UsageError
 */
export function runbook(section: string | undefined, program: string): string {
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
  return hasRequest.test(found) ? `${howToSend(text)}\n\n${found}` : found;
}

const hasRequest = /^ *(?:GET|PUT|POST) [/_]|`(?:GET|PUT|POST) [/_]/m;

/** The page's own line about requests, above its sections. */
const howToSend = (text: string): string => /^- (GET, PUT and POST .*)$/m.exec(text)?.[1] ?? '';
