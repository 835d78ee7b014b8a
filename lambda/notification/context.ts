/** The environment of the message's readers, which turns next steps into commands that can be pasted as they are. */
export interface MessageContext {
  /**
   * The workflow: with it, a next step is a complete `aws stepfunctions start-execution`; without it, only the input.
   */
  stateMachineArn?: string;
  region?: string;
  /** Address of docs/runbook.md, without an anchor. */
  runbookUrl?: string;
  /** The stage's mode is `enforce`: a preview in it was started by hand. */
  enforces?: boolean;
  /** Where the operator's parameters are, e.g. `/datahub-retention/prod`. */
  parameterPrefix?: string;
  /** The token's parameter, if it is not `<parameterPrefix>/token`. */
  tokenParameter?: string;
  /** The customer-managed key that encrypts it. */
  tokenKeyArn?: string;
  /** The run was made by `npm start`: next steps are command lines of the local runner. */
  local?: boolean;
  /** How that runner was started; without it, commands contain placeholders. */
  localCommand?: LocalCommand;
  /** Its waits were cut short (`--fast`), so its own clock shows more time than has really passed. */
  waitsCutShort?: boolean;
  /** Texts that must not appear in any message: the token in use. */
  secrets?: readonly string[];
}

/** What the command lines of one machine have in common. */
export interface LocalCommand {
  /** What precedes the verb: `npm start --`, `datahub-retention`. */
  program: string;
  /** The demonstration, which has no server: it uses its own command lines. */
  isDemo?: true;
  /** Options that every verb takes, quoted for a shell. */
  options: string;
  /** The policies file, quoted for a shell. */
  policies?: string;
  /** Set in a cluster: the reader's command for a job of one verb, which replaces its `{}` as items of a YAML list. */
  byHand?: string;
}

/** A stage and a CronJob have a next run; a command line has none. */
export const isScheduled = ({ local, localCommand }: MessageContext): boolean =>
  !local || localCommand?.byHand !== undefined;
