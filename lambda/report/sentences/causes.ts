import type { CauseKind } from '../../model/cause.ts';
import { aboveCeiling, changed, due, guard, notDue, stopped } from './causes-of-decisions.ts';
import { gone, leftAlone, quarantined, unresolved } from './causes-of-unresolved.ts';
import { missing, notVisible, remains, unchanged, unproven, verified } from './causes-of-verdicts.ts';
import { listTasks, preview, release, untilRefreshed } from './commands.ts';
import { rows } from './numbers.ts';
import {
  afterLossInPlaceNext,
  afterLossNext,
  asSentence,
  type CauseEntry,
  type Context,
  isOrAre,
  nameOf,
  nothingDeleted,
  notVisibleText,
  quarantine,
  withoutPeriod,
  withPeriod,
} from './phrases.ts';
import { failedRequest } from './server-errors.ts';

/** Why an index has its outcome, or why the run failed: one entry for each kind of cause. */

const nothingStarted = 'nothing was started';
const maybeSent = 'a truncation may have been sent';

const setup: CauseEntry<'setup'> = ({ what, problem = '' }, { outcome }, context) => {
  if (what === 'run' && outcome === 'not-started') {
    const why = 'It was due, and the run failed before its turn; its error is above.';
    return { subject: 'run failed', what: nothingDeleted, why, urgency: 'nothing' };
  }
  if (what === 'run') {
    const why = 'The run failed before it got to this index; its error is above.';
    return { subject: 'not examined', what: 'it was not examined', why, urgency: 'nothing' };
  }
  const { subject, next } = remedies(context)[what];
  return {
    subject,
    what: nothingStarted,
    why: asSentence(problem),
    urgency: what === 'input' ? 'change' : 'week',
    next,
    inspect: what === 'parameters' || what === 'ledger' ? preview(context) : undefined,
    section: 'Run failed',
  };
};

function remedies(context: Context) {
  const { restoreAccess, policies } = context.guide;
  const fix = `Fix what the error names${restoreAccess === undefined ? '' : `; ${restoreAccess}`}.`;
  return {
    // Elsewhere it is a file, an option or a variable.
    parameters: { subject: restoreAccess === undefined ? 'setting' : 'parameter', next: fix },
    ledger: { subject: 'ledger', next: fix },
    'no-policy': { subject: 'no policy', next: `Write one ${policies}.` },
    input: {
      subject: 'wrong input',
      next: 'Correct the input and start the run again; scheduled runs are not affected.',
    },
  };
}

const policy: CauseEntry<'policy'> = (cause, _, context) => {
  switch (cause.what) {
    case 'unreadable':
      return {
        subject: 'wrong policy',
        what: nothingDeleted,
        why: withPeriod(cause.problem),
        urgency: 'week',
        next: `Correct the policy ${context.guide.policies}.`,
      };
    case 'removed':
      return {
        subject: 'its policy was removed',
        what: nothingDeleted,
        why: 'Its policy was removed while the run was under way.',
        urgency: 'nothing',
        next: 'If that was a mistake, restore the policy.',
      };
    default:
      return {
        subject: 'its policy changed',
        what: nothingDeleted,
        why: `Its ${cause.what} changed from ${cause.was ?? 'not set'} to ${cause.now ?? 'not set'} while the run was under way.`,
        urgency: 'nothing',
        next: 'Wait for the next run, which uses the new value.',
      };
  }
};

const functionNames = { plan: 'Plan', truncate: 'Truncate', poll: 'Poll' } as const;

const stepFailed: CauseEntry<'step-failed'> = ({ step, error, sent }, _, context) => ({
  subject: `${functionNames[step]} failed`,
  what: sent === 'no' ? 'nothing was sent' : maybeSent,
  why: `The function ${functionNames[step]} failed with ${withoutPeriod(error)}.`,
  urgency: 'week',
  next: `Search its log for the run's ID; the next run ${sent === 'no' ? 'tries again' : 'finds out what happened'}.`,
  inspect: sent === 'no' ? preview(context) : listTasks,
});

const server: CauseEntry<'server'> = ({ error, sent }, _, context) =>
  failedRequest(sent === 'no' ? nothingStarted : maybeSent, error, context);

/** Whatever the reason was, its rows are named. */
const unread: CauseEntry<'unread'> = (_, entry, context) => {
  const { outcome, method, rowsMissing = 0, rowsNotVisible = 0 } = entry;
  const gone = [
    ...(rowsMissing > 0 ? [`${rows(rowsMissing, 'exact')} ${isOrAre(rowsMissing)} missing`] : []),
    ...(rowsNotVisible > 0 ? [notVisibleText(rowsNotVisible)] : []),
  ];
  const what = [...gone, 'the reason was written by another version of this job'].join('; ');
  const held = { what, why: quarantine, urgency: 'act', instead: release(nameOf(entry), context) } as const;
  if (outcome === 'rows-missing') return { ...held, next: method === 'reindex' ? afterLossNext : afterLossInPlaceNext };
  if (outcome === 'unknown' && rowsNotVisible > 0) return { ...held, ...untilRefreshed(entry, entry.indexNow) };
  return { what, urgency: 'week' };
};

export const causes: { [Kind in CauseKind]: CauseEntry<Kind> } = {
  setup,
  policy,
  'step-failed': stepFailed,
  server,
  unresolved,
  gone,
  'left-alone': leftAlone,
  quarantined,
  'not-due': notDue,
  due,
  'above-ceiling': aboveCeiling,
  guard,
  changed,
  stopped,
  unchanged,
  verified,
  remains,
  missing,
  'not-visible': notVisible,
  unproven,
  unread,
};
