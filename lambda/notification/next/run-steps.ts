import type { Note } from '../../facts/note.ts';
import type { Report } from '../../facts/report-schema.ts';
import type { ServerError } from '../../facts/server-error.ts';
import { fromDottedName } from '../../policy/aspects.ts';
import { remedy } from '../../wording/errors.ts';
import { withoutStop } from '../../wording/punctuation.ts';
import { functionNames } from '../../wording/sentences.ts';
import { isScheduled, type MessageContext } from '../context.ts';
import { inAccount, rotateToken, runByHand } from './commands.ts';
import { refusalStep } from './opening.ts';
import { again, retries, type Step, watches } from './step.ts';

/** Steps for the run as a whole: its error, its notes, and what it needs (the server, a token, permissions). */

/** After a run that could not do its work; with a preview that shows whether it works now. */
export function errorStep(
  { cause, policies }: Pick<Report, 'cause' | 'policies'>,
  context: MessageContext,
): Step | undefined {
  const tried = (step: Step): Step => {
    if (!isScheduled(context) || step.command) return step;
    const line = runByHand({ mode: 'preview' }, context);
    return {
      ...step,
      command: { say: 'To see whether it works now, start a preview, which deletes nothing', line, typedIn: 'shell' },
    };
  };
  switch (cause?.kind) {
    case 'server':
      return tried(serverStep(cause.error, retries(context), context));
    case 'parameters':
      return tried(correctParameter(context));
    case 'ledger':
      return tried(correctTable('ledger', context));
    case 'input':
      // The schedule does not repeat a run that was started by hand.
      return {
        text: context.local
          ? 'Correct the options and start it again.'
          : "Correct the execution's input and start it again. The scheduled runs are not affected.",
      };
    // Its sentence says what to do.
    case 'no-policy':
      return undefined;
    case 'step-failed':
      return seeLog(cause.step, context);
    case 'foreign':
      return cause.why === 'address' ? underOldAddress(policies) : watches(context);
    default:
      return tried(retries(context));
  }
}

/** A truncation started under another address is watched only there, and blocks its index. */
function underOldAddress(policies: Report['policies']): Step {
  if (!policies.some(({ outcome }) => outcome === 'still-running' || outcome === 'unknown')) {
    return { text: 'Nothing, the next run uses the new address.', passes: true };
  }
  return {
    text: 'What was started under the old address is not watched under the new one: put the old one back until it has ended. If the old one is gone, the next report says how to open each index.',
  };
}

/** After a note that does more than inform. */
export function noteStep(note: Note, context: MessageContext): Step | undefined {
  switch (note.kind) {
    case 'token-expires':
    case 'token-expired':
      return tokenStep(context);
    case 'memory-unavailable':
      return correctTable('memory of nights', context);
    case 'no-sizes':
      return serverStep(note.error, undefined, context);
    case 'not-released':
      return refusalStep(note, [fromDottedName(note.index)], context);
    default:
      return undefined;
  }
}

/** How a stage that only previews is switched on; what comes next in one that enforces. */
export function switchOnStep({ stage }: Report, context: MessageContext): Step {
  if (!isScheduled(context)) {
    return { text: 'To delete for real, give the same options to enforce instead of preview.' };
  }
  if (context.enforces) return { text: 'This stage enforces: its next scheduled run deletes what is listed here.' };
  if (context.local) {
    return { text: 'To delete for real every night, make enforce the first argument of the CronJob, and apply it.' };
  }
  const name = /^[a-z0-9-]+$/i.test(stage) ? stage : '<stage>';
  return {
    text: `To delete for real every night, set "mode": "enforce" in infra/stages/${name}.json and run: cdk deploy -c stage=${name}.`,
  };
}

/** @param otherwise for problems that pass by themselves */
export function serverStep<Otherwise extends Step | undefined>(
  error: ServerError,
  otherwise: Otherwise,
  context: MessageContext,
): Step | Otherwise {
  const mend = () => ({ text: `${withoutStop(remedy(error))}${again(context)}.` });
  switch (error.kind) {
    case 'unauthorized': {
      const { text, ...step } = tokenStep(context);
      const first = 'Make sure that the address is that of the DataHub you mean; if it is, ';
      return { ...step, text: `${first}${text.charAt(0).toLowerCase()}${text.slice(1)}` };
    }
    case 'token':
      return tokenStep(context);
    case 'privilege':
      return {
        text: `Grant this privilege to the token's owner in DataHub (Settings > Permissions > Policies)${again(context)}. The token itself can stay.`,
      };
    case 'forbidden':
      return {
        text: `Let this job through whatever stands in front of DataHub (gateway, firewall, service mesh)${again(context)}.`,
      };
    case 'no-index':
      return {
        text: `Correct entityType or aspect of the policy, or switch the policy off ("enabled": false) while there is no such index${again(context)}.`,
      };
    case 'dns':
    case 'connect':
    case 'tls':
    case 'not-http':
    case 'redirect':
    case 'not-json':
    case 'not-found':
    case 'unreadable':
    case 'no-task-id':
    case 'not-sample':
    case 'defect':
      return mend();
    case 'bad-request':
    case 'server-error':
      // Sizes are optional, and counts can replace a task status.
      return error.operation === 'dry-run' || error.operation === 'truncate' ? mend() : otherwise;
    default:
      return otherwise;
  }
}

/** A new token, stored where the old one is. */
export function tokenStep(context: MessageContext): Step {
  const made = 'Create a new access token in DataHub (Settings, Access Tokens), save it as token.txt';
  const line = rotateToken(context);
  if (line) {
    const say = `This stores it${inAccount(context)}`;
    return { text: `${made}, store it, then delete the file.`, command: { say, line, typedIn: 'shell' } };
  }
  return {
    text: isScheduled(context)
      ? `${made} and store it where this job reads it.`
      : `${made} and give it with --token-file.`,
  };
}

/** Who grants what, and where: the functions' roles belong to the stack, and others may narrow them. */
const restoreRoles =
  "deploy the stage again, which restores the functions' roles; if that does not help, whoever runs the AWS account grants what it names (permissions boundary, organization policy, the key's policy).";

export const correctParameter = (context: MessageContext): Step => ({
  text: context.local
    ? `Correct what it names${again(context)}.`
    : `Correct the parameter that it names. Where access is denied, ${restoreRoles} The next run tries again.`,
});

/** The ledger, or the memory of nights. */
export const correctTable = (what: string, context: MessageContext): Step => ({
  text: context.local
    ? `See that you may read and write the file of the ${what}, and that its disk is not full${again(context)}.`
    : `See that the table of the ${what} is there. Where access is denied, ${restoreRoles} It passes by itself only if DynamoDB could not be reached. The next run tries again.`,
});

/** A function failed: that passes by itself only if AWS was at fault. */
export function seeLog(step: keyof typeof functionNames, context: MessageContext): Step {
  if (!context.local) {
    return {
      text: `Look at the log of the ${functionNames[step]} function, under this run's ID: unless AWS had a brief outage, the next run will fail the same way.`,
    };
  }
  return {
    text: isScheduled(context)
      ? "Look at the log of the run's pod: the next run picks up what is there, and may fail the same way."
      : 'Start the same command again: it picks up what is there. If it fails the same way, report it.',
  };
}
