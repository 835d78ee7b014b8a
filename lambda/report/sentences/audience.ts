import { escaped } from '../../gms/text.ts';
import type { HandInput } from '../../model/run-input.ts';
import { shellWord } from './text.ts';

/**
 * Who reads a message, and where they type. Every command that a message prints is made for that place, so that it can
 * be pasted as it is.
 */
export type Audience = { runbookUrl?: string } & (AwsAudience | KubernetesAudience | MachineAudience);

interface AwsAudience {
  kind: 'aws';
  stage?: string;
  region?: string;
  /** The workflow; without it, a command is only an execution's input. */
  stateMachineArn?: string;
  /** Where the operator's parameters are, such as `/datahub-retention/prod`. */
  parameterPrefix?: string;
  /** The token's parameter, if it is not `<parameterPrefix>/token`. */
  tokenParameter?: string;
  /** The customer-managed key that encrypts it. */
  tokenKeyArn?: string;
}

interface KubernetesAudience {
  kind: 'kubernetes';
  /** The nightly CronJob; runs by hand are made from its suspended twin `<cronJob>-manual`. */
  cronJob: string;
  namespace?: string;
  /** The Secret of the token and its key, as `NAME/KEY`. */
  tokenSecret?: string;
}

interface MachineAudience {
  kind: 'machine';
  /** What precedes the verb: `./retention`, `datahub-retention`. */
  program: string;
  /** Options that every verb takes, quoted for a shell. */
  options?: string;
  /** The policies file, quoted for a shell. */
  policies?: string;
  /** Its server and its ledger end with the program: only an approval can be tried, in another demo. */
  demo?: boolean;
}

/** Something to type, with what it does. */
export interface Command {
  /** What it does, without a full stop: the line above it. */
  say: string;
  line: string;
  /** The console of the search engine takes requests; a shell takes everything else. */
  typedIn: 'shell' | 'search-engine';
  /** It deletes rows, or may: left out of every message that reports a loss. */
  deletes?: boolean;
}

/** The line that starts a run by hand; undefined where none would work. */
export function runByHand(input: HandInput, audience: Audience): string | undefined {
  switch (audience.kind) {
    case 'aws': {
      const json = pasteable(input);
      return audience.stateMachineArn === undefined
        ? json
        : `aws stepfunctions start-execution --state-machine-arn ${shellWord(audience.stateMachineArn)}${regionOf(audience)} --input '${json}'`;
    }
    case 'kubernetes': {
      const { cronJob } = audience;
      const space = spaceOf(audience);
      // A Job has no terminal to ask at.
      const words = [...verbLine(input), ...(input.mode === 'enforce' ? ['--yes'] : [])];
      const given = shellWord(`DATAHUB_RETENTION_ARGS=${words.join(' ')}`);
      return `kubectl${space} create job retention-$(od -An -N4 -tx4 /dev/urandom | tr -d ' ') --from=cronjob/${shellWord(`${cronJob}-manual`)} --dry-run=client -o yaml | kubectl set env --local -f - ${given} -o yaml | kubectl${space} create -f -`;
    }
    case 'machine': {
      const { program, options, policies, demo } = audience;
      if (demo) return demoOf(input, program);
      return [program, ...verbLine(input, policies ?? 'FILE'), options ?? ''].filter((word) => word !== '').join(' ');
    }
  }
}

const demoOf = ({ indices = [], approveRows }: HandInput, program: string): string | undefined =>
  approveRows === undefined
    ? undefined
    : [program, 'demo', ...indices.map(shellWord), '--approve-rows', approveRows].join(' ');

/** The words of the command line: verb, indices, options. */
function verbLine(
  { mode = 'preview', indices = [], approveRows, release = [], acceptMissing }: HandInput,
  policies = '',
) {
  const verb = release.length > 0 ? 'release' : mode;
  return [
    verb,
    ...[...release, ...indices].map(shellWord),
    ...(verb === 'release' || policies === '' ? [] : ['--policies', policies]),
    ...(approveRows === undefined ? [] : ['--approve-rows', `${approveRows}`]),
    ...(acceptMissing === undefined ? [] : ['--accept-missing', `${acceptMissing}`]),
  ];
}

const spaceOf = ({ namespace }: KubernetesAudience): string =>
  namespace === undefined ? '' : ` -n ${shellWord(namespace)}`;

/** Replaces the token's Secret whole: `apply` would leave the token in an annotation, too. */
function replaceSecret(audience: KubernetesAudience): string | undefined {
  const [name, key] = (audience.tokenSecret ?? '').split('/');
  if (!name || !key) return undefined;
  const space = spaceOf(audience);
  return `kubectl${space} create secret generic ${shellWord(name)} --from-file=${shellWord(key)}=token.txt --dry-run=client -o yaml | kubectl${space} replace -f -`;
}

/** Stores a token, or pauses and resumes the job; undefined on a machine, or where its place is not known. */
export function setParameter(name: 'token' | 'paused', value: string, audience: Audience): string | undefined {
  if (audience.kind === 'kubernetes') {
    if (name === 'token') return replaceSecret(audience);
    return `kubectl${spaceOf(audience)} patch cronjob ${shellWord(audience.cronJob)} -p '{"spec":{"suspend":${value}}}'`;
  }
  if (audience.kind !== 'aws') return undefined;
  const { parameterPrefix, tokenParameter, tokenKeyArn } = audience;
  const place = (name === 'token' ? tokenParameter : undefined) ?? (parameterPrefix && `${parameterPrefix}/${name}`);
  if (!place) return undefined;
  const isToken = name === 'token';
  const key = isToken && tokenKeyArn ? ` --key-id ${shellWord(tokenKeyArn)}` : '';
  return `aws ssm put-parameter --name ${shellWord(place)} --type ${isToken ? 'SecureString' : 'String'}${key} --overwrite --value ${shellWord(value)}${regionOf(audience)}`;
}

const regionOf = ({ region }: AwsAudience): string => (region ? ` --region ${shellWord(region)}` : '');

/** JSON that stays what it is between single quotes in a shell, and in a code block of Slack. */
const pasteable = (value: unknown): string => JSON.stringify(value).replace(/[^\x20-\x7e]|['<>&`]/g, escaped);
