import type { Outcome } from '../facts/outcome.ts';
import type { PolicyEntry, Report } from '../facts/report-schema.ts';
import { isReleasedTooEarly, isReleasedWithMissing } from '../run/released.ts';
import { isUnseen, nameOf } from '../wording/sentences.ts';
import { cancelTask, listTasks, resume, rotateToken, runByHand, showTask } from './commands.ts';
import type { MessageContext } from './context.ts';

/** What a person does next: one or two sentences, and a command that can be pasted. */
export interface Step {
  text: string;
  command?: string | undefined;
}

/**
 * The next step after an outcome that is not ok.
 * @param entries policies with the same outcome and reason; all but the commands that name one policy take several
 */
export function nextStep(outcome: Outcome, entries: readonly PolicyEntry[], context: MessageContext): Step {
  const [entry] = entries;
  const names = entries.map(nameOf);
  const reason = entry?.reason ?? '';
  switch (outcome) {
    case 'above-ceiling':
      return {
        text: 'If these rows may go, allow it once (this deletes for real):',
        command: runByHand({ mode: 'enforce', only: names.slice(0, 1), approveRows: rowsToApprove(entry) }, context),
      };
    case 'quarantined':
      return {
        text: 'First make sure that its rows are complete (runbook: "Outcome: quarantined"). Then release it; the run that does so truncates, too:',
        command: runByHand({ mode: 'enforce', only: names, clear: names }, context),
      };
    case 'rows-missing':
      return {
        text: `Get the rows back, or make sure that nothing is wrong${/DataHub upgrade/.test(reason) ? ', before the next DataHub upgrade' : ''}. Only then release the index; the run that does so truncates, too:`,
        command: runByHand({ mode: 'enforce', only: names, clear: names }, context),
      };
    case 'in-flight':
      return {
        text: `Nothing now, ${context.local ? 'a later' : 'the next'} run looks again. Do not truncate it by hand meanwhile.`,
      };
    case 'still-running':
      if (isUnseen(reason)) return causeStep(reason, context, goesOnWatching(context));
      return mayCancel(entry)
        ? {
            text: `${nothingNow(context)} To stop it, ask the search cluster (what is deleted stays deleted):`,
            command: cancelTask(entry?.taskId),
          }
        : {
            text: `${nothingNow(context)} Do not stop it: a reindex that is stopped leaves the index half empty.`,
          };
    case 'incomplete':
      return {
        text: `Nothing the first time, ${context.local ? 'another' : 'the next'} run deletes the rest. If it happens again, ask the search cluster why${showTask(entry?.taskId) ? ':' : '.'}`,
        command: showTask(entry?.taskId),
      };
    case 'not-started':
      return /\bpaus/i.test(reason) ? pausedStep(context) : { text: notStarted(context) };
    case 'lost':
      return {
        text: `${endsByItself(entries, context)} Look whether a node of the search cluster was restarted${showTask(entry?.taskId) ? ', and what it knows:' : '.'}`,
        command: showTask(entry?.taskId),
      };
    case 'unknown':
      return {
        text: `Ask the search cluster whether it is deleting. Do not truncate by hand, ${context.local ? 'another' : 'the next'} run looks again.`,
        command: listTasks,
      };
    case 'failed':
      return causeStep(reason, context, triesAgain(context));
    default:
      return { text: 'Nothing.' };
  }
}

/** What to do about a run that could not do its work, by its error. */
export function runErrorStep(error: string, context: MessageContext): Step {
  if (concernsPrivilege(error) || concernsToken(error)) return causeStep(error, context, triesAgain(context));
  // The command that was given, with its `--only`, is on the screen of whoever gave it; any other does more than was asked for.
  if (context.local) return { text: 'Correct that, then start the same command again.' };
  return {
    text: 'Correct that; the next run tries again by itself. To start one now:',
    command: runByHand({}, context),
  };
}

/** Of a policy that was not asked about: the run's own error has the step. */
export const asAbove: Step = { text: 'What is said above.' };

/** A cause that a person has to remove, and what comes after it. */
function causeStep(reason: string, context: MessageContext, afterwards: string): Step {
  if (concernsPrivilege(reason)) {
    return {
      text: `Grant the privilege to the token's owner in DataHub (Settings, Permissions, Policies)${afterwards}. The token itself can stay.`,
    };
  }
  if (concernsToken(reason)) return tokenStep(context);
  return /^not looked at\b/.test(reason) ? asAbove : { text: `Correct that${afterwards}.` };
}

/** Nothing is scheduled where somebody has typed `npm start`. */
const triesAgain = ({ local }: MessageContext): string =>
  local ? ', then start the same command again' : '; the next run tries again';
const goesOnWatching = ({ local }: MessageContext): string =>
  local ? ', then start the same command again: it goes on watching' : '; the next run goes on watching';
const notStarted = ({ local }: MessageContext): string =>
  local ? 'Start the same command again when that is over.' : 'Nothing here, the next run tries again.';
const nothingNow = (context: MessageContext): string =>
  context.local ? 'Start the same command again: it goes on watching.' : 'Nothing, the next run goes on watching.';

/** The ledger's rule (`abandonAfterMillis`): what neither ends nor moves is closed when it is 20 hours old. */
function endsByItself(entries: readonly PolicyEntry[], context: MessageContext): string {
  const closed = entries.every(({ strategy }) => strategy === 'delete-by-query')
    ? 'the index is truncated in the ordinary way again'
    : 'the index is quarantined';
  return `${context.local ? 'Later runs go' : 'The next run goes'} on watching; 20 hours after it was sent, if nothing moves, this ends by itself and ${closed}.`;
}

/** What to do about a note; undefined for one that only informs. */
export function noteStep(note: string, context: MessageContext): Step | undefined {
  if (isReleasedTooEarly(note)) {
    const first = isReleasedWithMissing(note) ? '' : 'Look whether they are there. ';
    return {
      text: `${first}Get them back before this index is truncated again (runbook: "Outcome: rows-missing"). Where they may be gone, nothing.`,
    };
  }
  return concernsToken(note) ? tokenStep(context) : undefined;
}

/** How a stage that only previews is switched on. */
export function switchOnStep(report: Report, context: MessageContext): Step {
  if (context.local) return { text: 'To delete for real, run it again with --enforce.' };
  const stage = /^[a-z0-9-]+$/i.test(report.stage) ? report.stage : '<stage>';
  return {
    text: `To delete for real every night, set "mode": "enforce" in infra/stages/${stage}.json and run: cdk deploy -c stage=${stage}. To do it once:`,
    command: runByHand({ mode: 'enforce' }, context),
  };
}

/** True where the token is good and its owner may not do this: a new token would change nothing. */
const concernsPrivilege = (text: string): boolean => /\bprivilege\b|\banswered 403\b|is unauthorized to/i.test(text);

/** True for texts about the access token: refused, missing or about to expire. Counts may hold a 401, too. */
export const concernsToken = (text: string): boolean =>
  /\btoken\b|\banswered 401\b/i.test(text) && !concernsPrivilege(text);

/** A reindex must run to its end; where the strategy is not known it could be one (DataHub's ESIndexBuilder swaps first). */
const mayCancel = (entry: PolicyEntry | undefined): boolean =>
  entry?.strategy === 'delete-by-query' && cancelTask(entry.taskId) !== undefined;

/** What the reason offers, so that message and report say the same; else the rows of now and five percent for ageing. */
function rowsToApprove(entry: PolicyEntry | undefined): number {
  const offered = /"approveRows":\s*(\d+)/.exec(entry?.reason ?? '');
  return offered ? Number(offered[1]) : Math.ceil((entry?.rowsToDelete ?? 0) * 1.05);
}

/** A new token, stored where the old one is. */
export function tokenStep(context: MessageContext): Step {
  const command = rotateToken(context);
  const made = 'Make a new access token in DataHub (Settings, Access Tokens), save it as token.txt';
  if (command) return { text: `${made} and store it, then delete the file:`, command };
  return {
    text: context.local ? `${made} and give it with --token-file.` : `${made} and store it where this job reads it.`,
  };
}

function pausedStep(context: MessageContext): Step {
  const command = resume(context);
  return {
    text: `Nothing, if it is paused on purpose. To let it run again${command ? ':' : ', remove the pause.'}`,
    command,
  };
}
