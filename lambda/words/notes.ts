import type { NoteOf } from '../facts/note.ts';
import { fromDottedName } from '../policy/aspects.ts';
import { counted, date, exact, moment, rows } from './numbers.ts';
import {
  byHand,
  cutoffText,
  isOrAre,
  lookAtIndices,
  lookAtTasks,
  noUpgrade,
  releaseOf,
  replaced,
  resumeCommand,
  sentences,
  storeToken,
} from './parts.ts';
import { asSentence, withoutStop } from './punctuation.ts';
import { diagnosis, errorWords, privileges } from './server-errors.ts';
import type { NoteTable, Place } from './table.ts';

/** What people should know besides the indices: one entry for each kind of note. */

export const notes: NoteTable = {
  'token-expires': ({ at, expired }, place) => ({
    subject: expired ? 'TOKEN EXPIRED' : `TOKEN EXPIRES ${date(at)}`,
    what: `the token ${expired ? 'expired' : 'expires'} on ${date(at)}`,
    why: 'Without a new one every run fails from then on.',
    urgency: 'act',
    next: 'Create a new token in DataHub (Settings, Access Tokens) and store it.',
    act: storeToken(place),
    section: 'Token',
  }),
  'no-date-header': () => ({
    what: 'the server sends no Date header, so its clock was not compared with ours',
    why: 'This is harmless as long as both clocks are right.',
    urgency: 'nothing',
  }),
  rights: ({ what, error }) => ({
    subject: what === 'sizes' ? 'sizes unknown' : 'task statuses unknown',
    what: what === 'sizes' ? 'this token may not read index sizes' : 'this token may not read task statuses',
    why: asSentence(errorWords(error).came),
    urgency: 'change',
    next: `Grant its owner the privilege "${privileges[error.operation]}"; until then ${what === 'sizes' ? 'reports have no sizes' : 'deletes are watched by counts, and reindexes are not started'}.`,
    section: 'Token',
  }),
  paused: ({ problem }, place) =>
    problem === undefined
      ? {
          what: 'the job is paused',
          why: `If that is intended, do nothing; otherwise resume it${resumeLine(place)}`,
          urgency: 'nothing',
        }
      : {
          subject: 'pause unknown',
          what: `whether the job is paused cannot be read, which counts as paused (${withoutStop(problem)})`,
          urgency: 'week',
          next: 'If the pause is intended, do nothing; otherwise resume it.',
          act: resumeCommand(place),
        },
  unconfirmed: ({ confirmed, pending }) => ({
    subject: 'subscription not confirmed',
    what:
      confirmed === 0
        ? 'nobody receives the messages of this stage: its topic has no confirmed subscription'
        : `${counted(pending, 'subscription', 'subscriptions')} of the topic ${isOrAre(pending)} not confirmed: no message arrives there`,
    urgency: 'change',
    next: 'Open the link in the mail that AWS has sent to each address, or subscribe somebody.',
  }),
  'preview-by-hand': () => ({
    what: 'this run was started by hand without a mode, so it only previews',
    why: 'To truncate, start it with {"mode": "enforce"}.',
    urgency: 'nothing',
  }),
  'approves-nothing': ({ approveRows }) => ({
    what: `a preview approves nothing: approveRows (${exact(approveRows)}) has no effect`,
    urgency: 'nothing',
  }),
  'field-refused': () => ({
    what: 'the server does not know the field forceDeleteByQuery, so this run left it out',
    why: 'Such a server may choose to copy an index.',
    urgency: 'nothing',
    section: 'Copies',
  }),
  'truncate-failed': ({ index, error }) => ({
    subject: 'Truncate failed',
    what: `the Truncate function failed for ${index} (${withoutStop(error)})`,
    why: 'Poll took over and found out what it had done.',
    urgency: 'change',
    next: "If it happens again, search its log for the run's ID.",
  }),

  released: (note, place) => ({
    subject: `${note.index} released`,
    what: `released: ${note.index}`,
    why: releasedWhy(note, place),
    urgency: note.rowsMissing || note.uncounted || note.unread || note.copied || note.running ? 'change' : 'nothing',
    next: note.copied ? 'Before the old index is removed, copy the rows that only it has (runbook).' : undefined,
    section: note.copied ? 'Copies' : 'Quarantined',
  }),
  'not-released': (note, place) => ({
    subject: `NOT RELEASED: ${note.index}`,
    what: `not released: ${note.index}`,
    why: sentences(replaced(note.indexBefore, note.indexNow), refusals[note.why](note), cutoffText(note.cutoffMillis)),
    urgency: note.why === 'rows-missing' ? 'act' : 'week',
    next: nextOf(note),
    // The plain release comes first; what accepts a loss only where nothing else releases the index.
    look: note.why === 'unresolved' || note.why === 'copy' ? lookAtTasks : lookAtIndices(fromDottedName(note.index)),
    act: releaseOf(note.index, place),
    instead: accepting(note, place),
    section: note.why === 'rows-missing' ? 'Rows missing' : 'Quarantined',
  }),
  'nothing-to-release': ({ index }) => ({
    subject: `nothing to release: ${index}`,
    what: `nothing to release: ${index} is not quarantined`,
    urgency: 'nothing',
  }),

  late: ({ startedAt }) => ({
    what: `this report is late, of ${moment(startedAt)}: what it says may have changed since`,
    urgency: 'nothing',
  }),
  beyond: ({ entries, names, quarantined }) => ({
    subject: `${entries} more indices`,
    what: `${counted(entries, 'more index does', 'more indices do')} not fit into this report (${names.slice(0, 5).join(', ')}${names.length > 5 ? ', ...' : ''})`,
    why: quarantined.length === 0 ? '' : `Quarantined among them: ${quarantined.slice(0, 10).join(', ')}.`,
    urgency: quarantined.length === 0 ? 'change' : 'week',
    next: 'Spread the policies over several stages.',
  }),
  shortened: ({ policies, of, indices, indicesOf }) => ({
    subject: 'shortened',
    what: `shortened to fit into one message: ${policies} of ${of} policies and ${indices} of ${indicesOf} indices without a policy are left out`,
    why: "The input of the execution's state Report has everything.",
    urgency: 'nothing',
  }),
};

const elsewhere = (address: string): string =>
  `Its record is of another address (${address}), so what this server counts proves nothing.`;

const releasedWhy = (note: NoteOf<'released'>, place: Place): string =>
  sentences(
    note.decidedAt !== undefined &&
      note.decidedBy !== place.runId &&
      `Run ${note.decidedBy} released it on ${moment(Date.parse(note.decidedAt))}, and no report is known to have included it.`,
    replaced(note.indexBefore, note.indexNow),
    note.address !== undefined && elsewhere(note.address),
    counting(note),
    note.copied && !note.rowsMissing && 'It was copied, and newer rows may hide that some are missing.',
    note.running && 'Its task may still be copying.',
    cutoffText(note.cutoffMillis),
  );

function counting({ rowsMissing, uncounted, unread, betweenRuns }: NoteOf<'released'>): string {
  if (unread) return 'Another version of this job recorded the count, and this one cannot read it.';
  if (uncounted) return 'As accepted, its rows were not counted.';
  if (rowsMissing) {
    return `As accepted, ${rows(rowsMissing, 'exact')} ${isOrAre(rowsMissing)} missing; later runs do not report this again.`;
  }
  return `It has as many rows as were counted ${betweenRuns ? 'after its last truncation' : 'before its truncation'}.`;
}

const refusals: Record<NoteOf<'not-released'>['why'], (note: NoteOf<'not-released'>) => string> = {
  'rows-missing': ({ rowsMissing = 0 }) => `${rows(rowsMissing, 'exact')} ${isOrAre(rowsMissing)} missing.`,
  uncounted: () => 'There is no earlier count to compare its rows with.',
  unresolved: ({ until }) =>
    `A truncation of it is unresolved${until === undefined ? '' : `; a release is accepted from ${moment(until)}`}.`,
  copy: ({ rowsMissing = 0 }) =>
    `The server may still be copying it${rowsMissing > 0 ? `, and ${rows(rowsMissing, 'exact')} ${isOrAre(rowsMissing)} missing` : ''}.`,
  elsewhere: ({ rowsMissing, address = 'unknown' }) =>
    sentences(elsewhere(address), rowsMissing === 0 && 'It counts as many rows as before.'),
  taken: () => 'Another run wrote to its ledger record in the meantime.',
  server: ({ error }) =>
    `${error === undefined ? 'The server did not answer' : `It could not be counted: ${diagnosis(error)}`}.`,
  ledger: ({ problem = 'no reason given' }) => `The ledger could not be read or written: ${withoutStop(problem)}.`,
};

function nextOf({ why, until }: NoteOf<'not-released'>): string {
  if (why === 'rows-missing') return noUpgrade;
  if (why === 'unresolved') return `Release it again ${until === undefined ? 'later' : `after ${moment(until)}`}.`;
  if (why === 'copy') return 'Wait until its task has ended, then release it again.';
  return why === 'elsewhere'
    ? 'Use that address again, or look at the index and accept what is there.'
    : 'Once this is fixed, release it again.';
}

/** What releases the index although rows are missing, or cannot be counted. */
function accepting({ index, why, rowsMissing = 0 }: NoteOf<'not-released'>, place: Place) {
  if (why !== 'rows-missing' && why !== 'uncounted' && why !== 'copy' && why !== 'elsewhere' && why !== 'server')
    return undefined;
  const acceptMissing = Math.max(1, rowsMissing);
  const what = rowsMissing > 0 ? `with ${rows(acceptMissing, 'exact')} missing` : 'without proof that it is whole';
  return byHand(`Only if they may stay missing: this releases it ${what}`, { release: [index], acceptMissing }, place);
}

/** A remark is one line, its command included, and a command has no full stop. */
function resumeLine(place: Place): string {
  const command = resumeCommand(place);
  return command === undefined ? '.' : `: ${command.line}`;
}
