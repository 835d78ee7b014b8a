import { basename } from 'node:path';
import { shellWord } from '../../lambda/facts/text.ts';

/** How this program was started, so that a command in a message can be pasted as it is. */

export const npmStart = 'npm start --';

/**
 * @param script `process.argv[1]`
 * @returns what precedes the first option: `npm start --` in the repository, `datahub-retention` if the package is
 *   installed (never `npx datahub-retention`: that would fetch any package with this name), otherwise the file itself
 */
export function programName(script: string | undefined): string {
  const name = basename(script ?? '');
  if (name === 'main.ts' || name === '') return npmStart;
  return name.endsWith('.mjs') ? `node ${shellWord(script!)}` : name;
}
