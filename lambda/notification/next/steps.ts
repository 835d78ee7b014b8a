import type { Note } from '../../facts/note.ts';
import type { PolicyEntry, Report } from '../../facts/report-schema.ts';
import type { ServerError } from '../../facts/server-error.ts';
import { stopRequest } from '../../operations/backend.ts';
import { privileges, remedy } from '../../wording/errors.ts';
import { withheldIn } from '../../wording/offers.ts';
import { withoutStop } from '../../wording/punctuation.ts';
import { isScheduled, type MessageContext } from '../context.ts';
import { resume, rotateToken, runByHand } from './commands.ts';
import { type NextStep, nextStep, noteStep, runErrorStep } from './next-step.ts';
import { acceptStep, adoptStep, approveStep, clearStep } from './opening.ts';
import { commandOf, type Named, type Step } from './step.ts';
import { again, askCluster, goesOn, laterRun, waitText } from './waiting.ts';

/** Next steps in words, for the place where the message is read. */

/** Undefined if there is nothing to do, or the message says it elsewhere. */
export function entryStep(
  entries: readonly [PolicyEntry, ...PolicyEntry[]],
  report: Report,
  context: MessageContext,
): Step | undefined {
  const [{ outcome, cause, strategy }] = entries;
  return stepOf(nextStep(outcome, cause, { strategy, withheld: withheldIn(report) }), entries, context);
}

export function errorStep(report: Report, context: MessageContext): Step | undefined {
  const next = runErrorStep(report.cause);
  const step = stepOf(next, [], context);
  const isTried =
    next.kind === 'mend' ||
    (next.kind === 'correct' && (next.what === 'parameter' || next.what === 'ledger')) ||
    (next.kind === 'wait' && next.why === 'retries');
  if (!step || !isScheduled(context) || !isTried) return step;
  const line = runByHand({ mode: 'preview' }, context);
  return { ...step, command: { effect: 'To see whether it works now, start a preview, which deletes nothing:', line } };
}

export const noteStepOf = (note: Note, context: MessageContext): Step | undefined =>
  stepOf(noteStep(note), 'index' in note ? [indexOf(note.index)] : [], context);

/** A note names its index the way people do. */
function indexOf(name: string): Named {
  const [entityType = name, ...aspect] = name.split('.');
  return { entityType, aspect: aspect.join('.') };
}

function stepOf(step: NextStep, entries: readonly Named[], context: MessageContext): Step | undefined {
  switch (step.kind) {
    case 'none':
      return undefined;
    case 'wait':
      return { text: waitText[step.why](context) };
    case 'approve':
      return approveStep(step, entries[0], context);
    case 'clear':
      return clearStep(step, entries, context);
    case 'accept':
      return acceptStep(step, entries, context);
    case 'adopt':
      return adoptStep(step, entries, context);
    case 'watch':
      return step.cancel
        ? {
            text: goesOn(context),
            command: commandOf('This would stop it (what is deleted stays deleted):', stopRequest(entries[0]?.taskId)),
          }
        : { text: `${goesOn(context)} Do not stop it: a reindex that is stopped leaves the index half empty.` };
    case 'ask-cluster':
      return askCluster(step.about, entries, context);
    case 'find-others':
      return {
        text: `See what else deletes or rewrites rows here: DataHub's own datahub-gc runs every night at 01:00 UTC. ${laterRun(context)} looks again.`,
      };
    case 'resume':
      return {
        text: 'Nothing, if it is paused on purpose. Otherwise remove the pause.',
        command: commandOf('This lets it run again:', resume(context)),
      };
    case 'renew-token':
      return tokenStep(context);
    case 'mend':
      return { text: mendText(step.error, context) };
    case 'grant-sizes':
      return {
        text: `Grant the privilege "${privileges['index-sizes']}" to the token's owner in DataHub under Settings > Permissions > Policies, or set the strategy of the policy to delete-by-query${again(context)}.`,
      };
    case 'correct':
      return { text: corrections[step.what](context) };
    case 'see-log':
      return {
        text: context.local
          ? isScheduled(context)
            ? "Look at the log of the run's pod; the next run picks up what is there."
            : 'Start the same command again: it picks up what is there.'
          : `Look at the log of the ${functionNames[step.step]} function, under this run's ID; the next run tries again by itself.`,
      };
    case 'lighten':
      return { text: 'Look at the load of GMS and its search engine, or spread the policies over several stages.' };
  }
}

/** The remedy of a server's error, and that a run tries again. */
function mendText(error: ServerError, context: MessageContext): string {
  switch (error.kind) {
    case 'privilege':
      return `Grant this privilege to the token's owner in DataHub (Settings > Permissions > Policies)${again(context)}. The token itself can stay.`;
    case 'forbidden':
      return `Let this job through whatever stands in front of DataHub (gateway, firewall, service mesh)${again(context)}.`;
    case 'no-index':
      return `Correct entityType or aspect of the policy, or switch the policy off ("enabled": false) while there is no such index${again(context)}.`;
    default:
      return `${withoutStop(remedy(error))}${again(context)}.`;
  }
}

const corrections: Record<(NextStep & { kind: 'correct' })['what'], (context: MessageContext) => string> = {
  policy: (context) =>
    `Correct the policy ${context.local ? 'in its file' : 'in the stage file and deploy, or in its parameter'}${again(context)}.`,
  // A schedule does not repeat what was started by hand.
  input: ({ local }) =>
    local
      ? 'Correct the options and start it again.'
      : "Correct the execution's input and start it again. The scheduled runs are not affected.",
  clock: (context) => `Correct the wrong clock (NTP)${again(context)}.`,
  parameter: (context) =>
    context.local
      ? `Correct what it names${again(context)}.`
      : `Correct the parameter that it names. Where access is denied, ${restoreRoles} The next run tries again.`,
  ledger: (context) => tableText('ledger', context),
  memory: (context) => tableText('memory of nights', context),
};

/** Who grants what, and where: the functions' roles are the stack's, and may be narrowed from outside. */
const restoreRoles =
  "deploy the stage again, which restores the functions' roles; if that does not help, whoever runs the AWS account grants what it names (permissions boundary, organization policy, the key's policy).";

function tableText(what: string, context: MessageContext): string {
  if (context.local)
    return `See that you may read and write the file of the ${what}, and that its disk is not full${again(context)}.`;
  return `See that the table of the ${what} is there. Where access is denied, ${restoreRoles} Only if DynamoDB was out of reach it passes by itself. The next run tries again.`;
}

const functionNames = { plan: 'Plan', truncate: 'Truncate', poll: 'Poll' } as const;

/** A new token, stored where the old one is. */
export function tokenStep(context: MessageContext): Step {
  const made = 'Create a new access token in DataHub (Settings, Access Tokens), save it as token.txt';
  const line = rotateToken(context);
  if (line) return { text: `${made}, store it, then delete the file.`, command: { effect: 'This stores it:', line } };
  return {
    text: isScheduled(context)
      ? `${made} and store it where this job reads it.`
      : `${made} and give it with --token-file.`,
  };
}

/** How a stage that only previews is switched on; what comes next in one that enforces. */
export function switchOnStep(report: Report, context: MessageContext): Step {
  if (!isScheduled(context)) {
    return { text: 'To delete for real, give the same options to enforce instead of preview.' };
  }
  if (context.enforces) return { text: 'This stage enforces: its next scheduled run deletes what is listed here.' };
  if (context.local) {
    return { text: 'To delete for real every night, make enforce the first argument of the CronJob, and apply it.' };
  }
  const stage = /^[a-z0-9-]+$/i.test(report.stage) ? report.stage : '<stage>';
  return {
    text: `To delete for real every night, set "mode": "enforce" in infra/stages/${stage}.json and run: cdk deploy -c stage=${stage}.`,
  };
}
