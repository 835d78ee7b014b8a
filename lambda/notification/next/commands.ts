import { escaped, shellWord } from '../../facts/text.ts';
import type { MessageContext } from '../context.ts';

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

/** Lets a paused job run again. */
export function resume(context: MessageContext): string | undefined {
  if (context.local || !context.parameterPrefix) return undefined;
  return `aws ssm put-parameter --name ${shellWord(`${context.parameterPrefix}/paused`)} --type String --overwrite --value false${region(context)}`;
}

const region = (context: MessageContext): string => (context.region ? ` --region ${shellWord(context.region)}` : '');

function localRun({ mode, only, approveRows, clear, acceptMissing }: HandInput, context: MessageContext): string {
  const started = context.localCommand ?? 'npm start -- --gms-url URL --token-file FILE --policies FILE';
  // Clearing truncates nothing, and must not be one option away from truncating.
  const command = clear ? started.replace(/ --enforce(?= |$)/, '') : started;
  const enforces = mode === 'enforce';
  const options = [
    ...(enforces && !command.includes('--enforce') ? ['--enforce'] : []),
    ...(only ?? []).map((name) => `--only ${shellWord(name)}`),
    ...(approveRows === undefined ? [] : [`--approve-rows ${approveRows}`]),
    ...(clear ?? []).map((name) => `--clear ${shellWord(name)}`),
    ...(acceptMissing === undefined ? [] : [`--accept-missing ${acceptMissing}`]),
  ];
  return [command, ...options].join(' ');
}

/** JSON that can be used unchanged between single quotes in a shell and in a Slack code block. */
const pasteable = (value: unknown): string => JSON.stringify(value).replace(/[^\x20-\x7e]|['<>&`]/g, escaped);
