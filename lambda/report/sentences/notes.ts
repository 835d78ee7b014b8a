import type { NoteKind, NoteOf } from '../../model/note.ts';
import { fromDottedName } from '../../policy/aspects.ts';
import { listIndices, listTasks, release, releaseAnyway, resume, storeToken, untilRefreshed } from './commands.ts';
import { counted, date, exact, moment, rows } from './numbers.ts';
import {
  asSentence,
  type Context,
  createToken,
  cutoffText,
  ifRed,
  isOrAre,
  joined,
  replaced,
  type Sentences,
  titles,
  withoutPeriod,
} from './phrases.ts';
import { errorSentences, remedyByHand } from './server-errors.ts';
import { oneLine } from './text.ts';

/** What people should know besides the indices: one entry for each kind of note. */

type Entry<Kind extends NoteKind> = (note: NoteOf<Kind>, context: Context) => Sentences;

const paused: Entry<'paused'> = ({ problem }, context) => {
  const command = resume(context);
  if (problem !== undefined) {
    return {
      subject: 'pause unknown',
      what: `the pause switch cannot be read, so the job counts as paused (${withoutPeriod(problem)})`,
      urgency: 'week',
      next: 'If the pause is intended, do nothing; otherwise resume the job.',
      act: command,
    };
  }
  // A remark is one line, its command included, and a command has no full stop.
  const how = command === undefined || context.afterLoss || context.ofChange ? '.' : `: ${command.line}`;
  return {
    what: 'the job is paused',
    why: `If that is intended, do nothing; otherwise resume the job${how}`,
    urgency: 'nothing',
  };
};

const fewerRows: Entry<'fewer-rows'> = ({ index, expected, found, since }) => ({
  subject: `fewer rows in ${index}`,
  what: `fewer rows in ${index}: ${exact(found)} of the ${exact(expected)} that were counted on ${moment(since)} and should still be there`,
  why: "This job does not delete these rows: DataHub's datahub-gc, an upgrade, a person or an unavailable shard can explain it. The policy stays in force.",
  urgency: 'week',
  next: `${ifRed} find out what deletes rows from it.`,
  inspect: listIndices(fromDottedName(index)),
  section: 'Rows missing',
});

const released: Entry<'released'> = (note, context) => {
  const { index, missing = 0, unknown, method, decidedAt = '', decidedBy } = note;
  const isReindex = method === 'reindex';
  // Without its new index in place, no old one is left behind.
  const isReplaced = isReindex && unknown !== 'reindex';
  const isOwn = decidedBy === undefined || decidedBy === context.runId;
  return {
    subject: `${index} released`,
    what: `released: ${index}`,
    why: joined(
      !isOwn && `Run ${decidedBy} released it on ${moment(Date.parse(decidedAt))}.`,
      note.by !== undefined && `Released by ${oneLine(note.by, 100)}.`,
      replaced(note.indexBefore, note.indexNow),
      unknown !== undefined
        ? `As accepted: ${unknownOf(note, context).clause}.`
        : missing > 0
          ? `As accepted, ${uncountedText(note)}; later runs do not report this again.`
          : 'No row that was counted before its truncation is missing.',
      isReindex && missing === 0 && !note.nothingChanged && 'Late rows may hide a loss.',
      (isReindex || missing > 0) && cutoffText(note.cutoffMillis),
    ),
    urgency: missing > 0 || unknown !== undefined || isReindex ? 'change' : 'nothing',
    next: isReplaced
      ? 'Before the old index is removed, copy the rows that only it has, as the runbook says.'
      : missing > 0
        ? 'If these rows matter, bring them back as the runbook says.'
        : note.nothingChanged
          ? 'Set refuseReindex to true in its policy, or the next run asks for the same again.'
          : unknown !== undefined
            ? 'If its rows matter, check whether they are there.'
            : undefined,
    section: isReplaced ? 'Reindexes' : missing > 0 ? 'Rows missing' : 'Quarantined',
  };
};

/** `50 rows are missing`; of a reindex perhaps `50 rows are not visible`. */
function uncountedText(note: NoteOf<'released'> | NoteOf<'not-released'>): string {
  const { missing = 0, notVisible, unwritten = 0 } = note;
  const besides = unwritten > 0 && unwritten < missing ? ` (its task did not write ${exact(unwritten)})` : '';
  return `${rows(missing, 'exact')} ${isOrAre(missing)} ${notVisible === undefined ? 'missing' : 'not visible'}${besides}`;
}

/** Why it is not known whether rows are missing, as a clause, and what a person can do about it. */
function unknownOf(
  note: NoteOf<'released'> | NoteOf<'not-released'>,
  { audience }: Context,
): { clause: string; next: string } {
  const { unknown, address = 'another address', error, nothingChanged } = note;
  const came = error === undefined ? '' : ` (${errorSentences(error).came})`;
  switch (unknown) {
    case 'unreadable':
      return {
        clause: 'its ledger record cannot be read, so there is no earlier count',
        next: 'Restore the record, or check the index and accept what is there: there is no count to compare with.',
      };
    case 'address':
      return {
        clause: `its ledger record belongs to ${address}, so the counts of this server prove nothing`,
        next: 'Use that address again, or check the index and accept what is there.',
      };
    case 'reindex':
      if (nothingChanged) {
        return {
          clause: 'its rows are where they were before the request, and nothing proves that no reindex comes later',
          next: 'If no task reindexes it, release it as it is.',
        };
      }
      return {
        clause: 'its reindex is not in place, so no count proves it',
        next: 'Wait until no task reindexes it; then release it as it is, if its rows are there.',
      };
    case 'running': {
      const besides = (note.missing ?? 0) > 0 ? `, and ${uncountedText(note)}` : '';
      if (error === undefined) {
        return {
          clause: `its status says that it still runs${besides}`,
          next: 'Wait until its task has ended, then release it again.',
        };
      }
      return {
        clause: `it may still run: its status cannot be read${came}${besides}`,
        next: 'Release it again once its status can be read. If it never can, and no task reindexes it, release it as it is.',
      };
    }
    case 'uncounted':
    case undefined:
      return {
        clause: `its rows could not be counted${came}`,
        next: joined(error && remedyByHand(error, audience.kind), 'Then release it again.'),
      };
  }
}

const notReleased: Entry<'not-released'> = (note, context) => {
  const { index } = note;
  if (note.why === 'idle') {
    const what = `nothing to release: ${index} is neither quarantined nor under way`;
    return { subject: `nothing to release: ${index}`, what, urgency: 'nothing' };
  }
  const isLoss = note.why === 'missing';
  return {
    subject: `NOT RELEASED: ${index}`,
    what: `not released: ${index}`,
    urgency: isLoss ? 'act' : 'week',
    // The plain release comes first.
    act: release(index, context),
    section: isLoss ? 'Rows missing' : 'Quarantined',
    ...refusal(note, context),
  };
};

function refusal(
  note: NoteOf<'not-released'>,
  context: Context,
): Pick<Sentences, 'why' | 'next' | 'inspect' | 'act' | 'instead' | 'section'> {
  const { index, missing = 0, accepted, until, problem = 'no reason given' } = note;
  const count = uncountedText(note);
  const lists = listIndices(fromDottedName(index));
  const hidden = untilRefreshed(fromDottedName(index), note.indexNow);
  const accepting = (how: string) =>
    releaseAnyway(index, missing, `Only if they may stay missing: this releases it ${how}`, context);
  switch (note.why) {
    case 'idle':
    case 'unreported':
      return {
        why: 'Its verdict has to be reported first; this report does that.',
        next: 'Read what happened to it, then release it again.',
      };
    case 'unresolved':
      return {
        why: `Its truncation is not verified yet${until === undefined ? '' : `; a release is accepted from ${moment(until)} on`}.`,
        next: `Let an enforcing run verify it, or release it again ${until === undefined ? 'later' : 'then'}.`,
        inspect: listTasks,
      };
    case 'missing': {
      const wasReplaced = replaced(note.indexBefore, note.indexNow);
      return {
        why: joined(
          wasReplaced,
          `${count}${accepted === undefined ? '' : ` (accepted: ${exact(accepted)})`}.`,
          cutoffText(note.cutoffMillis),
        ),
        ...(note.notVisible === undefined
          ? {
              next: joined(
                `${ifRed} bring the rows back as the runbook says, then release it again.`,
                (note.method === 'reindex' || wasReplaced !== '') &&
                  'Until then, do not upgrade DataHub: that may remove the old index with the rows.',
              ),
              inspect: lists,
            }
          : { ...hidden, next: `${hidden.next} Then release it again.` }),
        instead: accepting(
          `with ${rows(missing, 'exact')} ${note.notVisible === undefined ? 'missing' : 'not visible'}`,
        ),
      };
    }
    case 'unknown': {
      const { clause, next } = unknownOf(note, context);
      return {
        why: joined(replaced(note.indexBefore, note.indexNow), asSentence(clause), cutoffText(note.cutoffMillis)),
        ...(note.notVisible === undefined
          ? { next, inspect: note.unknown === 'reindex' || note.unknown === 'running' ? listTasks : lists }
          : { ...hidden, next: `${hidden.next} ${next}` }),
        instead: note.nothingChanged
          ? releaseAnyway(index, 0, 'This counts again, and releases it as it is', context)
          : accepting('without proof that no row is missing'),
      };
    }
    case 'taken':
      return { why: 'Another run wrote to its ledger record in the meantime.', next: 'Release it again.' };
    case 'ledger':
      return {
        why: `The ledger could not be read or written: ${withoutPeriod(problem)}.`,
        next: 'Fix that, then release it again.',
      };
  }
}

const beyond: Entry<'beyond'> = ({ entries, names, quarantined, quarantinedInAll = quarantined.length }) => ({
  subject: `${entries} more ${entries === 1 ? 'index' : 'indices'}`,
  what: `${counted(entries, 'more index does', 'more indices do')} not fit into this report (${names.slice(0, 5).join(', ')}${names.length > 5 ? ', ...' : ''})`,
  why:
    quarantined.length === 0
      ? undefined
      : `Quarantined among them: ${quarantined.slice(0, 10).join(', ')}${quarantinedInAll > 10 ? `, and ${exact(quarantinedInAll - 10)} more` : ''}.`,
  urgency: quarantined.length === 0 ? 'change' : 'week',
  next: 'Spread the policies over several stages.',
});

const change: Entry<'change'> = ({ policies, differ, unread, problem }) => ({
  what: `${counted(policies, 'policy', 'policies')} that ${isOrAre(policies)} not live${differText(differ)}`,
  why: joined(
    problem === undefined ? '' : `The live policies cannot be read, so nothing is compared: ${withoutPeriod(problem)}.`,
    unread === 0
      ? ''
      : `${counted(unread, 'index has', 'indices have')} a result that nobody has read; a preview of the live policies reports it.`,
  ),
  urgency: 'nothing',
});

function differText(differ: number | undefined): string {
  if (differ === undefined) return '';
  if (differ === 0) return ', and would decide as the live ones do';
  return `, with ${counted(differ, 'difference', 'differences')} from the live ones`;
}

const policyChange: Entry<'policy-change'> = ({ index, what, deletesMore, fields, today, withGiven }) => {
  const value = (text: string | number | boolean | undefined) => (text === undefined ? 'not set' : String(text));
  const changed = fields.map(({ field, live, given }) => `${field} ${value(given)} (live: ${value(live)})`).join(', ');
  const decided = (when: string, found: typeof today) => {
    if (found === undefined) return '';
    const { outcome, rowsToDelete = 0 } = found;
    return `${when}: ${outcome === 'would-truncate' ? `${rows(rowsToDelete, 'exact')} to delete` : titles[outcome]}.`;
  };
  return {
    what: `${what} policy for ${index}${changed === '' ? '' : `: ${changed}`}${deletesMore ? '; it may delete more' : ''}`,
    why: joined(decided('The next run without the change', today), decided('With it', withGiven)),
    urgency: 'nothing',
  };
};

const expires = (what: string, { at, expired }: { at: number; expired?: boolean | undefined }) => ({
  subject: `${what.toUpperCase()} ${expired ? 'EXPIRED' : `EXPIRES ${date(at)}`}`,
  what: `the ${what} ${expired ? 'expired' : 'expires'} on ${date(at)}`,
  urgency: 'act' as const,
});

export const notes: { [Kind in NoteKind]: Entry<Kind> } = {
  change,
  'policy-change': policyChange,
  'token-expires': (note, { guide }) => ({
    ...expires('token', note),
    why: 'Every run fails from then on, until there is a new token.',
    next: asSentence(`${createToken} and store it`),
    act: storeToken(guide),
    section: 'Token',
  }),
  'certificate-expires': (note) => ({
    ...expires('client certificate', note),
    why: 'The gateway in front of DataHub refuses it from then on, until there is a new one.',
    next: 'Renew it, and store certificate and key together.',
  }),
  'no-date-header': () => ({
    what: 'the server sends no valid Date header, so its clock was not compared with ours',
    why: 'This is harmless as long as both clocks are right.',
    urgency: 'nothing',
  }),
  paused,
  'preview-by-hand': () => ({
    what: 'this run was started by hand without a mode, so it only previews',
    why: 'To truncate, start it with {"mode": "enforce"}.',
    urgency: 'nothing',
  }),
  unconfirmed: ({ confirmed, pending }) => ({
    subject: 'subscription not confirmed',
    what:
      confirmed === 0
        ? 'nobody receives the messages of this stage: its topic has no confirmed subscription'
        : `${counted(pending, 'subscription', 'subscriptions')} of the topic ${isOrAre(pending)} not confirmed: no message arrives there`,
    urgency: 'change',
    next: 'Open the link in the mail that AWS sent to each address, or add another subscription.',
  }),
  'field-refused': () => ({
    what: 'the server does not know the field forceDeleteByQuery, so this run left it out',
    why: 'Such a server may choose to reindex.',
    urgency: 'nothing',
    section: 'Reindexes',
  }),
  'truncate-failed': ({ index, error }) => ({
    subject: 'Truncate failed',
    what: `the Truncate function failed for ${index} (${withoutPeriod(error)})`,
    why: 'Poll took over and found out what it had done.',
    urgency: 'change',
    next: "If it happens again, search its log for the run's ID.",
  }),
  'fewer-rows': fewerRows,
  'other-address': ({ address, records }) => ({
    what: `${counted(records, 'ledger record belongs', 'ledger records belong')} to ${records === 1 ? 'another server address,' : 'other server addresses, such as'} ${address}`,
    why: `${records === 1 ? 'It is' : 'They are'} left alone. If both addresses lead to one server, use that address again.`,
    urgency: 'nothing',
  }),
  'empty-ledger': (_, { guide }) => ({
    what: 'the ledger holds no record, as before the first truncation',
    why: `If this job has truncated here before, ${guide.otherLedger}. Until then, earlier quarantines do not hold, and what is under way is not seen.`,
    urgency: 'nothing',
  }),
  released,
  'not-released': notReleased,
  late: ({ startedAt }) => ({
    what: `this report of ${moment(startedAt)} is late, and may be out of date`,
    urgency: 'nothing',
  }),
  beyond,
  shortened: ({ indices, indicesOf }) => ({
    what: `shortened to fit into one message: long texts are cut, and ${indices} of ${indicesOf} indices without a policy are left out`,
    why: "The input of the execution's state Report has everything.",
    urgency: 'nothing',
  }),
};
