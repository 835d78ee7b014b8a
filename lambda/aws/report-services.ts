import type { Context } from 'aws-lambda';
import { withSentences } from '../report/sentences/sentences.ts';
import { publishMarginMillis } from '../run/deadlines.ts';
import type { ReportServices } from '../run/report.ts';
import { systemClock } from '../truncation/clock.ts';
import { readEnvironment, runSettings } from './environment.ts';
import { runLog } from './log.ts';
import { reportMetrics, toStandardOutput } from './metrics.ts';
import { snsClient, snsPublisher } from './publish.ts';
import { topicFormats } from './sns-message.ts';

/**
 * Creates what Report needs on Lambda: neither the server nor the ledger. Called once per container.
 * @returns a function that makes the services of one invocation from the run's id and Lambda's context
 */
export function reportServices() {
  const environment = readEnvironment('report', process.env);
  const settings = runSettings(environment);
  const client = snsClient();
  const audience = {
    kind: 'aws',
    region: process.env['AWS_REGION'],
    stateMachineArn: environment.STATE_MACHINE_ARN,
    parameterPrefix: environment.PARAMETER_PREFIX,
    tokenParameter: environment.TOKEN_PARAMETER,
    tokenKeyArn: environment.TOKEN_KEY_ARN,
    dashboardUrl: environment.DASHBOARD_URL,
    runbookUrl: environment.RUNBOOK_URL,
  } as const;
  const { TOPIC_ARN: topicArn, NOTIFY: notify } = environment;
  const formats = topicFormats.parse({
    default: environment.QUEUE_FORMAT,
    email: environment.EMAIL_FORMAT,
    https: environment.HTTPS_FORMAT,
  });
  let coldStart = true;
  return (runId: string, context: Pick<Context, 'getRemainingTimeInMillis' | 'awsRequestId'>): ReportServices => {
    const timeoutMillis = context.getRemainingTimeInMillis() - publishMarginMillis;
    const log = runLog({ stage: settings.stage, runId, step: 'report', requestId: context.awsRequestId, coldStart });
    coldStart = false;
    return {
      settings,
      clock: systemClock,
      log,
      keepsRuns: true,
      publisher: snsPublisher({ client, topicArn, notify, formats, log, audience, timeoutMillis }),
      addSentences: (data) => withSentences(data, audience),
      count: (report, subscriptions) => reportMetrics(report, subscriptions?.confirmed).forEach(toStandardOutput),
    };
  };
}
