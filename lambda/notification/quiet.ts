import { isLoss, mayHaveLost } from '../facts/losses.ts';
import type { Report } from '../facts/report-schema.ts';
import { tokenEnds } from './digest/totals.ts';
import { failedChecks } from './digest/troubles.ts';
import { noteStep } from './next/run-steps.ts';

/**
 * Whether a report is of no interest to people who subscribe only to problems: nothing was lost, nothing may be lost,
 * and nobody has to act. A report that is not sent informs nobody.
 */
export const isQuiet = (report: Report): boolean =>
  report.result === 'ok' &&
  !tokenEnds(report) &&
  failedChecks(report) === 0 &&
  !report.policies.some((entry) => isLoss(entry) || mayHaveLost(entry)) &&
  !(report.notes ?? []).some((note) => noteStep(note, {}) !== undefined);
