import { basename, dirname, join } from 'node:path';
import { cwd } from 'node:process';
import { shellWord } from '../../lambda/report/guide/words.ts';
import type { OptionName } from './options.ts';

/** What the program does, described once: help, errors and the tests of the documents all follow from this. */

export type Verb = 'demo' | 'survey' | 'preview' | 'enforce' | 'release' | 'status' | 'runbook' | 'validate';

/** A run reports, even when its inputs are wrong. */
export const isRun = (verb: Verb): boolean => verb === 'preview' || verb === 'enforce' || verb === 'release';

interface VerbDescription {
  /** One line for the general help. */
  summary: string;
  /** Text that only its own help shows. */
  more?: string;
  /** The words that may follow the verb, as usage texts have them. */
  operands?: 'INDEX...' | '[INDEX...]' | '[SECTION]';
  options: readonly OptionName[];
  /** Options that are not taken from the environment here. */
  noEnv?: readonly OptionName[];
  /** Its options are those of a run, for the commands that it prints; its help only names them. */
  takesOptionsOfRuns?: true;
  needsPolicies?: true;
  /** Options whose meaning differs here. */
  help?: Partial<Record<OptionName, string>>;
  /** The words after the verb, as a person would type them. */
  example: string;
}

const server = [
  'gmsUrl',
  'tokenFile',
  'headerFile',
  'clientCertificate',
  'clientKey',
  'identity',
  'caFile',
  'timeout',
] as const;
/** Of a stage: for lists, and for a run that differs from its file. */
const limits = ['minRetentionDays', 'maxRunHours', 'maxRowsPerRun'] as const;
const reporting = [
  'name',
  'json',
  'force',
  'log',
  'metricsFile',
  'metricsUrl',
  'notifyUrlFile',
  'notify',
  'notifyFormat',
  'failOn',
] as const;

export const verbs: Record<Verb, VerbDescription> = {
  demo: {
    summary: 'a whole run on this machine, on sample data',
    more: 'It really truncates, with short waits; its server and its rows exist only for this run.',
    operands: '[INDEX...]',
    options: ['policies', 'approveRows', ...reporting],
    // A demo should not post to a team's channel.
    noEnv: ['policies', 'notifyUrlFile', 'notify', 'notifyFormat'],
    help: {
      name: 'what messages call this DataHub (default: demo)',
      notifyUrlFile: 'a file with the address to post the message to',
      failOn: 'exit 1 for this result or a worse one (default: attention; failed for the sample policies)',
    },
    example: '--json report.json',
  },
  survey: {
    summary: 'looks at a server, read-only, and suggests policies',
    options: [...server, 'policies', 'ledger', 'name', 'json', 'html', 'force', 'log'],
    noEnv: ['policies'],
    help: {
      json: 'write suggested policies; - is standard output',
      policies: 'stage file or chart values: address and name',
      ledger: 'to tell what this job has truncated from what other tools have',
    },
    example: '--gms-url http://localhost:8080 --token-file token.txt --json policies.json',
  },
  preview: {
    summary: 'says what a run would do; changes nothing',
    more: 'Naming an INDEX, such as dataset.operation, limits it to that.',
    operands: '[INDEX...]',
    options: [...server, 'policies', ...limits, 'ledger', ...reporting, 'fast'],
    needsPolicies: true,
    example: '--gms-url http://localhost:8080 --token-file token.txt --policies policies.json',
  },
  enforce: {
    summary: 'truncates for real, and proves the result by counting again',
    more: 'Shows its plan, and asks once. Naming an INDEX, such as dataset.operation, limits it to that.',
    operands: '[INDEX...]',
    options: [...server, 'policies', ...limits, 'approveRows', 'by', 'ledger', ...reporting, 'yes', 'fast'],
    needsPolicies: true,
    example: '--gms-url https://datahub.example.com/api/gms --token-file token.txt --policies policies.json',
  },
  release: {
    summary: 'counts a quarantined index again and releases it if no row is missing; truncates nothing',
    operands: 'INDEX...',
    options: [...server, 'acceptMissing', 'by', 'policies', ...limits, 'ledger', ...reporting, 'fast'],
    help: { policies: 'also accept an INDEX that only a policy in this file names' },
    example: 'dataset.operation --gms-url https://datahub.example.com/api/gms --token-file token.txt',
  },
  status: {
    summary: 'shows the last run, and what the ledger says of each index; asks no server',
    options: ['ledger', 'runs', 'json', 'force'],
    help: { json: 'write the status there; - is standard output' },
    example: '--ledger /var/lib/datahub-retention/ledger',
  },
  runbook: {
    summary: 'what to do about a message: prints a section of the runbook, or lists all sections',
    operands: '[SECTION]',
    options: ['gmsUrl', 'tokenFile', 'policies', 'ledger', 'name'],
    takesOptionsOfRuns: true,
    example: 'rows-missing',
  },
  validate: {
    summary: 'checks a file with policies: lists every mistake, and exits with 2',
    more: 'It warns if GMS answers at another path of a stage (no token is sent).',
    options: ['policies', 'minRetentionDays', 'json', 'force'],
    needsPolicies: true,
    noEnv: ['policies'],
    help: { json: 'write the input that previews them; - prints it' },
    example: '--policies policies.json',
  },
};

export const verbNames = Object.keys(verbs) as Verb[];

/** The verbs that take an option, in the order of the help. */
export const verbsWith = (option: OptionName): Verb[] =>
  verbNames.filter((verb) => verbs[verb].options.includes(option));

export const exampleOf = (program: string, verb: Verb): string => `${program} ${verb} ${verbs[verb].example}`;

/** How this program was started, so that a command in a message can be pasted as it is. */

export const inCheckout = './retention';

/**
 * @param script `process.argv[1]`
 * @returns what precedes the verb: `./retention` in a checkout, with its folder where that is not the current one;
 *   `datahub-retention` if the package is installed (never `npx datahub-retention`: that would fetch any package of
 *   this name), otherwise the file itself
 */
export function programName(script: string | undefined, folder: string = cwd()): string {
  const name = basename(script ?? '');
  if (name === 'start.mjs' || name === 'main.ts') {
    const checkout = dirname(dirname(script!));
    return checkout === folder ? inCheckout : shellWord(join(checkout, 'retention'));
  }
  if (name === '') return inCheckout;
  return name.endsWith('.mjs') ? `node ${shellWord(script!)}` : name;
}
