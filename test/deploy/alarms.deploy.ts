import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Report, reportSchema } from '../../lambda/model/report-schema.ts';
import { type SimulatedGms, startSimulatedGms } from '../simulated-gms/server.ts';
import { realTruncates } from '../simulated-gms/simulation/exchange.ts';
import { awsCaller, xmlText } from './aws.ts';
import { startEmulator } from './emulator.ts';
import { startRecorder } from './recorder.ts';
import { type DeployedStage, deployStage, startCold, subscribe, until } from './stage.ts';

/**
 * Two bad nights and a good one of a stage whose alarms have a topic of their own: what each topic receives. The emulator
 * evaluates alarms, but neither reads metrics from a function's log nor ends an alarm when data is missing; the test does
 * both for it.
 */

const emulator = await startEmulator();
const dayMillis = 86_400_000;

interface Run {
  report: Report;
  /** The subjects of what each topic has received. */
  reports: string[];
  alarms: string[];
}

describe.skipIf(emulator === undefined)('A stage whose alarms have a topic of their own', () => {
  let service: SimulatedGms;
  let stage: DeployedStage;
  let first: Run;
  let second: Run;
  let third: Run;
  let ended: string[];
  let lost: string[];
  let closeRecorder = async () => {};

  beforeAll(async () => {
    // Slow enough that rows can be deleted while the truncation runs.
    service = await startSimulatedGms({
      indices: [{ entityType: 'dataset', aspect: 'operation', rows: 4000, days: 200 }],
      faults: ['rows-per-second=1000'],
    });
    const recorder = await startRecorder(emulator!.url);
    closeRecorder = recorder.close;
    const aws = awsCaller(emulator!.url, emulator!.region);
    const created = await aws.query('sns', 'CreateTopic', '2010-03-31', { Name: 'on-call' });
    const alarmTopicArn = xmlText(created, 'TopicArn')!;
    const alarmed = await subscribe(emulator!, aws, alarmTopicArn, 'on-call-subscriber');
    stage = await deployStage(emulator!, {
      stage: 'alarmed',
      parameters: { token: service.token },
      snsUrl: recorder.url,
      settings: {
        gmsUrl: service.url,
        mode: 'enforce',
        emails: ['data-team@example.com'],
        alarmTopicArn,
        policies: [{ entityType: 'dataset', aspect: 'operation', retentionDays: 90 }],
      },
    });
    await emulator!.scaleWaits(0.02);

    const run = async (): Promise<Run> => {
      const since = Date.now();
      await stage.execute({ mode: 'enforce' });
      await extractMetrics(stage, since);
      const messages = await stage.received();
      const report = reportSchema.parse(JSON.parse(messages.at(-1)!.Message));
      return {
        report,
        reports: messages.map(({ Subject }) => Subject),
        alarms: (await alarmed()).map(({ Subject }) => Subject),
      };
    };

    const losing = setInterval(() => {
      if (realTruncates(service.engine.asked).length === 0) return;
      clearInterval(losing);
      let left = 300;
      const kept = Date.now() - 90 * dayMillis;
      service.engine.removeRows('dataset.operation', ({ timestamp }) => timestamp > kept && left-- > 0);
    }, 20);
    first = await run();
    clearInterval(losing);

    const hourPasses = async () => {
      await anHourPasses(stage);
      return (await alarmed()).map(({ Subject }) => Subject);
    };
    const storeToken = async (token: string) => {
      await stage.store({ token });
      await startCold(stage);
    };
    ended = await hourPasses();
    await storeToken('revoked');
    const paged = await run();
    second = { ...paged, alarms: [...paged.alarms, ...(await hourPasses())] };
    await storeToken(service.token);
    third = await run();

    await loseAStart(stage);
    lost = await until(async () => {
      const called = await alarmed();
      return called.length > 0 ? called.map(({ Subject }) => Subject) : undefined;
    }, 'an alarm has called for the lost start');
  }, 600_000);
  afterAll(async () => {
    await emulator?.stop();
    await closeRecorder();
    await service?.close();
  });

  test('has a run in which rows go missing, and one in which the server refuses its token', () => {
    expect(first.report).toMatchObject({ result: 'failed', policies: [{ outcome: 'rows-missing', rowsMissing: 300 }] });
    expect(second.report.result).toBe('failed');
    expect(second.report.policies.map(({ outcome }) => outcome)).not.toContain('rows-missing');
  });

  test('tells the people of its reports once a run, by the report', () => {
    expect([first.reports, second.reports]).toEqual([
      [expect.stringMatching(/^\[DataHub retention\] alarmed: /)],
      [expect.stringMatching(/^\[DataHub retention\] alarmed: /)],
    ]);
  });

  test('calls the people of its alarms for missing rows and for each run that failed, and tells them of each end', () => {
    const said = (state: string, name: string) =>
      `${state}: "datahub-retention/alarmed/${name}" in ${emulator!.region}`;
    // An alarm that has its first data is OK for the first time.
    const begun = said('OK', 'NobodySubscribed');
    expect(first.alarms.sort()).toEqual([said('ALARM', 'RowsMissing'), said('ALARM', 'RunFailed'), begun]);
    expect(ended.sort()).toEqual([said('OK', 'RowsMissing'), said('OK', 'RunFailed')]);
    expect(second.alarms).toEqual([said('ALARM', 'RunFailed'), said('OK', 'RunFailed')]);
    expect([third.report.result, third.alarms]).toEqual(['attention', []]);
  });

  test('calls them as soon as a start arrives in the queue of lost ones', () => {
    expect(lost).toEqual([`ALARM: "datahub-retention/alarmed/StartLost" in ${emulator!.region}`]);
  });
});

/**
 * The emulator's scheduler puts nothing into the queue, and nobody else can without TLS, which the emulator does not
 * support: the test sends the metric that a message in it would cause.
 */
async function loseAStart({ aws }: DeployedStage): Promise<void> {
  const { QueueUrls } = await aws.json('sqs', 'AmazonSQS.ListQueues', {});
  const QueueUrl: string = QueueUrls.find((url: string) => url.includes('LostStarts'));
  const sent = aws.json('sqs', 'AmazonSQS.SendMessage', { QueueUrl, MessageBody: '{}' });
  await expect(sent).rejects.toThrow(/AccessDenied/);
  await aws.query('monitoring', 'PutMetricData', '2010-08-01', {
    Namespace: 'AWS/SQS',
    'MetricData.member.1.MetricName': 'NumberOfMessagesSent',
    'MetricData.member.1.Value': '1',
    'MetricData.member.1.Timestamp': new Date().toISOString(),
    'MetricData.member.1.Dimensions.member.1.Name': 'QueueName',
    'MetricData.member.1.Dimensions.member.1.Value': QueueUrl.split('/').at(-1)!,
  });
}

/** How long it takes until a run's metrics are an hour old, so that the next run begins after that hour. */
const restOfTheHour = 15_000;

/** As CloudWatch does, takes metrics from the log lines that are in its embedded format. */
async function extractMetrics({ aws }: DeployedStage, since: number): Promise<void> {
  const lines = await until(async () => {
    await collectLogs(aws);
    const found = await embeddedMetrics(aws, since);
    return found.length > 0 ? found : undefined;
  }, 'the Report function has written its metrics');
  for (const line of lines) {
    const [{ Namespace, Dimensions, Metrics }] = line._aws.CloudWatchMetrics;
    const dimensions = Dimensions[0].map((Name: string, n: number): [string, string][] => [
      [`Dimensions.member.${n + 1}.Name`, Name],
      [`Dimensions.member.${n + 1}.Value`, line[Name]],
    ]);
    for (const { Name, Unit } of Metrics) {
      const datum = {
        MetricName: Name,
        Unit,
        Value: String(line[Name]),
        Timestamp: new Date(Date.now() - 3_600_000 + restOfTheHour).toISOString(),
        ...Object.fromEntries(dimensions.flat()),
      };
      const parameters = Object.entries(datum).map(([key, value]) => [`MetricData.member.1.${key}`, String(value)]);
      await aws.query('monitoring', 'PutMetricData', '2010-08-01', { Namespace, ...Object.fromEntries(parameters) });
    }
  }
}

/**
 * On a busy machine, the emulator leaves what a function writes at its end until the function is called again. An input
 * without a run is refused before anything is read.
 */
async function collectLogs(aws: DeployedStage['aws']): Promise<void> {
  const { Functions } = await aws.rest('lambda', 'GET', '/2015-03-31/functions/');
  for (const { FunctionName } of Functions)
    await aws.rest('lambda', 'POST', `/2015-03-31/functions/${FunctionName}/invocations`, {});
}

// biome-ignore lint/suspicious/noExplicitAny: a line holds its metrics and dimensions under names of its own
async function embeddedMetrics(aws: DeployedStage['aws'], startTime: number): Promise<any[]> {
  const { logGroups } = await aws.json('logs', 'Logs_20140328.DescribeLogGroups', {});
  const found = [];
  for (const { logGroupName } of logGroups) {
    const { events = [] } = await aws.json('logs', 'Logs_20140328.FilterLogEvents', { logGroupName, startTime });
    for (const { message } of events)
      for (const line of message.split('\n')) if (line.startsWith('{"_aws"')) found.push(JSON.parse(line));
  }
  return found.filter((line) => line._aws.Timestamp >= startTime);
}

/** An hour without data silently ends an alarm that does not treat missing data as breaching. */
async function anHourPasses({ aws }: DeployedStage): Promise<void> {
  await sleep(restOfTheHour);
  for (const AlarmName of ['RunFailed', 'RowsMissing'].map((name) => `datahub-retention/alarmed/${name}`)) {
    const parameters = { AlarmName, StateValue: 'OK', StateReason: 'no data' };
    await aws.query('monitoring', 'SetAlarmState', '2010-08-01', parameters);
  }
}
