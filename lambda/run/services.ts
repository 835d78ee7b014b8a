import type { Check } from '../facts/check.ts';
import type { Clock } from '../facts/clock.ts';
import type { Report } from '../facts/report-schema.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Nights } from '../memory/night.ts';
import type { Operations, TokenSource } from '../operations/operations.ts';
import type { PolicySource } from '../policy/parse.ts';
import type { Mode } from './state.ts';

/** What the four steps need. Lambda handlers, local runner and tests build these and run the same steps. */

/** What the operator keeps outside the deployment. Each throws ParametersError. */
export interface Parameters {
  policies(): Promise<PolicySource[]>;
  /** Whether the job is paused. Callers treat an exception as paused. */
  paused(): Promise<boolean>;
  token: TokenSource;
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
  gmsUrl: string;
  /** The stage's mode; an execution's input may override it. */
  mode: Mode;
  minRetentionDays: number;
  maxRunHours: number;
  /** The stage's default for policies without one of their own. */
  maxRowsPerRun?: number;
}

/** What the preflight of a preview needs in addition. */
export interface Surroundings {
  /** The run is on Lambda, where a private network address is normal. */
  onLambda: boolean;
  /** The addresses of a host name; throws if there are none. */
  lookup(hostname: string): Promise<string[]>;
  /**
   * Called with each part of the preflight as it comes in and with all of it at the end, which may be long before Plan
   * ends.
   */
  onPreflight?(checks: readonly Check[], isComplete: boolean): void;
}

export interface RunServices {
  settings: RunSettings;
  parameters: Parameters;
  operations: Operations;
  ledger: Ledger;
  /** What earlier nights saw; omitted for steps that do not need it. */
  nights?: Nights;
  surroundings: Surroundings;
  clock: Clock;
  log: Log;
  /** A new random id (UUID) at each call. */
  newId(): string;
  /** End of this invocation's time, epoch milliseconds of the run's clock. */
  deadline(): number;
}

/** Sends the report to people and machines. Throws when it could not be published. */
export interface Publisher {
  publish(report: Report): Promise<void>;
}
