import { isLoss, mayHaveLost } from '../facts/losses.ts';
import type { Report } from '../facts/report-schema.ts';
import { tokenEnds } from './digest/totals.ts';
import { failedChecks } from './digest/troubles.ts';
import { noteStep } from './next/run-steps.ts';

/**
 * Whether a report is of no interest to subscribers to problems only: nothing was lost, nothing may be lost, and nothing
 * is asked of anybody. What a report says and nobody is sent, nobody has been told.
 */
export const isQuiet = (report: Report): boolean =>
  report.result === 'ok' &&
  !tokenEnds(report) &&
  failedChecks(report) === 0 &&
  !report.policies.some((entry) => isLoss(entry) || mayHaveLost(entry)) &&
  !(report.notes ?? []).some((note) => noteStep(note, {}) !== undefined);
