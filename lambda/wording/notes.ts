import { maxEntries } from '../facts/limits.ts';
import { type Note, noteKinds, type ToldNote } from '../facts/note.ts';
import { knownOutcome } from '../facts/outcomes.ts';
import { cameBack, diagnosis } from './errors.ts';
import { counted, date, duration, moment, rows } from './numbers.ts';
import { outcomeWords } from './outcome-words.ts';
import { withoutStop } from './punctuation.ts';

/** Notes in English: one or two sentences, with capital and full stop. */
export function noteText(note: Note): string {
  return noteKinds.includes(note.kind) ? textOf(note) : 'This report holds a note of another version.';
}

/** A note with its text, for a report. */
export const toldNote = (note: Note): ToldNote => ({ ...note, text: noteText(note) });

function textOf(note: Note): string {
  switch (note.kind) {
    case 'token-expires':
      return `The token expires on ${date(note.at)}; without a new one every run fails from then on.`;
    case 'token-expired':
      return `The token expired on ${date(note.at)}.`;
    case 'no-date-header':
      return 'The server sends no Date header, so its clock could not be compared with ours; nothing is wrong as long as both are right.';
    case 'no-sizes':
      return `Index sizes are unknown, and the run goes on without them: ${diagnosis(note.error)}`;
    case 'truncate-failed':
      return `The Truncate function failed for ${note.index} (${note.error}), and Poll took over.`;
    case 'started-beside':
      return `Other truncations were started although that of ${note.index}, which an earlier run left, has not ended: it does not move.`;
    case 'released':
      return releasedText(note);
    case 'not-released':
      return notReleasedText(note);
    case 'nothing-to-clear':
      return `Nothing to clear: ${note.index} is not quarantined.`;
    case 'beyond':
      return `${counted(note.entries, 'further index is', 'further indices are')} not in this report, which lists at most ${maxEntries}${note.quarantined.length === 0 ? '' : `; quarantined among them: ${note.quarantined.join(', ')}`}.`;
    case 'memory-unavailable':
      return `The memory of nights is unavailable (${withoutStop(note.problem)}): no growth and no estimates tonight.`;
    case 'longer-than-run':
      return `The truncation of ${note.index} takes about ${duration(note.seconds)} (last time), and a run ends after ${counted(note.hours, 'hour', 'hours')} (maxRunHours): the next run goes on watching.`;
    case 'shortened':
      return shortenedText(note);
  }
}

function releasedText({ index, rowsMissing, rowsIn, uncounted, running }: Note & { kind: 'released' }): string {
  const released = `Released: ${index}`;
  const still = running ? ' Its task says that it is still running.' : '';
  if (uncounted) return `${released}, as you accepted, without a count to compare with.${still}`;
  if (rowsMissing === 0) {
    return `${released}. Of the rows that could be counted before its truncation, none is missing; rows that no search could see then (written seconds before a copy began) are in no count.${still}`;
  }
  const where = rowsIn === undefined ? '' : `; they may still be in ${rowsIn}, until a DataHub upgrade deletes it`;
  return `${released}, with ${rows(rowsMissing, 'exact')} missing, as you accepted${where}. No later run says so again.${still}`;
}

function notReleasedText({
  index,
  why,
  rowsMissing = 0,
  unreadable,
  until,
  error,
}: Note & { kind: 'not-released' }): string {
  const kept = `Not released: ${index}`;
  switch (why) {
    case 'rows-missing':
      return `${kept}, because ${rows(rowsMissing, 'exact')} that should be there ${rowsMissing === 1 ? 'is' : 'are'} missing.`;
    case 'uncounted':
      return `${kept}, because there is no count to compare its rows with.`;
    case 'unresolved':
      return until === undefined
        ? `${kept}, because a truncation of it is unresolved, and its ledger record has times that cannot be right.`
        : `${kept}, because a truncation of it is unresolved; it can be cleared from ${moment(until)} on.`;
    case 'running':
      return `${kept}, because its task may be copying rows and says that it is still running${rowsMissing > 0 ? `; ${rows(rowsMissing, 'exact')} ${rowsMissing === 1 ? 'is' : 'are'} missing` : ''}.`;
    case 'taken':
      return `${kept}, because another run changed its ledger record in the meantime.`;
    case 'clock':
      return `${kept}, because the server's clock and ours differ by more than 10 minutes.`;
    case 'server':
      return `${kept}, because its rows could not be counted (${error ? cameBack(error) : 'the server did not answer'}).`;
    case 'ledger':
      if (unreadable)
        return `${kept}, because its ledger record cannot be read, and clearing cannot open it. When no truncation of it is running on the server, delete that record by hand: the runbook says how ("Clear an index").`;
      return `${kept}, because the ledger could not be read or written.`;
  }
}

function shortenedText({ policies, of, outcomes: left, indices, indicesOf }: Note & { kind: 'shortened' }): string {
  const counts = Object.entries(left).map(([outcome, count]) => `${count} ${outcomeWords[knownOutcome(outcome)]}`);
  return [
    'Shortened to fit into one message: long texts are cut',
    ...(policies > 0
      ? [`${policies} of ${of} policies are left out${counts.length > 0 ? ` (${counts.join(', ')})` : ''}`]
      : []),
    ...(indices > 0 ? [`${indices} of ${indicesOf} indices without a policy are left out`] : []),
    "the execution's last state in Step Functions holds everything.",
  ].join('; ');
}
