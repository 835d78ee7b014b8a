import { SNSClient } from '@aws-sdk/client-sns';
import { systemClock } from './facts/clock.ts';
import type { Result } from './facts/outcomes.ts';
import type { Report } from './facts/report-schema.ts';
import { snsPublisher } from './notification/publish.ts';
import { type ReportEvent, report } from './run/report.ts';
import { runLog } from './telemetry/log.ts';
import { reportMetrics, toStandardOutput } from './telemetry/metrics.ts';
import { readEnvironment } from './wiring/environment.ts';
import { runSettings } from './wiring/run-settings.ts';

const environment = readEnvironment('report', process.env);
const settings = runSettings(environment);
const client = new SNSClient();

/** Counts and publishes the report of a run. */
export async function handler(event: ReportEvent): Promise<{ result: Result }> {
  const log = runLog({ stage: settings.stage, runId: event.execution.name, step: 'report' });
  const context = {
    stateMachineArn: environment.STATE_MACHINE_ARN,
    enforces: environment.MODE === 'enforce',
    parameterPrefix: environment.PARAMETER_PREFIX,
    tokenParameter: environment.TOKEN_PARAMETER,
    ...(process.env['AWS_REGION'] !== undefined && { region: process.env['AWS_REGION'] }),
    ...(environment.RUNBOOK_URL !== undefined && { runbookUrl: environment.RUNBOOK_URL }),
    ...(environment.TOKEN_KEY_ARN !== undefined && { tokenKeyArn: environment.TOKEN_KEY_ARN }),
  };
  const { TOPIC_ARN: topicArn, NOTIFY: notify } = environment;
  const publisher = snsPublisher({ client, topicArn, notify, log, context });
  const count = (composed: Report) => {
    for (const line of reportMetrics(composed)) toStandardOutput(line);
  };
  const { result } = await report(event, { settings, clock: systemClock, log, publisher, count });
  return { result };
}
