import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { StageInput } from '../../lambda/settings/settings.ts';
import { type AwsCaller, awsCaller, xmlText } from './aws.ts';
import type { Emulator } from './emulator.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const cdk = join(root, 'node_modules', '.bin', 'cdk');
/** What stands in the place of cdk.json's `app`; app.ts says how they differ. */
export const testApp = 'npx --no-install tsx test/deploy/app.ts';

export interface DeployedStage {
  aws: AwsCaller;
  outputs: Record<'StateMachineArn' | 'TopicArn' | 'LedgerTableName', string>;
  /** The messages that a queue subscribed to the topic has received since the last call. */
  received(): Promise<{ Subject: string; Message: string }[]>;
  executions(): Promise<{ executionArn: string; name: string; status: string }[]>;
  /** Starts an execution and waits for its end; returns it as `RUNNING` if `patienceSeconds` are over first. */
  execute(input: unknown, patienceSeconds?: number): Promise<{ executionArn: string; name: string; status: string }>;
  stop(executionArn: string): Promise<void>;
  roles(): Promise<RolePolicy[]>;
  writePolicy(policy: RolePolicy): Promise<void>;
  /** Stores SecureStrings of this stage, by their last names. */
  store(parameters: Record<string, string>): Promise<void>;
  /** `cdk deploy` again, with other settings. */
  deploy(changed: object): Promise<void>;
}

export interface RolePolicy {
  role: string;
  policy: string;
  statements: { Sid?: string; Action: string | string[]; Effect: string; Resource: unknown }[];
}

/** Bootstraps the emulator's account as README says, stores the token, deploys, and subscribes a queue to the topic. */
export async function deployStage(
  emulator: Emulator,
  {
    stage,
    settings,
    parameters,
    snsUrl,
  }: { stage: string; settings: StageInput; parameters: Record<string, string>; snsUrl: string },
): Promise<DeployedStage> {
  const aws = awsCaller(emulator.url, emulator.region);
  const stageFile = join(emulator.folder, `${stage}.json`);
  const outputsFile = join(emulator.folder, 'outputs.json');
  const env = {
    PATH: process.env['PATH'],
    HOME: emulator.folder,
    ...emulator.environment,
    DEPLOY_TEST_STAGE_FILE: stageFile,
    DEPLOY_TEST_SNS_URL: snsUrl,
    DEPLOY_TEST_GMS_URL: settings.gmsUrl,
  };
  const write = (changed: object) =>
    writeFile(stageFile, JSON.stringify({ ...settings, gmsUrl: 'https://datahub.example.com/gms', ...changed }));
  await write({});
  const store = async (given: Record<string, string>) => {
    for (const [name, text] of Object.entries(given)) {
      const Name = `/datahub-retention/${stage}/${name}`;
      const stored = { Name, Type: 'SecureString', Value: `${text}\n`, Overwrite: true };
      await aws.json('ssm', 'AmazonSSM.PutParameter', stored);
    }
  };
  await store(parameters);
  const quiet = ['--no-notices', '--no-version-reporting', '-c', 'cli-telemetry=false'];
  const target = `aws://${emulator.account}/${emulator.region}`;
  await run(cdk, ['bootstrap', target, ...quiet], { cwd: emulator.folder, env });
  const app = ['--app', testApp, '-c', `stage=${stage}`, '--output', join(emulator.folder, 'cdk.out')];
  const deploy = async () => {
    const options = ['--require-approval', 'never', '--outputs-file', outputsFile];
    await run(cdk, ['deploy', ...app, ...options, ...quiet], { cwd: root, env });
  };
  await deploy();
  const outputs = Object.values(JSON.parse(await readFile(outputsFile, 'utf8')))[0] as DeployedStage['outputs'];

  const received = await subscribe(emulator, aws, outputs.TopicArn, `${stage}-subscriber`);
  return {
    aws,
    outputs,
    received,
    store,
    ...workflow(aws, outputs.StateMachineArn),
    ...access(aws, stage),
    async deploy(changed) {
      await write(changed);
      await deploy();
    },
  };
}

/**
 * Subscribes a queue to a topic.
 * @returns a function that returns what has arrived since its last call
 */
export async function subscribe(
  { region, account }: Emulator,
  aws: AwsCaller,
  TopicArn: string,
  QueueName: string,
): Promise<DeployedStage['received']> {
  const queueArn = `arn:aws:sqs:${region}:${account}:${QueueName}`;
  const mayDeliver = {
    Effect: 'Allow',
    Principal: { Service: 'sns.amazonaws.com' },
    Action: 'sqs:SendMessage',
    Resource: queueArn,
  };
  const { QueueUrl } = await aws.json('sqs', 'AmazonSQS.CreateQueue', {
    QueueName,
    Attributes: { Policy: JSON.stringify({ Version: '2012-10-17', Statement: [mayDeliver] }) },
  });
  await aws.query('sns', 'Subscribe', '2010-03-31', { TopicArn, Protocol: 'sqs', Endpoint: queueArn });
  return async () => {
    const answer = await aws.json('sqs', 'AmazonSQS.ReceiveMessage', { QueueUrl, MaxNumberOfMessages: 10 });
    const messages: { Body: string; ReceiptHandle: string }[] = answer.Messages ?? [];
    for (const { ReceiptHandle } of messages)
      await aws.json('sqs', 'AmazonSQS.DeleteMessage', { QueueUrl, ReceiptHandle });
    return messages.map(({ Body }) => JSON.parse(Body));
  };
}

const workflow = (aws: AwsCaller, stateMachineArn: string): Pick<DeployedStage, 'executions' | 'execute' | 'stop'> => ({
  async executions() {
    return (await aws.json('states', 'AWSStepFunctions.ListExecutions', { stateMachineArn })).executions;
  },
  async execute(input, patienceSeconds = 180) {
    const started = await aws.json('states', 'AWSStepFunctions.StartExecution', {
      stateMachineArn,
      input: JSON.stringify(input),
    });
    const { executionArn } = started;
    const describe = () => aws.json('states', 'AWSStepFunctions.DescribeExecution', { executionArn });
    const ended = async () => {
      const execution = await describe();
      return execution.status === 'RUNNING' ? undefined : execution;
    };
    return until(ended, 'the execution has ended', patienceSeconds).catch(describe);
  },
  async stop(executionArn) {
    await aws.json('states', 'AWSStepFunctions.StopExecution', { executionArn });
  },
});

/** The roles of a stage's functions, and their policies. */
export const access = (aws: AwsCaller, stage: string): Pick<DeployedStage, 'roles' | 'writePolicy'> => ({
  async roles() {
    const all = [...(await aws.query('iam', 'ListRoles', '2010-05-08', {})).matchAll(/<RoleName>([^<]+)/g)].map(
      ([, name]) => name!,
    );
    const own = all.filter((name) => name.includes(stage));
    return Promise.all(
      own.map(async (RoleName) => {
        const PolicyName = xmlText(await aws.query('iam', 'ListRolePolicies', '2010-05-08', { RoleName }), 'member')!;
        const xml = await aws.query('iam', 'GetRolePolicy', '2010-05-08', { RoleName, PolicyName });
        const document = JSON.parse(decodeURIComponent(xmlText(xml, 'PolicyDocument')!.replaceAll('&quot;', '"')));
        return { role: RoleName, policy: PolicyName, statements: document.Statement };
      }),
    );
  },
  async writePolicy({ role, policy, statements }) {
    const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement: statements });
    await aws.query('iam', 'PutRolePolicy', '2010-05-08', { RoleName: role, PolicyName: policy, PolicyDocument });
  },
});

/** What the ledger has of each index. */
export async function ledgerRecords({ environment, url, region }: Emulator, TableName: string) {
  const credentials = { accessKeyId: environment['AWS_ACCESS_KEY_ID']!, secretAccessKey: 'test' };
  const client = new DynamoDBClient({ endpoint: url, region, credentials });
  const { Items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
  return Items.filter(({ record }) => record !== undefined).map(({ index, state, record }) => ({
    index: index!.S!,
    state: state!.S!,
    record: record!.S!,
  }));
}

/** A function whose configuration was changed starts in a new process, which has no token in memory. */
export async function startCold({ aws }: DeployedStage): Promise<void> {
  const { Functions } = await aws.rest('lambda', 'GET', '/2015-03-31/functions/');
  for (const { FunctionName, MemorySize } of Functions) {
    await aws.rest('lambda', 'PUT', `/2015-03-31/functions/${FunctionName}/configuration`, { MemorySize });
  }
}

/** Asks every half second until there is an answer. */
export async function until<Answer>(
  ask: () => Promise<Answer | undefined>,
  what: string,
  patienceSeconds = 180,
): Promise<Answer> {
  for (let attempt = 0; attempt < 2 * patienceSeconds; attempt++) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`Waited ${patienceSeconds} s until ${what}`);
}
