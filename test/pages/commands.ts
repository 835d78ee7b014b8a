import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a person can copy from a page into a terminal: every command, as the page writes it. */

export const root = join(import.meta.dirname, '../..');
export const pages = [
  'README.md',
  'docs/operate.md',
  'docs/privileges-and-network.md',
  'docs/command-line.md',
  'docs/kubernetes.md',
  'docs/gitops.md',
  'docs/machine.md',
  'docs/runbook.md',
  'docs/audit.md',
] as const;

export interface Command {
  page: string;
  /** The heading above it, without its number signs. */
  heading: string;
  line: number;
  /** In a table whose rows are places: which one. */
  where?: 'AWS' | 'Kubernetes' | 'machine';
  /** In a table: the head of its column. */
  column?: string;
  /** As it is written; a command of several lines keeps them, without the block's indentation. */
  text: string;
}

/** A block that holds no command: output, a file's content, a message. */
export type Shown = Omit<Command, 'where' | 'column'>;

export interface Page {
  commands: Command[];
  shown: Shown[];
}

const programs =
  /^(?:[A-Z]+=\$\()?(?:npm|npx|\.\/retention|cdk|git|cp|aws|jq|(?:until )?kubectl|helm|docker|curl|sudo|crontab|systemctl|systemd-\w+|journalctl|logrotate|datahub-retention|(?:by_hand|machine)(?:\(\))?|GET|PUT|POST|DELETE) /;
/** Columns whose cells are the arguments or the input of a command that stands above the table. */
const argumentColumns = ['DATAHUB_RETENTION_ARGS', 'input', 'verb'];

export const commandsOf = (page: string): Command[] => read(page).commands;

export function read(page: string): Page {
  const found: Page = { commands: [], shown: [] };
  const lines = readFileSync(join(root, page), 'utf8').split('\n');
  let heading = '';
  let columns: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    const place = { page, heading, line: at + 1 };
    const fence = /^ *```(\w*)$/.exec(line);
    if (fence) {
      const end = lines.findIndex((later, n) => n > at && /^ *```$/.test(later));
      if (fence[1] === 'sh' || fence[1] === 'text')
        addBlock(found, { ...place, line: at + 2 }, lines.slice(at + 1, end));
      else found.shown.push({ ...place, text: lines.slice(at + 1, end).join('\n') });
      at = end;
    } else if (/^ {4,}\S/.test(line)) {
      const rest = lines.slice(at).findIndex((later) => !/^ {4,}\S/.test(later));
      const block = rest < 0 ? lines.slice(at) : lines.slice(at, at + rest);
      addBlock(found, place, block);
      at += block.length - 1;
    } else if (line.startsWith('#')) {
      heading = line.replace(/^#+ /, '');
    } else if (line.startsWith('|')) {
      // A cell may hold a bar between backticks.
      const cells = line.split(/(?<!\\)\|(?=(?:[^`]*`[^`]*`)*[^`]*$)/).slice(1, -1);
      if (lines[at + 1]?.startsWith('|---')) columns = cells.map((cell) => cell.replaceAll('`', '').trim());
      else
        found.commands.push(...cells.flatMap((cell, n) => inCell(cell, columns[n]!, { ...place, ...whereOf(cells) })));
    } else {
      found.commands.push(...inlineCode(line).map((code) => ({ ...place, text: code })));
    }
  }
  return found;
}

function addBlock({ commands, shown }: Page, place: Omit<Shown, 'text'>, block: readonly string[]): void {
  const indentation = /^ */.exec(block[0]!)![0].length;
  const own = block.map((line) => line.slice(indentation));
  if (!programs.test(`${own[0]} `)) {
    shown.push({ ...place, text: own.join('\n') });
    return;
  }
  own.forEach((line, n) => {
    // A request's body has lines of its own.
    const continues = /^[ {}]/.test(line);
    if (continues) commands[commands.length - 1]!.text += `\n${line}`;
    else commands.push({ ...place, line: place.line + n, text: line });
  });
}

function inCell(cell: string, column: string, place: Omit<Command, 'text'>): Command[] {
  const isArguments = argumentColumns.includes(column);
  const codes = isArguments ? codesIn(cell) : inlineCode(cell);
  return codes.map((text) => ({ ...place, column, text }));
}

function whereOf([first = '']: string[]): Pick<Command, 'where'> {
  const where = (['AWS', 'Kubernetes', 'machine'] as const).find((name) => first.includes(name));
  return where === undefined ? {} : { where };
}

const codesIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
const inlineCode = (text: string): string[] => codesIn(text).filter((code) => programs.test(code));

/** The chart's notes are text for a terminal: commands stand at the end of a line, and verbs in a list of their own. */
export function commandsOfNotes(notes: string): Command[] {
  const place = { page: 'kubernetes/templates/NOTES.txt', heading: '' };
  return notes.split('\n').flatMap((line, at): Command[] => {
    const [, command] = /(?:^|\s)((?:(?:until )?kubectl -n|helm test) .+)$/.exec(line) ?? [];
    if (command !== undefined) return [{ ...place, line: at + 1, text: command }];
    const [, verb] =
      /^ {2}[A-Z][\w ]+: {2,}((?:survey|preview|enforce|release|runbook)\b.*?)(?: {2,}\(.*)?$/.exec(line) ?? [];
    return verb === undefined ? [] : [{ ...place, line: at + 1, column: 'DATAHUB_RETENTION_ARGS', text: verb }];
  });
}

/** What stands for something else on the pages; a test fills in what it is there. */
export const placeholders = {
  VERB: 'a verb',
  SECTION: 'a section of the runbook',
  FILE: 'a file of policies',
  INDEX: 'an index of DataHub, or its name in the search engine',
  ARN: 'the state machine, and for a redrive the execution',
  EXECUTION: 'the ARN of an execution',
  PREFIX: "the stage's parameterPrefix",
  STAGE: "the stage's name",
  NAME: "a Job, the CronJob's name, or a profile",
  POD: 'a pod',
  NEW: 'the new index',
  NAMESPACE: 'another namespace',
  REGISTRY: 'where images are pushed',
  SEARCH: 'the address of the search cluster',
  REPOSITORY: 'a repository of snapshots',
  REVISION: 'of a Helm release',
  ALIAS: "the index's name in the search engine without the digits at its end",
  OLD: 'the index before',
  CUTOFF: 'milliseconds',
  TABLE: 'the table of a stage',
  TOPIC: 'the ARN of a topic',
  ENDPOINT: 'the address of a service that takes alarms',
  TOKEN: 'a token in a mail of SNS',
  TASK: 'the id of a task',
  TASK_ID: 'the id of a task',
  'http://localhost:8080': 'the address of GMS',
  'https://datahub.example.com/api/gms': 'the address of GMS',
  '/etc/datahub-retention': "a machine's settings",
  '/var/lib/datahub-retention': "a machine's ledgers",
  '/var/log/datahub-retention': "a machine's logs",
  '/usr/local/bin': 'where npm install --global puts programs',
} as const;
export type Placeholder = keyof typeof placeholders;

const words = Object.keys(placeholders).sort((one, other) => other.length - one.length);
const anyPlaceholder = new RegExp(`(?<![\\w$])(?:${words.join('|')})(?![\\w=])`, 'g');

/** Puts values in the place of placeholders. Throws where one has none. */
export const filled = (text: string, values: Readonly<Partial<Record<Placeholder, string>>>): string =>
  text.replaceAll(anyPlaceholder, (word) => {
    const value = values[word as Placeholder];
    if (value === undefined) throw new Error(`${text}: nothing is given for ${word}`);
    return value;
  });
