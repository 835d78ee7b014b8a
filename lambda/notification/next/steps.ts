import type { Note } from '../../facts/note.ts';
import type { PolicyEntry, Report } from '../../facts/report-schema.ts';
import type { ServerError } from '../../facts/server-error.ts';
import { privileges, remedy } from '../../wording/errors.ts';
import { moment, rows } from '../../wording/numbers.ts';
import { withoutStop } from '../../wording/punctuation.ts';
import { nameOf } from '../../wording/sentences.ts';
import type { MessageContext } from '../context.ts';
import { cancelTask, listTasks, resume, rotateToken, runByHand, showTask } from './commands.ts';
import { type NextStep, nextStep, noteStep, runErrorStep } from './next-step.ts';

/** A next step in words: one or two sentences, and perhaps a command that can be pasted. */
export interface Step {
  text: string;
  command?: Command | undefined;
}

/** A command never stands alone: what it does is said in the line above it. */
export interface Command {
  /** Ends with a colon. */
  effect: string;
  line: string;
  /** What cannot be undone: it deletes rows, or opens an index to truncation. */
  danger?: 'deletes' | 'opens';
}

/** Undefined where there is nothing to do, or what is to be done is told elsewhere. */
export function entryStep(
  entries: readonly [PolicyEntry, ...PolicyEntry[]],
  report: Report,
  context: MessageContext,
): Step | undefined {
  const [{ outcome, cause, strategy }] = entries;
  return stepOf(nextStep(outcome, cause, { strategy, failedPreview: isFailedPreview(report) }), entries, context);
}

export const isFailedPreview = ({ mode, result }: Report): boolean => mode === 'preview' && result === 'failed';

export function errorStep(report: Report, context: MessageContext): Step | undefined {
  const next = runErrorStep(report.cause);
  const step = stepOf(next, [], context);
  const isTried =
    next.kind === 'mend' ||
    (next.kind === 'correct' && next.what === 'parameter') ||
    (next.kind === 'wait' && next.why === 'retries');
  if (!step || context.local || !isTried) return step;
  const line = runByHand({ mode: 'preview' }, context);
  return { ...step, command: { effect: 'To see whether it works now, start a preview, which deletes nothing:', line } };
}

export const noteStepOf = (note: Note, context: MessageContext): Step | undefined =>
  stepOf(noteStep(note), 'index' in note ? [indexOf(note.index)] : [], context);

/** A note names its index as people do. */
function indexOf(name: string): Named {
  const [entityType = name, ...aspect] = name.split('.');
  return { entityType, aspect: aspect.join('.') };
}

type Named = Pick<PolicyEntry, 'entityType' | 'aspect'> & Partial<PolicyEntry>;

function stepOf(step: NextStep, entries: readonly Named[], context: MessageContext): Step | undefined {
  const names = entries.map(nameOf);
  switch (step.kind) {
    case 'none':
      return undefined;
    case 'wait':
      return { text: waitText[step.why](context) };
    case 'approve':
      return approveStep(step, names[0] ?? 'this index', context);
    case 'clear':
      return clearStep(step, names, context);
    case 'accept':
      return acceptStep(step, names, context);
    case 'adopt':
      return adoptStep(step, names, context);
    case 'watch':
      return step.cancel
        ? {
            text: goesOn(context),
            command: commandOf('This would stop it (what is deleted stays deleted):', cancelTask(entries[0]?.taskId)),
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
          ? 'Start the same command again: it picks up what is there.'
          : `Look at the log of the ${functionNames[step.step]} function, under this run's ID; the next run tries again by itself.`,
      };
    case 'lighten':
      return { text: 'Look at the load of GMS and its search engine, or spread the policies over several stages.' };
  }
}

const commandOf = (effect: string, line: string | undefined, danger?: Command['danger']): Command | undefined =>
  line === undefined ? undefined : { effect, line, ...(danger && { danger }) };

function approveStep(
  { rows: count, later }: NextStep & { kind: 'approve' },
  name: string,
  context: MessageContext,
): Step {
  if (later) return { text: 'Nothing now. When a preview is well, it offers how to approve this once.' };
  const line = runByHand({ mode: 'enforce', only: [name], approveRows: count }, context);
  return {
    text: 'If these rows may go, approve it once.',
    command: { effect: `This deletes up to ${rows(count)} of ${name} for real:`, line, danger: 'deletes' },
  };
}

/** What clearing does, in the line above the command. */
const clearing = (names: readonly string[], context: MessageContext): Command => ({
  effect: 'This counts its rows, opens it to truncation only if they are all there, and truncates nothing:',
  line: runByHand({ clear: [...names] }, context),
  danger: 'opens',
});

function clearStep({ after, until }: NextStep & { kind: 'clear' }, names: string[], context: MessageContext): Step {
  const text = {
    repair: 'When the rows are back, clear the index. If they may stay missing, clearing says how to accept that.',
    refresh: 'When the rows are visible, clear the index.',
    look: 'Look at the index, and make sure that its rows are complete. Then clear it.',
    answer: 'Clear it again when this is settled.',
    end: `Clear it again when its truncation has ended${until === undefined ? '' : `, not before ${moment(until)}`}.`,
  }[after];
  return { text, command: clearing(names, context) };
}

function acceptStep({ rows: count }: NextStep & { kind: 'accept' }, names: string[], context: MessageContext): Step {
  const line = runByHand({ clear: names, acceptMissing: count ?? 1 }, context);
  return count === undefined
    ? {
        text: 'Look at the index. If it is as it should be, accept that.',
        command: {
          effect: 'This opens it to truncation without a count, and truncates nothing:',
          line,
          danger: 'opens',
        },
      }
    : {
        text: 'Get the rows back. Only if they may stay missing, accept that.',
        command: {
          effect: `This opens the index to truncation with up to ${rows(count, 'exact')} missing, and truncates nothing:`,
          line,
          danger: 'opens',
        },
      };
}

function adoptStep({ from }: NextStep & { kind: 'adopt' }, names: string[], context: MessageContext): Step {
  const other = context.local ? 'give it a ledger of its own (--ledger)' : 'give it a stage of its own';
  const text =
    from === 'version'
      ? 'Deploy the version that wrote it again, or clear the index.'
      : `If that is another server, ${other}. If it is the same server under another name, clear the index, which takes the record over.`;
  return { text, command: clearing(names, context) };
}

function askCluster(
  about: (NextStep & { kind: 'ask-cluster' })['about'],
  entries: readonly Named[],
  context: MessageContext,
): Step {
  const later = laterRun(context).toLowerCase();
  const task = commandOf('This asks the search cluster about its task:', showTask(entries[0]?.taskId));
  switch (about) {
    case 'remainder':
      return {
        text: `Nothing the first time, ${later} deletes the rest. If it happens again, ask the search cluster why.`,
        command: task,
      };
    case 'restart':
      return {
        text: `${endsByItself(entries, context)} See whether a node of the search cluster was restarted.`,
        command: task,
      };
    case 'hang':
      return {
        text: `Do not truncate it by hand; ${later} goes on watching. See what the task is waiting for (a full disk, perhaps).`,
        command: task,
      };
    case 'tasks':
      return {
        text: 'Do not truncate it by hand: nothing is started for it until a later run sees an end.',
        command: commandOf('This asks the search cluster what is deleting or copying:', listTasks),
      };
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

const waitText: Record<(NextStep & { kind: 'wait' })['why'], (context: MessageContext) => string> = {
  retries: ({ local }) => (local ? 'Start the same command again later.' : 'Nothing, the next run tries again.'),
  'in-flight': (context) =>
    `Nothing now, ${laterRun(context).toLowerCase()} looks again. Do not truncate it by hand meanwhile.`,
  watches: (context) => goesOn(context),
  'begins-anew': (context) => `Nothing: ${laterRun(context).toLowerCase()} treats the index like any other.`,
  orders: (context) =>
    `Nothing, if that was meant: ${laterRun(context).toLowerCase()} goes by the policies as they are then.`,
};

const laterRun = ({ local }: MessageContext): string => (local ? 'A later run' : 'The next run');

const goesOn = ({ local }: MessageContext): string =>
  local ? 'Start the same command again: it goes on watching.' : 'Nothing, the next run goes on watching.';

/** Nothing is scheduled where somebody has typed a command. */
const again = ({ local }: MessageContext): string =>
  local ? ', then start the same command again' : '; the next run tries again';

const corrections: Record<(NextStep & { kind: 'correct' })['what'], (context: MessageContext) => string> = {
  policy: (context) =>
    `Correct the policy ${context.local ? 'in its file' : 'in the stage file and deploy, or in its parameter'}${again(context)}.`,
  // What was asked for by hand is not asked for again by a schedule.
  input: ({ local }) =>
    local
      ? 'Correct the options and start it again.'
      : "Correct the execution's input and start it again. The scheduled runs are not affected.",
  clock: (context) => `Correct the wrong clock (NTP)${again(context)}.`,
  parameter: (context) =>
    `Correct ${context.local ? 'what it names' : 'the parameter that it names'}${again(context)}.`,
};

const functionNames = { plan: 'Plan', truncate: 'Truncate', poll: 'Poll' } as const;

/** The ledger's rule (`abandonAfterMillis`): what neither ends nor moves is closed when it is 20 hours old. */
function endsByItself(entries: readonly Named[], context: MessageContext): string {
  const closed = entries.every(({ strategy }) => strategy === 'delete-by-query')
    ? 'the index is truncated in the ordinary way again'
    : 'the index is quarantined';
  return `${context.local ? 'Later runs go' : 'The next run goes'} on watching; 20 hours after it was sent, if nothing moves, this ends by itself and ${closed}.`;
}

/** A new token, stored where the old one is. */
export function tokenStep(context: MessageContext): Step {
  const made = 'Create a new access token in DataHub (Settings, Access Tokens), save it as token.txt';
  const line = rotateToken(context);
  if (line) return { text: `${made}, store it, then delete the file.`, command: { effect: 'This stores it:', line } };
  return {
    text: context.local ? `${made} and give it with --token-file.` : `${made} and store it where this job reads it.`,
  };
}

/** How a stage that only previews is switched on; what comes next in one that enforces. */
export function switchOnStep(report: Report, context: MessageContext): Step {
  if (context.local) return { text: 'To delete for real, run it again with --enforce.' };
  const line = runByHand({ mode: 'enforce' }, context);
  const now = { effect: 'To do it once, now, which deletes what is listed here:', line, danger: 'deletes' } as const;
  if (context.enforces) {
    return { text: 'This stage enforces: its next scheduled run deletes what is listed here.', command: now };
  }
  const stage = /^[a-z0-9-]+$/i.test(report.stage) ? report.stage : '<stage>';
  return {
    text: `To delete for real every night, set "mode": "enforce" in infra/stages/${stage}.json and run: cdk deploy -c stage=${stage}.`,
    command: now,
  };
}
