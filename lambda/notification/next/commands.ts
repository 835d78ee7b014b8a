import { escaped, shellWord } from '../../facts/text.ts';
import type { Pause } from '../../wording/recovery.ts';
import type { LocalCommand, MessageContext } from '../context.ts';

/** Commands that are safe to paste into a shell, whatever names they contain. */

/** An execution's input (`lambda/run/plan/input.ts`). */
export interface HandInput {
  mode?: 'preview' | 'enforce';
  only?: string[];
  approveRows?: number;
  clear?: string[];
  acceptMissing?: number;
}

/** Starts a run by hand with this input: on AWS, or with the local runner. */
export function runByHand(input: HandInput, context: MessageContext): string {
  if (context.local) return localRun(input, context);
  const json = pasteable(input);
  if (!context.stateMachineArn) return json;
  return `aws stepfunctions start-execution --state-machine-arn ${shellWord(context.stateMachineArn)}${region(context)} --input '${json}'`;
}

/**
 * Stores a new token where the job reads it; undefined if that place is unknown. The token stays out of the shell's
 * history.
 */
export function rotateToken(context: MessageContext): string | undefined {
  const name = context.tokenParameter ?? (context.parameterPrefix && `${context.parameterPrefix}/token`);
  if (context.local || !name) return undefined;
  const key = context.tokenKeyArn ? ` --key-id ${shellWord(context.tokenKeyArn)}` : '';
  return `aws ssm put-parameter --name ${shellWord(name)} --type SecureString${key} --overwrite --value file://token.txt${region(context)}`;
}

/** Keeps the job from starting anything; what is running continues. */
export function pause(context: MessageContext): Pause | undefined {
  const command = setPaused('true', context);
  return command === undefined ? undefined : { command, account: accountOf(context) };
}

/** Lets a paused job run again. */
export const resume = (context: MessageContext): string | undefined => setPaused('false', context);

function setPaused(value: string, context: MessageContext): string | undefined {
  if (context.local || !context.parameterPrefix) return undefined;
  return `aws ssm put-parameter --name ${shellWord(`${context.parameterPrefix}/paused`)} --type String --overwrite --value ${value}${region(context)}`;
}

/** The account from the workflow's ARN: a command about a parameter does not name one. */
const accountOf = ({ stateMachineArn = '' }: MessageContext): string | undefined =>
  /^arn:[\w-]+:states:[\w-]*:(\d{12}):/.exec(stateMachineArn)?.[1];

export function inAccount(context: MessageContext): string {
  const account = accountOf(context);
  return account === undefined ? '' : ` in account ${account}`;
}

const region = (context: MessageContext): string => (context.region ? ` --region ${shellWord(context.region)}` : '');

/** With placeholders. */
export const anyCommand: LocalCommand = { program: 'npm start --', options: '--gms-url URL --token-file FILE' };

function localRun({ mode = 'preview', clear = [], ...input }: HandInput, { localCommand }: MessageContext): string {
  const { only = [], approveRows, acceptMissing } = input;
  const given = [
    ...only.map((name) => ['--only', shellWord(name)]),
    ...(approveRows === undefined ? [] : [['--approve-rows', approveRows]]),
    ...(acceptMissing === undefined ? [] : [['--accept-missing', acceptMissing]]),
  ];
  const verb = clear.length > 0 ? 'clear' : mode;
  const indices = clear.map(shellWord);
  const items = [verb, ...indices, ...given.map((option) => option.join('='))];
  if (localCommand?.byHand !== undefined && items.every((item) => /^[\w.=-]+$/.test(item))) {
    return localCommand.byHand.replace('{}', items.join(', '));
  }
  return localLine(verb, localCommand ?? anyCommand, { indices, more: given.flat() });
}

/** A command line of the local runner. Clearing concerns no policies. */
export function localLine(
  verb: 'preview' | 'enforce' | 'clear',
  { program, isDemo, options, policies }: LocalCommand,
  { indices = [], more = [] }: { indices?: readonly string[]; more?: ReadonlyArray<string | number> } = {},
): string {
  const named = verb === 'clear' || (isDemo && policies === undefined) ? [] : [`--policies ${policies ?? 'FILE'}`];
  const words = isDemo ? ['demo'] : [verb, ...indices];
  return [program, ...words, options, ...named, ...more].filter((word) => word !== '').join(' ');
}

/** JSON that can be used unchanged between single quotes in a shell and in a Slack code block. */
const pasteable = (value: unknown): string => JSON.stringify(value).replace(/[^\x20-\x7e]|['<>&`]/g, escaped);
