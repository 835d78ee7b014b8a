import type { Problem } from '../../model/outcomes.ts';
import type { Guide } from './audience.ts';
import { shellWord } from './words.ts';

/** The sections of docs/runbook.md; a test holds both sides together. */

export const outcomeSections = {
  'rows-missing': 'Rows missing',
  quarantined: 'Quarantined',
  unknown: 'Unknown',
  failed: 'Failed',
  'above-ceiling': 'Above the ceiling',
  incomplete: 'Incomplete',
  'not-started': 'Not started',
  'still-running': 'Still running',
} as const satisfies Record<Problem, string>;

export const alarmSections = {
  ExecutionFailed: 'Alarm ExecutionFailed',
  NotStarted: 'Alarm NotStarted',
  StartLost: 'Alarm StartLost',
  FunctionTrouble: 'Alarm FunctionTrouble',
  RunFailed: 'Alarm RunFailed',
  RowsMissing: 'Alarm RowsMissing',
  NobodySubscribed: 'Alarm NobodySubscribed',
} as const;

export const otherSections = ['Not visible', 'Run failed', 'Token', 'Reindexes', 'By hand'] as const;

export type Section =
  | (typeof outcomeSections)[keyof typeof outcomeSections]
  | (typeof alarmSections)[keyof typeof alarmSections]
  | (typeof otherSections)[number];

/** The sections that a stage's dashboard carries: the worst that can happen. */
export const dashboardSections = ['Rows missing', 'Quarantined', 'Unknown'] as const satisfies Section[];

/**
 * One section of the runbook's text, with its heading, up to the next heading of its level.
 * @param name as headings have it, in any case; blanks may be hyphens
 * @returns undefined if there is no such section
 */
export function sectionOf(markdown: string, name: string): string | undefined {
  const wanted = anchorOf(name);
  return markdown
    .split(/^(?=## )/m)
    .slice(1)
    .find((section) => anchorOf(headingOf(section)) === wanted)
    ?.trimEnd();
}

/**
 * The runbook with the commands of one installation in place of those that the page has for every platform.
 * @param guide what it does not know, stays as the page has it
 */
export const withCommandsOf = (markdown: string, guide: Guide): string =>
  markdown
    .replace(
      /^aws stepfunctions start-execution .* --input '(.*)'$/gm,
      (line, input: string) => guide.runByHand(JSON.parse(input)) ?? line,
    )
    .replace(/^aws ssm .* --name PREFIX\/token .*$/gm, (line) => guide.storeToken() ?? line)
    .replace(
      /^aws ssm .* --name PREFIX\/paused .*\nkubectl .*\nsudo systemctl .*$/gm,
      (all) => guide.setPaused(true) ?? all,
    );

export const sectionNames = (markdown: string): string[] =>
  markdown
    .split(/^(?=## )/m)
    .slice(1)
    .map(headingOf);

const headingOf = (section: string): string => (section.split('\n', 1)[0] ?? '').replace(/^## /, '').trim();

/** The anchor that GitHub gives a heading: lower case, blanks as hyphens, punctuation dropped. */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replace(/ /g, '-');

/**
 * The command for people without the program. It is never started with `npx`: the package is in no registry, and `npx`
 * would fetch a stranger's.
 */
export const inRepository = (section: Section) => ({
  where: ", in this job's repository",
  command: `./retention runbook ${shellWord(anchorOf(section))}`,
});
