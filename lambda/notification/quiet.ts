import type { Report } from '../facts/report-schema.ts';
import { failedChecks } from './digest/preflight.ts';
import { tokenEnds } from './digest/totals.ts';

/**
 * Whether a report is of no interest to subscribers to problems only. A token that is about to expire is a problem,
 * even if this run succeeded; so is a failed check of a preview's preflight, even if the preview did not need it.
 */
export const isQuiet = (report: Report): boolean =>
  report.result === 'ok' && !tokenEnds(report) && failedChecks(report) === 0;
