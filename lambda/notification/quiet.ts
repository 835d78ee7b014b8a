import type { Report } from '../facts/report-schema.ts';
import { failedChecks } from './digest/preflight.ts';
import { tokenEnds } from './digest/totals.ts';

/**
 * Whether a report says nothing to somebody who is told of problems only. A token that is about to expire is a problem, although
 * everything went well this time; and so is a check of a preview's preflight that failed, although the preview could do without.
 */
export const isQuiet = (report: Report): boolean =>
  report.result === 'ok' && !tokenEnds(report) && failedChecks(report) === 0;
