import type { NoteKind } from './note.ts';
import type { Report } from './report-schema.ts';

/** Notes that ask nothing of anybody: they only say how the run went. */
const quietNotes: readonly NoteKind[] = ['no-date-header', 'field-refused', 'shortened'];

/**
 * Whether people who subscribe to problems only get this report (rule 12): a result is not ok, something was
 * lost, may be lost, or is asked of somebody. A report that is not sent informs nobody. (Of a run that a person
 * started, they get it in any case.)
 */
export const isProblem = (report: Report): boolean =>
  report.result !== 'ok' ||
  // A copy may leave rows in the old index, and so does anybody who replaces the index meanwhile.
  report.policies.some(
    ({ rowsMissing = 0, copies, indexNow }) => rowsMissing > 0 || copies || indexNow !== undefined,
  ) ||
  (report.notes ?? []).some(({ kind }) => !quietNotes.includes(kind));
