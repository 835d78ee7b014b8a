import { Logger } from '@aws-lambda-powertools/logger';
import { redactor } from '../gms/secrets.ts';
import { mapTexts } from '../report/sentences/text.ts';
import type { Log } from '../run/services.ts';

interface RunLogOptions {
  stage: string;
  /** The execution's name. */
  runId: string;
  step: 'plan' | 'truncate' | 'poll' | 'report';
  /** Lambda's name of the invocation, and whether its container had to be started. */
  requestId: string;
  coldStart: boolean;
}

export interface RunLog extends Log {
  /** Keeps this text out of everything logged from now on. Call it with every secret as soon as it is read. */
  addRedaction(secret: string): void;
}

/**
 * The log of one invocation: JSON lines with stage, run id, step and the request; the logger adds the trace's id and
 * takes its level from POWERTOOLS_LOG_LEVEL. A line about a decision has the fields `index`, `outcome` and `cause` (as
 * data: only the report contains English), which the saved query (`infra/monitoring/queries.ts`) uses. Secrets and
 * stack traces are removed from every text; an Error is logged as its name and message.
 */
export function runLog({ stage, runId, step, requestId, coldStart }: RunLogOptions): RunLog {
  // The field names are the logger's own; left to itself, it would report a cold start for each new logger.
  const request = { function_request_id: requestId, cold_start: coldStart };
  const logger = new Logger({ serviceName: 'datahub-retention', persistentKeys: { stage, runId, step, ...request } });
  const secrets: string[] = [];
  let clean = redactor(secrets);
  const write =
    (level: 'info' | 'warn' | 'error') =>
    (message: string, fields: Record<string, unknown> = {}): void => {
      logger[level](clean(message), cleanFields(fields, clean));
    };
  return {
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    addRedaction: (secret) => {
      if (secrets.includes(secret)) return;
      secrets.push(secret);
      // A key has many pieces: they are found once, not for each line.
      clean = redactor(secrets);
    },
  };
}

function cleanFields(fields: Record<string, unknown>, clean: (text: string) => string): Record<string, unknown> {
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    value instanceof Error ? clean(`${value.name}: ${value.message}`) : mapTexts(value, clean),
  ]);
  return Object.fromEntries(entries);
}
