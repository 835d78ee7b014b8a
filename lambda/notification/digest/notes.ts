import type { Note, ToldNote } from '../../facts/note.ts';
import type { Report } from '../../facts/report-schema.ts';
import { dottedName } from '../../policy/aspects.ts';
import { errorsOf, isSameError } from './errors.ts';
import { notOk } from './troubles.ts';

/** The notes that are not covered elsewhere in the message. */
export const notesBeside = (report: Report): ToldNote[] =>
  (report.notes ?? []).filter((note) => !isToldElsewhere(note, report));

function isToldElsewhere(note: Note, report: Report): boolean {
  const bad = new Set(notOk(report).map(({ name }) => name));
  switch (note.kind) {
    case 'no-sizes':
      return bad.has('Sizes') || bad.has('Address') || errorsOf(report).some((error) => isSameError(note.error, error));
    case 'token-expires':
    case 'token-expired':
      return bad.has('Token');
    case 'truncate-failed':
      // Its policy is reported as failed, with this cause.
      return report.policies.some(
        ({ cause, ...entry }) => cause.kind === 'step-failed' && dottedName(entry) === note.index,
      );
    default:
      return false;
  }
}

export const isAboutClearing = ({ kind }: Note): boolean =>
  kind === 'released' || kind === 'not-released' || kind === 'nothing-to-clear';

/** A clearing run is about nothing else. */
export const isClearing = (report: Report): boolean => notesBeside(report).some(isAboutClearing);
