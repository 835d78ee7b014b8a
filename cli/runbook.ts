import { readFileSync } from 'node:fs';
import { sectionNames, sectionOf } from '../lambda/words/runbook.ts';
import { UsageError } from './telling/mistakes.ts';

/** In the repository and in the package alike: beside the folder of the program. */
const path = new URL('../docs/runbook.md', import.meta.url);

/**
 * `runbook [SECTION]`: what to do when a message asks for it.
 * @returns the section; without a name, the names of all
 * @throws UsageError
 */
export function runbook(section: string | undefined, program: string): string {
  const text = readFileSync(path, 'utf8');
  const names = sectionNames(text).map((name) => `  ${name}`);
  if (section === undefined)
    return ['The sections of the runbook:', ...names, `${program} runbook SECTION prints one.`].join('\n');
  const found = sectionOf(text, section);
  if (found === undefined) throw new UsageError(['The runbook has no such section; it has:', ...names].join('\n'));
  return found;
}
