import type { IdentitySource } from '../gms/identity.ts';
import type { Operations } from '../gms/operations.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Report } from '../model/report-schema.ts';
import type { Mode } from '../model/run-input.ts';
import type { PolicySource } from '../policy/parse.ts';
import type { Clock } from '../truncation/clock.ts';

/** What the steps of a run need. Lambda handlers, command line and tests build these and run the same steps. */

/** What the operator keeps outside the deployment. Each throws ParametersError. */
export interface Parameters {
  policies(): Promise<PolicySource[]>;
  /** Whether the job is paused. Callers treat an exception as paused. */
  paused(): Promise<boolean>;
  identity: IdentitySource;
}

/** A parameter is missing, malformed or unreadable; `message` names it and the remedy. */
export class ParametersError extends Error {
  override readonly name = 'ParametersError';
}

/** One line per decision; implementations add run id and time. Never given a token. */
export interface Log {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

export interface RunSettings {
  stage: string;
  /** Which build of this job runs: a semantic version. */
  jobVersion?: string | undefined;
  gmsUrl: string;
  /** The stage's mode; an execution's input may override it. */
  mode: Mode;
  minRetentionDays: number;
  maxRunHours: number;
  /** The stage's default for policies without one of their own. */
  maxRowsPerRun?: number;
  /** A person is shown what Plan counted, and agrees before anything is sent. */
  asksPerson?: boolean | undefined;
}

export interface RunServices {
  settings: RunSettings;
  parameters: Parameters;
  operations: Operations;
  ledger: Ledger;
  clock: Clock;
  log: Log;
  /** End of this invocation's time, epoch milliseconds of the clock. */
  deadline(): number;
}

export interface Subscriptions {
  confirmed: number;
  pending: number;
}

/** Sends the report to people and machines. Throws when it could not be published and a retry may help. */
export interface Publisher {
  /**
   * How many subscriptions the topic has; undefined if that cannot be read. Never throws, and takes seconds at most.
   */
  subscriptions?(): Promise<Subscriptions | undefined>;
  /**
   * @param byHand a person started the run: its report is published in any case (rule 12)
   * @returns whether every channel that was asked for has accepted the whole report; true if none was asked for
   */
  publish(report: Report, byHand?: boolean): Promise<boolean>;
}
