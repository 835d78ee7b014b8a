import { Option } from 'commander';
import { looksLikeToken } from '../../lambda/gms/secrets.ts';
import { type DestinationName, destinationNames } from '../../lambda/report/destinations/registry.ts';
import { UsageError } from '../events/mistakes.ts';

/** Every option of the command line, described once: `verbs.ts` says which verb takes which. */

/** The format of a message that is posted without `--notify-format`. */
export const defaultFormat: DestinationName = 'slack';

interface Description {
  flags: string;
  /** For the help; a verb may word it differently. */
  help: string;
  choices?: readonly string[];
  /** Parses the value, or says what it should be, after "takes". If omitted, the text itself is the value. */
  read?(text: string): { value: unknown } | { takes: string };
  /** A file that should hold a secret: its reader says by itself what is wrong with the secret. */
  ofSecret?: true;
  /** A variable that counts without the option. */
  env?: string;
  /** The list of the help leaves it out; or only its variable, which the chart sets. */
  isHidden?: true | 'env';
}

const table = {
  gmsUrl: {
    flags: '--gms-url <url>',
    help: 'GMS (else DATAHUB_GMS_URL, or ~/.datahubenv)',
  },
  tokenFile: {
    flags: '--token-file <file>',
    ofSecret: true,
    // DATAHUB_RETENTION_TOKEN_FILE is no replacement: its token belongs to the address in the environment.
    help: 'the access token; - is standard input (else DATAHUB_GMS_TOKEN, ~/.datahubenv)',
  },
  headerFile: {
    flags: '--header-file <file>',
    ofSecret: true,
    help: 'headers for a gateway, one "Name: value" a line',
  },
  clientCertificate: { flags: '--client-certificate <file>', help: 'for a gateway with mutual TLS (PEM)' },
  clientKey: { flags: '--client-key <file>', ofSecret: true, help: 'its key, if that is in another file' },
  // False where it is given.
  identity: { flags: '--no-identity', help: 'send no token: the server asks for none' },
  caFile: {
    flags: '--ca-file <file>',
    help: 'private CA (PEM)',
    env: 'DATAHUB_RETENTION_CA_FILE',
  },
  timeout: {
    flags: '--timeout <seconds>',
    help: 'for the answer to one request (default: 60)',
    read: (text) => wholeNumber(text, 'of seconds', { most: 600 }),
  },
  policies: {
    flags: '--policies <file>',
    help: 'a list, a stage file, or values of the chart',
    read: (text): { value: string } => ({ value: text === '-' ? '/dev/stdin' : text }),
    env: 'DATAHUB_RETENTION_POLICIES',
  },
  by: { flags: '--by <name>', help: 'who asks for this run (else user and host)' },
  runs: { flags: '--runs', help: 'the last 30 runs, not the indices' },
  approveRows: {
    flags: '--approve-rows <rows>',
    help: 'rows that INDEX may delete above its ceiling',
    read: (text) => wholeNumber(text, 'of rows'),
  },
  minRetentionDays: limit('--min-retention-days <days>', 'DATAHUB_RETENTION_MIN_RETENTION_DAYS', 5000),
  maxRunHours: limit('--max-run-hours <hours>', 'DATAHUB_RETENTION_MAX_RUN_HOURS', 24),
  maxRowsPerRun: limit('--max-rows-per-run <rows>', 'DATAHUB_RETENTION_MAX_ROWS_PER_RUN'),
  acceptMissing: {
    flags: '--accept-missing <rows>',
    help: 'release the one INDEX although up to this many rows are missing',
    // Zero is allowed: it releases an index that cannot be counted.
    read: (text) => wholeNumber(text, 'of rows', { least: 0 }),
  },
  ledger: {
    flags: '--ledger <folder>',
    help: 'where truncations are recorded (default: below $XDG_STATE_HOME)',
    env: 'DATAHUB_RETENTION_LEDGER',
  },
  name: {
    flags: '--name <name>',
    help: 'what messages call this DataHub (default: its host)',
    read: printableName,
    env: 'DATAHUB_RETENTION_NAME',
  },
  json: { flags: '--json <file>', help: 'write the report there; - is standard output' },
  html: { flags: '--html <file>', help: 'write the survey as a page for a browser' },
  force: { flags: '--force', help: 'let --json and --html replace an existing file' },
  log: { flags: '--log <form>', help: 'form of the output', choices: ['text', 'json'] },
  metricsFile: {
    flags: '--metrics-file <file>',
    help: 'write the figures of this run there (OpenMetrics)',
  },
  metricsUrl: {
    flags: '--metrics-url <url>',
    help: 'push them to this Pushgateway as well',
  },
  notifyUrlFile: {
    flags: '--notify-url-file <file>',
    ofSecret: true,
    help: 'a file with the address to post to',
    env: 'DATAHUB_RETENTION_NOTIFY_URL_FILE',
  },
  notify: {
    flags: '--notify <when>',
    help: 'when to post',
    choices: ['always', 'problems'],
    env: 'DATAHUB_RETENTION_NOTIFY',
    isHidden: 'env',
  },
  notifyFormat: {
    flags: '--notify-format <format>',
    help: `what is posted (default: ${defaultFormat})`,
    choices: destinationNames,
    env: 'DATAHUB_RETENTION_NOTIFY_FORMAT',
    isHidden: 'env',
  },
  failOn: {
    flags: '--fail-on <result>',
    help: 'exit 1 for this result or a worse one',
    choices: ['attention', 'failed'],
  },
  yes: { flags: '--yes', help: 'delete without asking; needed without a terminal' },
  // Waits at most 0.2 s at a time.
  fast: { flags: '--fast', help: 'for sample data only', isHidden: true },
} as const satisfies Record<string, Description>;

export type OptionName = keyof typeof table;
export const options: Record<OptionName, Description> = table;

/** What commander reads; a verb fills only its own. */
export type Options = { [Name in OptionName]?: ValueOf<(typeof table)[Name]> };

type ValueOf<Described> = Described extends { choices: ReadonlyArray<infer Choice> }
  ? Choice
  : Described extends { read(text: string): infer Read }
    ? Extract<Read, { value: unknown }>['value']
    : Described extends { flags: `${string}<${string}` }
      ? string
      : boolean;

export const writtenOption = (name: OptionName): string => options[name].flags.split(' ')[0] ?? name;

export const optionOf = (flag: string): OptionName | undefined =>
  (Object.keys(options) as OptionName[]).find((name) => writtenOption(name) === flag);

/** The files and folders that a command line names, by their options. */
export const namedFiles = (given: Options): Array<[option: string, path: string]> =>
  (Object.keys(options) as OptionName[]).flatMap((name) => {
    const path = given[name];
    const isPath = /<(?:file|folder)>$/.test(options[name].flags);
    return isPath && typeof path === 'string' && path !== '-' ? [[writtenOption(name), path]] : [];
  });

/**
 * The option for commander, which does not read the environment.
 * @param env the variable that counts without it
 */
export function optionFor(
  name: OptionName,
  { help, env, isShown }: { help?: string | undefined; env: string | undefined; isShown: boolean },
): Option {
  const { flags, help: defaultHelp, choices, isHidden } = options[name];
  const inEnvironment = env === undefined || isHidden === 'env' ? '' : ` (env: ${env})`;
  const option = new Option(flags, `${help ?? defaultHelp}${inEnvironment}`).hideHelp(isHidden === true || !isShown);
  if (option.isBoolean() || option.negate) return option;
  // Only for the help.
  if (choices) option.argChoices = [...choices];
  return option.argParser((text: string, before: unknown) => readValue(name, text, env, before));
}

/**
 * The value of an option, or of its variable. The text is never repeated: it may be a secret.
 * @param before what the option has been given already
 * @throws UsageError
 */
export function readValue(name: OptionName, text: string, env: string | undefined, before?: unknown): unknown {
  const { choices, read, ofSecret } = options[name];
  const written = [writtenOption(name), ...(env === undefined ? [] : [`(or ${env})`])].join(' ');
  if (!ofSecret) refuseToken(text);
  if (text.startsWith('--')) throw new UsageError(`${written} needs a value before the next option.`);
  if (text === '') throw new UsageError(`${written} is empty: give it a value, or leave it out.`);
  if (before !== undefined) throw new UsageError(`${written} is given twice.`);
  const isNoChoice = choices !== undefined && !choices.includes(text);
  const result = isNoChoice ? { takes: choices.join(' or ') } : (read?.(text) ?? { value: text });
  if ('takes' in result) throw new UsageError(`${written} takes ${result.takes}.`);
  return result.value;
}

export function readIndex(text: string, before: string[] = []): string[] {
  refuseToken(text);
  if (/^[^.\s]+\.[^.\s]+$/.test(text)) return [...before, text];
  const shown = /^[\w-]{1,40}$/.test(text) ? `${text} is no INDEX` : 'That is no INDEX';
  throw new UsageError(`${shown}: it is entityType.aspect, e.g. dataset.operation.`);
}

function refuseToken(text: string): void {
  if (!looksLikeToken(text)) return;
  throw new UsageError(
    'An access token was given in place of another argument: put it into a file, and name that with --token-file (every user of this machine can read command lines).',
  );
}

/** A setting of a stage; `verbs.ts` names all three in one line. */
function limit(flags: string, env: string, most?: number) {
  const unit = `of ${flags.replace(/.*<|>/g, '')}`;
  return {
    flags,
    help: 'as in a stage',
    env,
    isHidden: true as const,
    read: (text: string) => wholeNumber(text, unit, { most }),
  };
}

function wholeNumber(
  text: string,
  unit: string,
  { least = 1, most = Number.MAX_SAFE_INTEGER }: { least?: number; most?: number | undefined } = {},
) {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return { value };
  const range = most === Number.MAX_SAFE_INTEGER ? `at least ${least}` : `${least} to ${most}`;
  return { takes: `a whole number ${unit}, ${range}, without separators` };
}

/** Email subjects are ASCII, and a phone shows about forty characters. */
function printableName(text: string) {
  const value = text.trim();
  return /^[\x20-\x7e]{1,40}$/.test(value) ? { value } : { takes: '1 to 40 printable ASCII characters' };
}
