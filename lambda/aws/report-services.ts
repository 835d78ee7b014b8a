import { SNSClient } from '@aws-sdk/client-sns';
import type { ReportServices } from '../run/report.ts';
import { systemClock } from '../truncation/clock.ts';
import { withSentences } from '../message/sentences.ts';
import { readEnvironment, runSettings } from './environment.ts';
import { runLog } from './log.ts';
import { reportMetrics, toStandardOutput } from './metrics.ts';
import { snsPublisher } from './publish.ts';

/**
 * Creates what Report needs on Lambda: neither the server nor the ledger. Called once per container.
 * @returns a function that makes the services of one invocation from the run's id
 */
export function reportServices(): (runId: string) => ReportServices {
  const environment = readEnvironment('report', process.env);
  const settings = runSettings(environment);
  const client = new SNSClient();
  const reader = {
    kind: 'aws',
    stage: environment.STAGE,
    region: process.env['AWS_REGION'],
    stateMachineArn: environment.STATE_MACHINE_ARN,
    parameterPrefix: environment.PARAMETER_PREFIX,
    tokenParameter: environment.TOKEN_PARAMETER,
    tokenKeyArn: environment.TOKEN_KEY_ARN,
    runbookUrl: environment.RUNBOOK_URL,
  } as const;
  const { TOPIC_ARN: topicArn, NOTIFY: notify } = environment;
  return (runId) => {
    const log = runLog({ stage: settings.stage, runId, step: 'report' });
    return {
      settings,
      clock: systemClock,
      log,
      publisher: snsPublisher({ client, topicArn, notify, log, reader }),
      words: (facts) => withSentences(facts, reader),
      count: (composed) => reportMetrics(composed).forEach(toStandardOutput),
    };
  };
}
