import type { Outcome } from '../facts/outcomes.ts';

/** The headings of docs/runbook.md that messages and alarms link to; a test keeps both sides in sync. */

export const alarmHeadings = {
  ExecutionFailed: 'Alarm: ExecutionFailed',
  NotStarted: 'Alarm: NotStarted',
  StartLost: 'Alarm: StartLost',
  FunctionTrouble: 'Alarm: FunctionTrouble',
  RunFailed: 'Alarm: RunFailed',
  RowsMissing: 'Alarm: RowsMissing',
} as const;

export const runErrorHeading = 'Run error';
export const preflightHeading = 'Preflight';
export const tokenHeading = 'Rotate the token';
export const clearHeading = 'Clear an index';

/** The heading of an outcome that needs attention. */
export const outcomeHeading = (outcome: Outcome): string => `Outcome: ${outcome}`;

/** The anchor that GitHub gives a heading: lower case, blanks as hyphens, punctuation dropped. */
export const runbookAnchor = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replace(/ /g, '-');

/**
 * Where to find the runbook without an address: the repository and the package have it in the version that sent the
 * message.
 */
export const runbookFile = 'docs/runbook.md of datahub-retention';

/** @param runbookUrl address of the runbook page, without an anchor */
export const runbookLink = (runbookUrl: string, heading: string): string => `${runbookUrl}#${runbookAnchor(heading)}`;
