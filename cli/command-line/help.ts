import packageManifest from '../../package.json' with { type: 'json' };
import { npmStart } from './program.ts';
import { type Verb, verbNames, verbs } from './verbs.ts';

/** The general help text, and example lines for other texts, both from the descriptions of the verbs. */

export const versionText = `datahub-retention ${packageManifest.version}\n`;

/** A command as a person would type it. */
export const exampleOf = (program: string, verb: Verb): string => `${program} ${verb} ${verbs[verb].example}`;

/** `survey`, `clear INDEX`, `history [INDEX]`. */
export function usageOf(verb: Verb): string {
  const { index } = verbs[verb];
  if (index === undefined) return verb;
  return `${verb} ${index === 'optional' ? '[INDEX]' : 'INDEX...'}`;
}

export function helpOfAll(program: string): string {
  const width = Math.max(...verbNames.map((verb) => usageOf(verb).length));
  return [
    `Usage: ${program} VERB [options]`,
    '',
    'Truncates DataHub time series indices by policy, and proves the result.',
    '',
    'Verbs:',
    ...verbNames.map((verb) => `  ${usageOf(verb).padEnd(width)}  ${verbs[verb].does}`),
    '',
    `${program} VERB --help lists the options of a verb, --version prints the version.`,
    ...(program === npmStart ? ['npm start alone is the demo.'] : []),
    'Server and token may also come from DATAHUB_GMS_URL and DATAHUB_GMS_TOKEN, or from ~/.datahubenv.',
    '',
    'Example:',
    `  ${exampleOf(program, 'survey')}`,
    '',
  ].join('\n');
}
