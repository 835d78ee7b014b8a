import { InvalidArgumentError } from 'commander';

/** Every option of the command line, described once: `verbs.ts` says which verb takes which. */

/** What commander reads; a verb fills only its own. */
export interface Options {
  gmsUrl?: string;
  tokenFile?: string;
  caFile?: string;
  policies?: string;
  only?: string[];
  approveRows?: number;
  acceptMissing?: number;
  stage?: string;
  ledger?: string;
  name?: string;
  json?: string;
  html?: string;
  force?: boolean;
  log?: 'text' | 'json';
  notifyUrlFile?: string;
  notify?: 'always' | 'problems';
  notifyFormat?: 'slack' | 'json';
  fast?: boolean;
}

export type OptionName = keyof Options;

export interface OptionDescription {
  flags: string;
  /** For the help; a verb may word it differently. */
  says: string;
  choices?: readonly string[];
  /** Parses the value; throws InvalidArgumentError. If omitted, the text itself is the value. */
  read?(text: string): unknown;
  /** May be given several times. */
  repeatable?: true;
}

export const options: Record<OptionName, OptionDescription> = {
  gmsUrl: {
    flags: '--gms-url <url>',
    says: 'GMS, e.g. https://host/api/gms (else DATAHUB_GMS_URL, then ~/.datahubenv)',
  },
  tokenFile: {
    flags: '--token-file <file>',
    says: 'a file with the access token (else DATAHUB_GMS_TOKEN, then ~/.datahubenv)',
  },
  caFile: { flags: '--ca-file <file>', says: 'certificates (PEM) of a private authority' },
  policies: { flags: '--policies <file>', says: 'a JSON list of policies' },
  only: {
    flags: '--only <index>',
    says: 'this policy alone, e.g. dataset.operation (repeatable)',
    read: oneIndex,
    repeatable: true,
  },
  approveRows: {
    flags: '--approve-rows <rows>',
    says: 'let the one policy of --only exceed its ceiling, up to this many rows',
    read: positiveInteger,
  },
  acceptMissing: {
    flags: '--accept-missing <rows>',
    says: 'reopen the one index with up to this many rows missing',
    read: positiveInteger,
  },
  stage: { flags: '--stage <name>', says: "a deployed stage's memory, read with your AWS credentials" },
  ledger: {
    flags: '--ledger <file>',
    says: 'where unfinished truncations are remembered (default: datahub-retention/in-flight.json in $XDG_STATE_HOME; sample-in-flight.json for sample data)',
  },
  name: {
    flags: '--name <name>',
    says: 'what messages call this DataHub (default: its host)',
    read: printableName,
  },
  json: { flags: '--json <file>', says: 'write the report there; - is standard output' },
  html: { flags: '--html <file>', says: 'write it as a page for a browser' },
  force: { flags: '--force', says: 'let --json and --html replace any file' },
  log: {
    flags: '--log <form>',
    says: 'text for people, or one line of JSON per event',
    choices: ['text', 'json'],
  },
  notifyUrlFile: {
    flags: '--notify-url-file <file>',
    says: 'a file with the address to post the message to',
  },
  notify: {
    flags: '--notify <when>',
    says: 'always, or only if someone has to act',
    choices: ['always', 'problems'],
  },
  notifyFormat: {
    flags: '--notify-format <format>',
    says: 'a message for Slack, or the report',
    choices: ['slack', 'json'],
  },
  fast: { flags: '--fast', says: 'wait at most 0.2 s at a time' },
};

/** As written on a command line. */
export const writtenOption = (name: OptionName): string => options[name].flags.split(' ')[0]!;

export const takesValue = (name: OptionName): boolean => options[name].flags.includes('<');

/** The option that a word names, with or without `=value`. */
export function optionOf(word: string): OptionName | undefined {
  const [written] = word.split('=');
  return (Object.keys(options) as OptionName[]).find((name) => writtenOption(name) === written);
}

/** @throws InvalidArgumentError */
export function oneIndex(text: string): string {
  if (!/^[^.\s]+\.[^.\s]+$/.test(text)) {
    throw new InvalidArgumentError('It takes one index as entityType.aspect, e.g. dataset.operation.');
  }
  return text;
}

function positiveInteger(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidArgumentError('It takes a whole number of rows, at least 1, without separators.');
  }
  return value;
}

/** Email subjects are ASCII, and a phone shows about forty characters. */
function printableName(text: string): string {
  const name = text.trim();
  if (!/^[\x20-\x7e]{1,40}$/.test(name)) {
    throw new InvalidArgumentError('It takes 1 to 40 printable ASCII characters.');
  }
  return name;
}
