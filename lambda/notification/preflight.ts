import type { Check, Report } from '../facts/report-schema.ts';
import { oneLine } from '../wording/clean.ts';
import { asSentence } from '../wording/sentences.ts';
import type { MessageContext } from './context.ts';
import { concernsToken, type Step, tokenStep } from './steps.ts';

/**
 * The preflight of a preview in words: one line where all is well, else one for each check that is not, with its remedy.
 * What the run's error or a policy says is not said here as well: one cause is told once.
 * The result of the run does not depend on it. A refused truncation, a wrong clock, a server that is not there fail the
 * policies anyway; what is left (sizes, task status, a token's end) is what runs work without, and an `ok` for machines stays one.
 */

/** Nobody reads more; there are eight kinds of checks. */
const shown = 8;

const checks = (report: Report): readonly Check[] =>
  report.mode === 'preview' ? (report.preflight ?? []).slice(0, shown) : [];

const notOk = (report: Report): Check[] => checks(report).filter(({ state }) => state !== 'ok');

/** Checks that failed; 0 for runs without a preflight. */
export const failedChecks = (report: Report): number => checks(report).filter(({ state }) => state === 'failed').length;

/** A check that needs a person. */
export interface Trouble {
  /** `Sizes FAILED`, or the bare name where it only is to be known. */
  head: string;
  /** What is wrong; left out where the message says it anyway. */
  text?: string;
  /** A sentence; empty where the text has it, or a step. */
  remedy: string;
  /** The next step, which may have a command. */
  step?: Step;
}

export function troubles(report: Report, context: MessageContext): Trouble[] {
  return notOk(report).map((check) => {
    const head = `${check.name}${check.state === 'failed' ? ' FAILED' : ''}`;
    const text = isToldAnyway(check, report) ? {} : { text: withStop(oneLine(check.text, 500)) };
    if (check.name !== 'Token') return { head, ...text, remedy: asSentence(oneLine(check.remedy ?? '', 400)) };
    // An error about the token has the step itself.
    const step = concernsToken(report.error ?? '') ? {} : { step: tokenStep(context) };
    return { head, ...text, remedy: '', ...step };
  });
}

const withStop = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** The names of what is well: `address, DNS, token (expires in 80 days)`. */
export function wellNames(report: Report): string {
  const well = checks(report).filter(({ state }) => state === 'ok');
  return well.map((check) => inSentence(check.name) + asideOf(check)).join(', ');
}

/** `all well` for a preflight in which nothing is wrong, or as far as it went; undefined for others, and where there is none. */
export function allWell(report: Report): string | undefined {
  if (checks(report).length === 0 || notOk(report).length > 0) return undefined;
  const asked = checks(report).some(({ name }) => name === 'Connection');
  return asked ? 'all well' : 'well; the server was not asked';
}

/** How long the token lasts, where it tells. */
function asideOf({ name, text }: Check): string {
  const lasts = name === 'Token' ? /^expires in \d+ days?/.exec(text)?.[0] : undefined;
  return lasts === undefined ? '' : ` (${lasts})`;
}

/** Notes that a check of the preflight does not say already. */
export const notesBeside = (report: Report): string[] =>
  (report.notes ?? []).filter((note) => !notOk(report).some((check) => saysTheSame(check, note)));

const saysTheSame = ({ name, text }: Check, note: string): boolean =>
  holds(note, text) || (name === 'Token' && /^The token expire[sd] /.test(note));

/** Errors and reasons hold the very words of the failure that a check is about; when a token expired is more than they say. */
const isToldAnyway = ({ text }: Check, { error = '', policies }: Report): boolean =>
  holds(error, text) || policies.some(({ reason }) => holds(reason, text));

/** Whole, since two refusals may differ in their last words alone; a long one was cut short and ends with a mark of that. */
const holds = (told: string, words: string): boolean =>
  words !== '' && (told.includes(words) || (words.endsWith('…') && told.includes(words.slice(0, -1))));

const inSentence = (name: Check['name']): string => (name === 'DNS' ? name : name.toLowerCase());
