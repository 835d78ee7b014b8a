import type { Cause } from '../facts/cause.ts';
import { knownOutcome } from '../facts/outcomes.ts';
import type { DecidedFacts } from '../facts/report-schema.ts';
import { concernsServer } from '../facts/server-error.ts';
import {
  ceilingText,
  changedText,
  dueText,
  emptiedText,
  foreignText,
  guardText,
  heldText,
  older,
  quarantinedText,
  share,
  stepFailedText,
  stoppedText,
} from './decisions.ts';
import { cameBack, type Detail, diagnosis, diagnosisText, errorText, factText } from './errors.ts';
import { counted, exact, rows } from './numbers.ts';
import { outcomeAlone } from './outcome-words.ts';
import { withoutStop } from './punctuation.ts';
import { missingText, notRefreshedText, remainsText, unsettledText, verifiedText, watchingText } from './verdicts.ts';

/** Causes in English. A sentence or two, without a full stop at the end; what to do next is elsewhere. */

/** Why an entry has its outcome; for a kind that this version does not know, the wording of the outcome. */
export const causeText = (entry: DecidedFacts, detail: Detail = 'with-remedy'): string =>
  textOf(entry.cause, entry, detail) ?? outcomeAlone[knownOutcome(entry.outcome)];

function textOf(cause: Cause, entry: DecidedFacts, detail: Detail): string | undefined {
  switch (cause.kind) {
    case 'run-error':
      return 'not looked at: see the error of the run';
    case 'switched-off':
      return 'the policy is switched off ("enabled": false)';
    case 'held':
      return heldText(cause);
    case 'foreign':
      return foreignText(cause);
    case 'quarantined':
      return quarantinedText(cause);
    case 'nothing-to-delete':
      return entry.rowsTotal === 0 ? 'the index is empty' : `none of ${exact(entry.rowsTotal)} rows is ${older(entry)}`;
    case 'below-threshold':
      return `${share(entry)} of the rows are ${older(entry)}, less than the threshold of ${cause.minDeletePercent} %${cause.nights === undefined ? '' : `; at its growth it passes it in about ${counted(cause.nights, 'night', 'nights')}`}`;
    case 'due':
      return dueText(cause, entry);
    case 'above-ceiling':
      return ceilingText(cause, entry);
    case 'emptied':
      return emptiedText(cause, entry);
    case 'guard':
      return guardText(cause, entry, detail);
    case 'changed':
      return changedText(cause);
    case 'paused':
      return cause.problem === undefined
        ? 'the job is paused'
        : `whether the job is paused cannot be determined, which counts as paused (${withoutStop(cause.problem)})`;
    case 'preview':
      return 'a preview starts nothing';
    case 'stopped':
      return stoppedText(cause, entry);
    case 'step-failed':
      return stepFailedText(cause);
    case 'server': {
      const { error, sent } = cause;
      // A failure that every request would hit is not about whichever request came first.
      if (concernsServer(error)) return detail === 'with-remedy' ? factText(error) : diagnosis(error);
      const text = detail === 'with-remedy' ? errorText(error) : diagnosisText(error);
      if (sent === 'no' && error.operation === 'truncate') return `not sent: ${text}`;
      return cause.meant === undefined ? text : `${withoutStop(text)}. Did you mean ${cause.meant}?`;
    }
    case 'unchanged':
      return `${cause.error ? cameBack(cause.error) : 'no answer was recorded'}; nothing that can be seen has changed since (${entry.rowsMissing ? `same index, same rows to delete; ${rows(entry.rowsMissing, 'exact')} newer than the cutoff went meanwhile, as after ordinary entity deletions` : 'same index, same rows'})`;
    case 'verified':
      return verifiedText(cause, entry);
    case 'remains':
      return remainsText(cause, entry);
    case 'missing':
      return missingText(cause, entry);
    case 'not-refreshed':
      return notRefreshedText(cause, entry);
    case 'unsettled':
      return unsettledText(cause, entry);
    case 'watching':
      return watchingText(cause);
    case 'policy':
    case 'parameters':
    case 'input':
    case 'ledger':
      return withoutStop(cause.problem);
    case 'no-policy':
      return 'there is no policy: put one into the stage file and deploy, or add a parameter below <parameterPrefix>/policies/';
    default:
      // Only for kinds of other versions: every kind of this version has its sentence.
      cause satisfies never;
      return undefined;
  }
}
