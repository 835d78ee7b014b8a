import { type Command, commandsOf, pages } from './commands.ts';

/** Where each command of the pages is executed as it is written, and which are not. */

export type Executor = 'pages' | 'deploy' | 'cluster' | 'engine';

const isArgumentOf = (column: string) => (command: Command) => command.column === column;
const begins = (pattern: RegExp) => (command: Command) => command.column !== 'input' && pattern.test(command.text);

/** test:engine reads these sections, and follows their steps; what another page repeats is the same step. */
const sectionsOfTheEngine =
  /^(?:Rows missing|After a (?:reindex|delete in place)|Snapshot first|Bring rows back|Get disk space back)$/;
let stepsOfTheEngine: Set<string> | undefined;
const isStepOfTheEngine = ({ text }: Command): boolean => {
  stepsOfTheEngine ??= new Set(
    [...commandsOf('docs/runbook.md'), ...commandsOf('docs/operate.md')]
      .filter((each) => sectionsOfTheEngine.test(each.heading) && /^(?:GET|PUT|POST|curl) (?!--)/.test(each.text))
      .map((each) => each.text),
  );
  return stepsOfTheEngine.has(text);
};

/** A command belongs to exactly one. */
const owners: readonly [Executor, (command: Command) => boolean][] = [
  ['pages', begins(/^(?:npm |\.\/retention (?!validate --policies infra)|git |datahub-retention |machine\b|sudo )/)],
  ['pages', isArgumentOf('verb')],
  [
    'deploy',
    begins(/^(?:(?:ARN=\$\()?aws (?!cloudtrail )|(?:npx )?cdk |cp infra|\.\/retention validate --policies infra)/),
  ],
  ['deploy', isArgumentOf('input')],
  ['cluster', begins(/^(?:(?:until )?kubectl|helm|by_hand)\b/)],
  ['cluster', isArgumentOf('DATAHUB_RETENTION_ARGS')],
  ['engine', isStepOfTheEngine],
];

/** A command that nothing executes. */
export interface Exception {
  text: RegExp;
  why: string;
}

export const exceptions: readonly Exception[] = [
  {
    text: /^(?:npm start|\.\/retention VERB|datahub-retention VERB|by_hand VERB|helm (?:upgrade|test|uninstall)|curl --aws-sigv4)$|^curl -X POST 'http:\/\/localhost:9200/,
    why: 'names a command in a sentence; it is written out elsewhere',
  },
  {
    text: /^GET _cluster|^GET \/_cat\/aliases|^POST _tasks|^GET \/\*ALIAS\*\/_settings|^PUT \/INDEX/,
    why: 'goes to the search cluster; only test:engine has one, and it follows the steps of five sections',
  },
  {
    text: /^npm test\b/,
    why: '.ci/run runs it',
  },
  {
    text: /^(?:sudo )?(?:systemctl|useradd|crontab)\b|^journalctl /,
    why: 'changes the users or the timers of a machine; test:pages verifies the units and runs what they start',
  },
  {
    text: /^kubectl -n datahub port-forward /,
    why: 'needs a pod of DataHub',
  },
  {
    text: /^aws sso login |^aws sns confirm-subscription /,
    why: 'needs IAM Identity Center, or the token in a mail',
  },
  {
    text: /^aws cloudtrail /,
    why: 'needs a trail of an account',
  },
  {
    text: /^jq /,
    why: 'needs jq, and runs that were saved over weeks',
  },
  {
    text: /^docker /,
    why: 'needs Docker and a registry; test:package runs what the Dockerfile copies, as its user',
  },
];

/** Who executes it, and its exceptions: a command should have one of them in all. */
export function ownersOf(command: Command): { executors: Executor[]; exceptions: Exception[] } {
  const found = exceptions.filter(({ text }) => text.test(command.text));
  if (found.length > 0) return { executors: [], exceptions: found };
  return { executors: owners.flatMap(([executor, owns]) => (owns(command) ? executor : [])), exceptions: [] };
}

/** Every occurrence of a command that one of the tests executes, in the order of the pages. */
export const commandsFor = (executor: Executor, of: readonly string[] = pages): Command[] =>
  of.flatMap(commandsOf).filter((command) => ownersOf(command).executors.includes(executor));

/** The commands of one executor, from which it takes what it executes; at its end none may be left. */
export class Worklist {
  private readonly commands: readonly Command[];
  private readonly done = new Set<string>();

  constructor(commands: readonly Command[]) {
    this.commands = commands;
  }

  /**
   * Takes the commands below a heading, in the order of the page. Throws where there is none, so that a test notices when
   * its command has gone from the page.
   */
  take(page: string, heading: string, text = /./, where?: Command['where']): [Command, ...Command[]] {
    const [first, ...others] = this.commands.filter(
      (command) =>
        command.page === page && command.heading === heading && text.test(command.text) && command.where === where,
    );
    if (first === undefined) throw new Error(`${page} has no command ${text} below "${heading}"`);
    for (const command of [first, ...others]) this.done.add(command.text);
    return [first, ...others];
  }

  /** What no test has taken; a command that several pages have is done with one of them. */
  left(): string[] {
    return this.commands.flatMap(({ page, line, text }) => (this.done.has(text) ? [] : `${page}:${line} ${text}`));
  }
}

/** Rows of this age in days, one per minute. */
export const rowsOf = (count: number, days: number): number[] =>
  Array.from({ length: count }, (_, at) => Date.now() - days * 86_400_000 - at * 60_000);
