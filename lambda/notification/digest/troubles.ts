import type { Report, WordedCheck } from '../../facts/report-schema.ts';
import { oneLine } from '../../facts/text.ts';
import { asSentence } from '../../wording/punctuation.ts';
import type { MessageContext } from '../context.ts';
import { tokenStep } from '../next/run-steps.ts';
import type { Step } from '../next/step.ts';
import { errorsOf, isSameError } from './errors.ts';

/**
 * The preflight of a preview in words: one line if all is well, else one for each failed check, with its remedy.
 * Anything that the run's error or a policy already says is not repeated: each cause is reported once. The result of
 * the run does not depend on it. A refused truncation, a wrong clock or an absent server fail the policies anyway; the
 * rest (sizes, task status, a token's expiry) is optional for runs, and an `ok` for machines stays one.
 */

/** The most that people read; there are nine kinds of checks, and two kinds of copies. */
const shown = 10;

const checks = (report: Report): readonly WordedCheck[] =>
  report.mode === 'preview' ? (report.preflight ?? []).slice(0, shown) : [];

export const notOk = (report: Report): WordedCheck[] => checks(report).filter(({ state }) => state !== 'ok');

/** Checks that failed; 0 for runs without a preflight. */
export const failedChecks = (report: Report): number => checks(report).filter(({ state }) => state === 'failed').length;

/** A check that needs an operator. */
export interface Trouble {
  /** Some checks only inform. */
  state: 'failed' | 'note';
  /** `Sizes FAILED`, or the bare name if it is for information only. */
  head: string;
  /** What is wrong; omitted if the message says it anyway. */
  text?: string;
  /** A sentence; empty if a step contains it, or the message says it anyway. */
  remedy: string;
  /** The next step, which may have a command. */
  step?: Step;
}

export function troubles(report: Report, context: MessageContext): Trouble[] {
  return notOk(report).map((check) => {
    const state = check.state === 'failed' ? 'failed' : 'note';
    const head = `${check.name}${state === 'failed' ? ' FAILED' : ''}`;
    const text = isToldAnyway(check, report) ? {} : { text: asSentence(oneLine(check.text, 500)) };
    if (check.name !== 'Token') return { state, head, ...text, remedy: asSentence(oneLine(check.remedy ?? '', 400)) };
    // An error about the token has the step itself.
    const step = concernsToken(report) ? {} : { step: tokenStep(context) };
    return { state, head, ...text, remedy: '', ...step };
  });
}

const concernsToken = ({ cause }: Report): boolean =>
  cause?.kind === 'server' && (cause.error.kind === 'unauthorized' || cause.error.kind === 'token');

/** The names of successful checks: `address, DNS, token (expires in 80 days)`. */
export function wellNames(report: Report): string {
  const well = checks(report).filter(({ state }) => state === 'ok');
  return well.map((check) => inSentence(check.name) + asideOf(check, report)).join(', ');
}

/**
 * `all well` for a preflight that found nothing wrong, as far as it got; undefined otherwise, and if there is none.
 */
export function allWell(report: Report): string | undefined {
  if (checks(report).length === 0 || notOk(report).length > 0) return undefined;
  const asked = checks(report).some(({ name }) => name === 'Connection');
  return asked ? 'all well' : 'well; the server was not asked';
}

/** How long the token lasts, if it says so. */
function asideOf({ cause }: WordedCheck, { finishedAt }: Report): string {
  if (cause.kind !== 'token' || cause.expiresAt === undefined) return '';
  const days = Math.floor((cause.expiresAt - Date.parse(finishedAt)) / 86_400_000);
  return Number.isNaN(days) ? '' : ` (expires in ${days} ${days === 1 ? 'day' : 'days'})`;
}

/** Whether the run's error, or a policy, is about the same failure as the check. */
function isToldAnyway({ cause }: WordedCheck, report: Report): boolean {
  const error = 'error' in cause ? cause.error : undefined;
  return error !== undefined && errorsOf(report).some((other) => isSameError(error, other));
}

const inSentence = (name: WordedCheck['name']): string => (name === 'DNS' ? name : name.toLowerCase());
