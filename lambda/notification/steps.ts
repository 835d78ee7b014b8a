import type { Note } from '../facts/note.ts';
import type { DecidedFacts, PolicyEntry, Report } from '../facts/report-schema.ts';
import type { OperationName } from '../facts/server-error.ts';
import { rows } from '../wording/numbers.ts';
import { nameOf } from '../wording/sentences.ts';
import { cancelTask, listTasks, resume, rotateToken, runByHand, showTask } from './commands.ts';
import type { MessageContext } from './context.ts';
import { type NextStep, nextStep, noteStep, runErrorStep } from './next-step.ts';

/** A next step in words: one or two sentences, and a command that can be pasted. The text always says what the command does. */
export interface Step {
  text: string;
  command?: string | undefined;
  /** The command deletes rows, or opens an index for deletion. */
  isDangerous?: boolean;
}

/** @param entries policies with the same outcome and cause; all but the commands that name one policy take several */
export function entryStep(entries: readonly [PolicyEntry, ...PolicyEntry[]], context: MessageContext): Step | undefined {
  const [{ outcome, cause, strategy }] = entries;
  return stepOf(nextStep(outcome, cause, strategy), entries, context);
}

export const errorStep = (report: Report, context: MessageContext): Step | undefined => {
  const step = stepOf(runErrorStep(report.cause), [], context);
  if (!step || step.command || context.local) return step;
  // In the mode of the run that failed: an empty input would enforce in an enforcing stage.
  return { text: `${step.text} To start one now (${report.mode === 'preview' ? 'it only reports' : 'it truncates'}):`, command: runByHand({ mode: report.mode }, context), isDangerous: report.mode === 'enforce' };
};

export const stepOfNote = (note: Note, context: MessageContext): Step | undefined => {
  const entity = 'index' in note ? indexOf(note.index) : undefined;
  return stepOf(noteStep(note), entity ? [entity] : [], context);
};

/** A note names its index as people do. */
function indexOf(name: string): Pick<DecidedFacts, 'entityType' | 'aspect'> {
  const [entityType = name, ...aspect] = name.split('.');
  return { entityType, aspect: aspect.join('.') };
}

type Named = Pick<PolicyEntry, 'entityType' | 'aspect'> & Partial<PolicyEntry>;

/** Undefined where there is nothing to do, or what is to be done is told elsewhere. */
export function stepOf(step: NextStep, entries: readonly Named[], context: MessageContext): Step | undefined {
  const [entry] = entries;
  const names = entries.map(nameOf);
  switch (step.kind) {
    case 'none':
      return undefined;
    case 'wait':
      return { text: waitText[step.why](context) };
    case 'approve':
      return {
        text: `If these rows may go, allow it once. This deletes up to ${rows(step.rows)} of ${names[0] ?? 'this index'} for real:`,
        command: runByHand({ mode: 'enforce', only: names.slice(0, 1), approveRows: step.rows }, context),
        isDangerous: true,
      };
    case 'clear':
      return clearStep(step, names, context);
    case 'watch': {
      const command = step.cancel ? cancelTask(entry?.taskId) : undefined;
      return command
        ? { text: `${goesOn(context)} This would stop it (what is deleted stays deleted):`, command }
        : { text: `${goesOn(context)} Do not stop it: a reindex that is stopped leaves the index half empty.` };
    }
    case 'ask-cluster':
      return askCluster(step.about, entries, context);
    case 'resume': {
      const command = resume(context);
      return { text: `Nothing, if it is paused on purpose. ${command ? 'This lets it run again:' : 'To let it run again, remove the pause.'}`, command };
    }
    case 'renew-token':
      return tokenStep(context);
    case 'grant':
      return {
        text: `Grant the privilege "${privilege[step.operation]}" to the token's owner in DataHub (Settings, Permissions, Policies)${again(context)}. The token itself can stay.`,
      };
    case 'open-gateway':
      return { text: `Let this job through whatever stands in front of DataHub (gateway, firewall, service mesh)${again(context)}.` };
    case 'check-address':
      return { text: `Check the address of the server${context.local ? '' : ' (gmsUrl in the stage file)'} and the way to it${again(context)}.` };
    case 'correct':
      return { text: `${corrections[step.what](context)}${again(context)}.` };
    case 'see-log':
      return {
        text: context.local
          ? 'Start the same command again: it picks up what is there.'
          : `Look at the log of the ${capitalised(step.step)} function (an execution's state links to it); the next run tries again by itself.`,
      };
    case 'fewer-policies':
      return { text: 'Look at the load of GMS and its search engine, or spread the policies over several stages.' };
    case 'own-ledger':
      return {
        text: context.local
          ? 'If it is the same server under another name, clear the index, which counts it here. If it is another server, give it a ledger of its own (--ledger).'
          : 'If it is the same server under another name, clear the index, which counts it here. If it is another server, it needs a stage of its own.',
      };
  }
}

function clearStep({ repair, accept }: NextStep & { kind: 'clear' }, names: string[], context: MessageContext): Step {
  const clear = { clear: names, ...(accept !== undefined && accept > 0 && { acceptMissing: accept }) };
  const command = runByHand(clear, context);
  if (accept !== undefined && accept > 0) {
    return {
      text: `Only if these rows may stay missing: this opens the index for truncation with up to ${rows(accept)} missing, and truncates nothing:`,
      command,
      isDangerous: true,
    };
  }
  const first = repair ? 'When the rows are back, clear the index.' : 'First make sure that its rows are complete.';
  return {
    text: `${first} This counts its rows and opens it for truncation if they are all there; it truncates nothing:`,
    command,
    isDangerous: true,
  };
}

function askCluster(about: 'task' | 'tasks' | 'restart', entries: readonly Named[], context: MessageContext): Step {
  const [entry] = entries;
  const command = showTask(entry?.taskId);
  switch (about) {
    case 'task':
      return {
        text: `Nothing the first time, ${context.local ? 'another' : 'the next'} run deletes the rest. If it happens again, ask the search cluster why${command ? ':' : '.'}`,
        command,
      };
    case 'restart':
      return {
        text: `${endsByItself(entries, context)} See whether a node of the search cluster was restarted${command ? ', and what it knows:' : '.'}`,
        command,
      };
    case 'tasks':
      return {
        text: `Do not truncate by hand; ${context.local ? 'another' : 'the next'} run looks again. This asks the search cluster what is deleting or copying:`,
        command: listTasks,
      };
  }
}

const waitText: Record<'retries' | 'in-flight' | 'watches' | 'rest', (context: MessageContext) => string> = {
  retries: ({ local }) => (local ? 'Start the same command again later.' : 'Nothing, the next run tries again.'),
  'in-flight': ({ local }) => `Nothing now, ${local ? 'a later' : 'the next'} run looks again. Do not truncate it by hand meanwhile.`,
  watches: (context) => goesOn(context),
  rest: ({ local }) => (local ? 'Start the same command again for the rest.' : 'Nothing, the next runs take the rest.'),
};

const goesOn = ({ local }: MessageContext): string =>
  local ? 'Start the same command again: it goes on watching.' : 'Nothing, the next run goes on watching.';

/** Nothing is scheduled where somebody has typed a command. */
const again = ({ local }: MessageContext): string =>
  local ? ', then start the same command again' : '; the next run tries again';

const corrections: Record<'policy' | 'input' | 'clock' | 'parameter', (context: MessageContext) => string> = {
  policy: ({ local }) => (local ? 'Correct the policy in its file' : 'Correct the policy in the stage file and deploy, or in its parameter'),
  input: () => 'Correct the input of the execution',
  clock: () => 'Correct the wrong clock (NTP)',
  parameter: ({ local }) => (local ? 'Correct what it names' : 'Correct the parameter that it names'),
};

const privilege: Record<OperationName, string> = {
  'dry-run': 'Truncate timeseries aspect index size API',
  truncate: 'Truncate timeseries aspect index size API',
  'task-status': 'Get ES task status API',
  'index-sizes': 'Get Timeseries index sizes API',
};

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The ledger's rule (`abandonAfterMillis`): what neither ends nor moves is closed when it is 20 hours old. */
function endsByItself(entries: readonly Named[], context: MessageContext): string {
  const closed = entries.every(({ strategy }) => strategy === 'delete-by-query')
    ? 'the index is truncated in the ordinary way again'
    : 'the index is quarantined';
  return `${context.local ? 'Later runs go' : 'The next run goes'} on watching; 20 hours after it was sent, if nothing moves, this ends by itself and ${closed}.`;
}

/** A new token, stored where the old one is. */
export function tokenStep(context: MessageContext): Step {
  const command = rotateToken(context);
  const made = 'Make a new access token in DataHub (Settings, Access Tokens), save it as token.txt';
  if (command) return { text: `${made}, store it with this, then delete the file:`, command };
  return {
    text: context.local ? `${made} and give it with --token-file.` : `${made} and store it where this job reads it.`,
  };
}

/** How a stage that only previews is switched on. */
export function switchOnStep(report: Report, context: MessageContext): Step {
  if (context.local) return { text: 'To delete for real, run it again with --enforce.' };
  const stage = /^[a-z0-9-]+$/i.test(report.stage) ? report.stage : '<stage>';
  return {
    text: `To delete for real every night, set "mode": "enforce" in infra/stages/${stage}.json and run: cdk deploy -c stage=${stage}. To do it once, which deletes what is listed here:`,
    command: runByHand({ mode: 'enforce' }, context),
    isDangerous: true,
  };
}
