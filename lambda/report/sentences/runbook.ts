import type { Problem } from '../../model/outcomes.ts';
import type { Audience } from './audience.ts';
import { shellWord } from './text.ts';

/** The sections of docs/runbook.md, and where an audience finds them. A test holds both sides together. */

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

export const otherSections = ['Run failed', 'Token', 'Reindexes', 'By hand'] as const;

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

/** The headings of all sections, in their order. */
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
 * Where this audience finds a section: a link, or a command that prints it. Without an address of its own, a stage links
 * to its dashboard, which carries the worst sections.
 */
export function runbookPlace(
  section: Section,
  audience: Audience,
): { url: string } | { where: string; command: string } {
  if (audience.runbookUrl) return { url: `${audience.runbookUrl}#${anchorOf(section)}` };
  // The dashboard has no other section; the program has all of them. It is never started with `npx`: the package is in
  // no registry, and `npx` would fetch a stranger's.
  const { dashboardUrl } = { dashboardUrl: undefined, ...audience };
  if (dashboardUrl && (dashboardSections as readonly Section[]).includes(section)) return { url: dashboardUrl };
  const [where, program] =
    audience.kind === 'machine' ? ['', audience.program] : [", in this job's repository", './retention'];
  return { where, command: `${program} runbook ${shellWord(anchorOf(section))}` };
}
