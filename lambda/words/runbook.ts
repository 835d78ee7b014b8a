import type { Problem } from '../facts/outcomes.ts';
import { shellWord } from '../text/text.ts';
import type { Reader } from './reader.ts';

/** The sections of docs/runbook.md, and where a reader finds them. A test holds both sides together. */

export const outcomeSections = {
  'rows-missing': 'Rows missing',
  quarantined: 'Quarantined',
  unknown: 'Unknown',
  failed: 'Failed',
  'above-ceiling': 'Above the ceiling',
  incomplete: 'Incomplete',
  'not-started': 'Not started',
  'in-flight': 'In flight',
  'still-running': 'Still running',
} as const satisfies Record<Problem, string>;

export const alarmSections = {
  ExecutionFailed: 'Alarm ExecutionFailed',
  NotStarted: 'Alarm NotStarted',
  StartLost: 'Alarm StartLost',
  FunctionTrouble: 'Alarm FunctionTrouble',
  RunFailed: 'Alarm RunFailed',
  RowsMissing: 'Alarm RowsMissing',
} as const;

export const otherSections = ['Run failed', 'Token', 'Copies', 'By hand'] as const;

export type Section =
  | (typeof outcomeSections)[keyof typeof outcomeSections]
  | (typeof alarmSections)[keyof typeof alarmSections]
  | (typeof otherSections)[number];

/** The sections that the dashboard of a stage carries, because nothing worse can happen. */
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
 * Where this reader finds a section: a link, or a command that prints it. Without an address of its own, a stage links
 * to its dashboard, which carries the worst sections.
 */
export function runbookPlace(section: Section, reader: Reader): { url: string } | { where: string; command: string } {
  if (reader.runbookUrl) return { url: `${reader.runbookUrl}#${anchorOf(section)}` };
  // The dashboard has no other section; the program has them all. It is in no registry, so `npx` would fetch a stranger's.
  if (reader.kind === 'aws' && (dashboardSections as readonly Section[]).includes(section)) {
    const url = dashboardUrl(reader);
    if (url !== undefined) return { url };
  }
  const [where, program] =
    reader.kind === 'machine' ? ['', reader.program] : [", in this job's repository", './retention'];
  return { where, command: `${program} runbook ${shellWord(anchorOf(section))}` };
}

/** The address of the stage's dashboard in CloudWatch; undefined where stage or region is not known. */
export function dashboardUrl({
  stage,
  region,
  stateMachineArn = '',
}: {
  stage?: string;
  region?: string;
  stateMachineArn?: string;
}): string | undefined {
  if (!stage || !region) return undefined;
  const domain =
    stateMachineArn.startsWith('arn:aws-cn:') || region.startsWith('cn-')
      ? 'console.amazonaws.cn'
      : region.startsWith('us-gov-')
        ? 'console.amazonaws-us-gov.com'
        : 'console.aws.amazon.com';
  const name = encodeURIComponent(`datahub-retention-${stage}`);
  return `https://${region}.${domain}/cloudwatch/home?region=${region}#dashboards/dashboard/${name}`;
}
