import * as z from 'zod';
import { readBaseUrl } from '../gms/http/base-url.ts';
import { modes } from '../model/run-input.ts';
import type { DestinationName } from '../report/destinations/registry.ts';
import type { RunSettings } from '../run/services.ts';

/**
 * The environment of each function. The constructs build it as `EnvironmentOf<...>`, so that a missing or misspelled
 * variable there is a type error; the functions read it with `readEnvironment`.
 */

const text = z.string().min(1);
/** Report checks that there is such a format: in the other functions its code would be ballast. */
const format = z.custom<DestinationName>((value) => typeof value === 'string');
const wholeNumber = z.string().regex(/^\d+$/);

const stage = {
  STAGE: text,
  GMS_URL: text,
  MODE: z.enum(modes),
  MIN_RETENTION_DAYS: wholeNumber,
  MAX_RUN_HOURS: wholeNumber,
  /** The logger reads it by itself. */
  POWERTOOLS_LOG_LEVEL: z.enum(['DEBUG', 'INFO', 'WARN', 'ERROR']),
};

const access = {
  LEDGER_TABLE: text,
  /** One of the two: no token is never the result of a variable that is not there. */
  TOKEN_PARAMETER: text.optional(),
  NO_IDENTITY: z.literal('true').optional(),
  HEADERS_PARAMETER: text.optional(),
  CLIENT_CERTIFICATE_PARAMETER: text.optional(),
  CLIENT_KEY_PARAMETER: text.optional(),
  CA_CERTIFICATE_PARAMETER: text.optional(),
};

/** The operator's settings: Plan reads them, and Truncate rereads them just before it sends. */
const current = {
  PAUSED_PARAMETER: text,
  POLICIES_PATH: text,
  /** The stage's `maxRowsPerRun`, for policies without one of their own. */
  MAX_ROWS_PER_RUN: wholeNumber.optional(),
};

export const environments = {
  plan: z.object({ ...stage, ...access, ...current }),
  truncate: z.object({ ...stage, ...access, ...current }),
  poll: z.object({ ...stage, ...access }),
  report: z.object({
    ...stage,
    JOB_VERSION: text,
    TOPIC_ARN: text,
    NOTIFY: z.enum(['always', 'problems']),
    // What the topic's subscribers get, by protocol.
    EMAIL_FORMAT: format,
    HTTPS_FORMAT: format,
    QUEUE_FORMAT: format,
    // Only for next steps in messages, ready to paste.
    STATE_MACHINE_ARN: text,
    DASHBOARD_URL: text.optional(),
    RUNBOOK_URL: text.optional(),
    PARAMETER_PREFIX: text,
    TOKEN_PARAMETER: text,
    TOKEN_KEY_ARN: text.optional(),
  }),
};

export type FunctionName = keyof typeof environments;
export type EnvironmentOf<Name extends FunctionName> = z.infer<(typeof environments)[Name]>;

/** Throws an error that names every missing or invalid variable, but no values. */
export function readEnvironment<Name extends FunctionName>(
  name: Name,
  given: Record<string, string | undefined>,
): EnvironmentOf<Name> {
  const parsed = environments[name].safeParse(given);
  if (parsed.success) return parsed.data as EnvironmentOf<Name>;
  const variables = parsed.error.issues.map((issue) => issue.path.join('.')).join(', ');
  throw new Error(`The environment of the function ${name} lacks or misspells ${variables}: deploy the stack again.`);
}

export function runSettings(
  environment: EnvironmentOf<FunctionName> & { MAX_ROWS_PER_RUN?: string; JOB_VERSION?: string },
): RunSettings {
  const address = readBaseUrl(environment.GMS_URL);
  const { MAX_ROWS_PER_RUN: limit, JOB_VERSION: jobVersion } = environment;
  return {
    stage: environment.STAGE,
    jobVersion,
    gmsUrl: address.kind === 'address' ? address.baseUrl : environment.GMS_URL,
    mode: environment.MODE,
    minRetentionDays: Number(environment.MIN_RETENTION_DAYS),
    maxRunHours: Number(environment.MAX_RUN_HOURS),
    maxRowsPerRun: limit === undefined ? undefined : Number(limit),
  };
}
