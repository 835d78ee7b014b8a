import type { Outcome } from '../run/outcome.ts';
import type { PolicyEntry, Report } from '../run/report-schema.ts';
import { cancelTask, listTasks, resume, rotateToken, runByHand, showTask } from './commands.ts';
import type { MessageContext } from './context.ts';
import { nameOf } from './sentences.ts';

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
        text: 'Get the rows back, or make sure that nothing is wrong. Only then release the index; the run that does so truncates, too:',
        command: runByHand({ mode: 'enforce', only: names, clear: names }, context),
      };
    case 'in-flight':
      return { text: 'Nothing now, the next run looks again. Do not truncate it by hand meanwhile.' };
    case 'still-running':
      return mayCancel(entry)
        ? {
            text: 'Nothing, the next run goes on watching. To stop it, ask the search cluster (what is deleted stays deleted):',
            command: cancelTask(entry?.taskId),
          }
        : {
            text: 'Nothing, the next run goes on watching. Do not stop it: a reindex that is stopped leaves the index half empty.',
          };
    case 'incomplete':
      return {
        text: `Nothing the first time, the next run deletes the rest. If it happens again, ask the search cluster why${showTask(entry?.taskId) ? ':' : '.'}`,
        command: showTask(entry?.taskId),
      };
    case 'not-started':
      return /\bpaus/i.test(reason) ? pausedStep(context) : { text: 'Nothing here, the next run tries again.' };
    case 'lost':
      return {
        text: 'Look whether a node of the search cluster was restarted, and what it knows. The next run goes on watching.',
        command: showTask(entry?.taskId),
      };
    case 'unknown':
      return {
        text: 'Ask the search cluster whether it is deleting. Do not truncate by hand, the next run looks again.',
        command: listTasks,
      };
    case 'failed':
      if (concernsPrivilege(reason)) return privilegeStep;
      return concernsToken(reason) ? tokenStep(context) : { text: 'Correct that; the next run tries again.' };
    default:
      return { text: 'Nothing.' };
  }
}

/** What to do about a run that could not do its work, by its error. */
export function runErrorStep(error: string, context: MessageContext): Step {
  if (concernsPrivilege(error)) return privilegeStep;
  if (concernsToken(error)) return tokenStep(context);
  return {
    text: 'Correct that; the next run tries again by itself. To start one now:',
    command: runByHand({}, context),
  };
}

/** What to do about a note; undefined for one that only informs. */
export function noteStep(note: string, context: MessageContext): Step | undefined {
  return concernsToken(note) && !concernsPrivilege(note) ? tokenStep(context) : undefined;
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

/** True for texts about the access token: refused, missing or about to expire. Counts may hold a 401, too. */
export const concernsToken = (text: string): boolean => /\btoken\b|\banswered 401\b/i.test(text);

/** True where the token is good and its owner may not do this: a new token would change nothing. */
export const concernsPrivilege = (text: string): boolean =>
  /\bprivilege\b|\banswered 403\b|is unauthorized to/i.test(text);

const privilegeStep: Step = {
  text: "Grant the privilege to the token's owner in DataHub (Settings, Permissions, Policies). The token itself can stay; the next run tries again.",
};

/** A reindex must run to its end; where the strategy is not known it could be one (DataHub's ESIndexBuilder swaps first). */
const mayCancel = (entry: PolicyEntry | undefined): boolean =>
  entry?.strategy === 'delete-by-query' && cancelTask(entry.taskId) !== undefined;

/** What the reason offers, so that message and report say the same; else the rows of now and five percent for ageing. */
function rowsToApprove(entry: PolicyEntry | undefined): number {
  const offered = /"approveRows":\s*(\d+)/.exec(entry?.reason ?? '');
  return offered ? Number(offered[1]) : Math.ceil((entry?.rowsToDelete ?? 0) * 1.05);
}

function tokenStep(context: MessageContext): Step {
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
