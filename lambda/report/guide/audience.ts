import type { HandInput } from '../../model/run-input.ts';
import type { Section } from './runbook.ts';

/**
 * Who reads a message, and where they type. Every command that a message prints is made for that place, so that it can
 * be pasted as it is.
 */
export type Audience = { runbookUrl?: string } & (AwsAudience | KubernetesAudience | MachineAudience);

export interface AwsAudience {
  kind: 'aws';
  region?: string;
  /** The workflow; without it, a command is only an execution's input. */
  stateMachineArn?: string;
  /** The stage's dashboard, which carries the worst sections of the runbook. */
  dashboardUrl?: string;
  /** Where the operator's parameters are, such as `/datahub-retention/prod`. */
  parameterPrefix?: string;
  /** The token's parameter, if it is not `<parameterPrefix>/token`. */
  tokenParameter?: string;
  /** The customer-managed key that encrypts it. */
  tokenKeyArn?: string;
}

export interface KubernetesAudience {
  kind: 'kubernetes';
  /** The nightly CronJob; runs by hand are made from its suspended twin `<cronJob>-manual`. */
  cronJob: string;
  namespace?: string;
  /** The Secret of the token and its key, as `NAME/KEY`. */
  tokenSecret?: string;
}

export interface MachineAudience {
  kind: 'machine';
  /** What precedes the verb: `./retention`, `datahub-retention`. */
  program: string;
  /** Options that every verb takes, quoted for a shell. */
  options?: string;
  /** The policies file, quoted for a shell. */
  policies?: string;
  /** The timer of systemd that starts it, where its unit says so (docs/machine.md). */
  timer?: string;
  /** Its server and its ledger end with the program: only an approval can be tried, in another demo. */
  demo?: boolean;
}

export interface Command {
  /** What it does, without a full stop: the line above it. */
  say: string;
  line: string;
  /** The console of the search engine takes requests; a shell takes everything else. */
  typedIn: 'shell' | 'search-engine';
  /** Of a request to the search engine: its consoles read it below the line with the path. */
  body?: string;
  /** It deletes rows, or may: left out of every message that reports a loss. */
  deletes?: boolean;
}

/** What people type, and where they look, in the place of one audience. */
export interface Guide {
  /** The line that starts a run by hand; undefined where none would work. */
  runByHand(input: HandInput): string | undefined;
  /** Stores the token that is in token.txt; undefined where its place is not known. */
  storeToken(): string | undefined;
  /** Pauses or resumes the job; undefined where nothing pauses it. */
  setPaused(paused: boolean): string | undefined;
  /** A section of the runbook: a link, or a command that prints it. */
  runbook(section: Section): { url: string } | { where: string; command: string };
  policies: string;
  /** Where the ledger is that an earlier run has used, if this one is not it. */
  otherLedger: string;
  /** How a person who has seen a preview lets it delete. */
  enforce: string;
  /** What helps if access is denied to the job's own stores. */
  restoreAccess?: string;
}
