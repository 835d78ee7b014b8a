import { type Note, noteKinds } from '../facts/note.ts';
import { type Outcome, outcomes } from '../facts/outcome.ts';
import { cameBack, factText } from './errors.ts';
import { counted, day, duration, moment, rows } from './numbers.ts';
import { outcomeWords } from './outcome-words.ts';

/** Notes in English: one or two sentences, with capital and full stop. */
export function noteText(note: Note): string {
  return noteKinds.includes(note.kind) ? textOf(note) : 'This report holds a note of another version.';
}

function textOf(note: Note): string {
  switch (note.kind) {
    case 'token-expires':
      return `The token expires on ${date(note.at)}: create a new one in DataHub and store it before then.`;
    case 'token-expired':
      return `The token expired on ${date(note.at)}: create a new one in DataHub and store it.`;
    case 'no-date-header':
      return 'The server sends no Date header, so its clock could not be compared with ours.';
    case 'no-sizes':
      return `Index sizes are unknown: ${factText(note.error)}`;
    case 'truncate-failed':
      return `Truncate failed for ${note.index} (${note.error}); what it did is told below its name.`;
    case 'taken-over':
      return `The ledger's record of ${note.index} was written for another address (${note.address}; this run speaks to ${note.ourAddress}). It is idle, so it was taken over, and its counts were not compared.`;
    case 'clock-corrected':
      return `The ledger's record of ${note.index} held times in the future, because a clock had been ahead; they were put at the present.`;
    case 'started-beside':
      return `Truncations were started beside that of ${note.index}, which an earlier run left and which does not move.`;
    case 'released':
      return releasedText(note);
    case 'not-released':
      return notReleasedText(note);
    case 'nothing-to-clear':
      return `There was nothing to clear for ${note.index}: it is not quarantined.`;
    case 'folded':
      return `${counted(note.policies, 'policy', 'policies')} ${outcomeWords[knownOutcome(note.outcome)]} ${note.policies === 1 ? 'is' : 'are'} counted here only: one run cannot carry more.`;
    case 'memory-unavailable':
      return `The memory of nights is not available (${note.problem}): no growth and no estimates.`;
    case 'longer-than-run':
      return `${note.index} will take about ${duration(note.seconds)}, as last time, and a run ends after ${note.hours} hours (maxRunHours): the next run goes on watching.`;
    case 'shortened':
      return shortenedText(note);
  }
}

const date = (millis: number): string => day(new Date(millis).toISOString()) ?? 'an unknown day';

const knownOutcome = (given: string): Outcome => outcomes.find((outcome) => outcome === given) ?? 'unknown';

function releasedText({ index, rowsMissing, rowsIn, uncounted }: Note & { kind: 'released' }): string {
  const closed = `Released: ${index}`;
  if (uncounted) return `${closed}, as you accepted, without a count to compare with.`;
  if (rowsMissing === 0) return `${closed}. All rows that should be there are there.`;
  const where = rowsIn === undefined ? '' : `; they may still be in ${rowsIn}`;
  return `${closed}, with ${rows(rowsMissing, 'exact')} missing, as you accepted${where}. No later run says so again.`;
}

function notReleasedText({ index, why, rowsMissing = 0, until, error }: Note & { kind: 'not-released' }): string {
  const kept = `Not released: ${index}`;
  switch (why) {
    case 'rows-missing':
      return `${kept}, because ${rows(rowsMissing, 'exact')} that should be there ${rowsMissing === 1 ? 'is' : 'are'} missing. Get them back first; if they may stay missing, accept that number.`;
    case 'uncounted':
      return `${kept}, because there is nothing to compare its rows with. Look at it; if it is as it should be, accept that.`;
    case 'sending':
      return `${kept}, because a truncation of it may still be sent${until === undefined ? '' : `; try again from ${moment(until)} on`}.`;
    case 'running':
      return `${kept}, because a truncation of it is not finished${until === undefined ? '' : `; try again from ${moment(until)} on`}.`;
    case 'server':
      return `${kept}, because its rows could not be counted (${error ? cameBack(error) : 'the server did not answer'}).`;
    case 'ledger':
      return `${kept}, because the ledger could not be read or written.`;
  }
}

function shortenedText({ policies, of, outcomes: left, indices, indicesOf }: Note & { kind: 'shortened' }): string {
  const counts = Object.entries(left).map(([outcome, count]) => `${count} ${outcomeWords[knownOutcome(outcome)]}`);
  return [
    'Shortened to fit into one message: long texts are cut',
    ...(policies > 0 ? [`${policies} of ${of} policies are left out (${counts.join(', ')})`] : []),
    ...(indices > 0 ? [`${indices} of ${indicesOf} indices without a policy are left out`] : []),
    "the execution's last state in Step Functions holds everything.",
  ].join('; ');
}

