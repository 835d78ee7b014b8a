import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Report, reportSchema } from '../../lambda/model/report-schema.ts';
import { rowsOf } from '../pages/executed.ts';
import { type SimulatedGms, startSimulatedGms } from '../simulated-gms/server.ts';
import { realTruncates } from '../simulated-gms/simulation/exchange.ts';
import { authority } from '../support/certificates.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { startEmulator } from './emulator.ts';
import { type Recorder, startRecorder } from './recorder.ts';
import { type DeployedStage, deployStage, ledgerRecords, type RolePolicy, startCold, until } from './stage.ts';

/**
 * Schedule, four functions, service, topic, and a gateway that wants a header and a client certificate: the real template
 * with the real bundles, on an emulator of AWS that evaluates IAM for the functions' own calls; and a server that does
 * what the specification says and nothing more. What it cannot show is in docs/operate.md.
 */

const emulator = await startEmulator();
const made = authority();
const secret = 'gateway-value-0123456789';

describe.skipIf(emulator === undefined)('A deployed stage', () => {
  let service: SimulatedGms;
  let gateway: Gateway;
  let recorder: Recorder;
  let stage: DeployedStage;
  let first: Report;

  beforeAll(async () => {
    service = await startSimulatedGms({
      profile: 'plain',
      indices: [
        { entityType: 'dataset', aspect: 'operation', rows: 4000, days: 200 },
        { entityType: 'dataset', aspect: 'datasetProfile', rows: 1000, days: 50 },
      ],
    });
    const job = made.issue(10);
    gateway = await startGateway(service.url, { header: secret, certificate: job }, made);
    recorder = await startRecorder(emulator!.url);
    stage = await deployStage(emulator!, {
      stage: 'emulated',
      parameters: {
        token: service.token,
        headers: `X-Tenant: acme\nX-Gateway-Key: ${secret}`,
        certificate: job.cert,
        key: job.key,
        ca: made.ca,
      },
      snsUrl: recorder.url,
      settings: {
        gmsUrl: gateway.url,
        headersParameter: '/datahub-retention/emulated/headers',
        clientCertificateParameter: '/datahub-retention/emulated/certificate',
        clientKeyParameter: '/datahub-retention/emulated/key',
        caCertificateParameter: '/datahub-retention/emulated/ca',
        mode: 'enforce',
        schedule: 'cron(* * * * ? *)',
        emails: ['data-team@example.com'],
        policies: [
          { entityType: 'dataset', aspect: 'operation', retentionDays: 90 },
          { entityType: 'dataset', aspect: 'datasetProfile', retentionDays: 90 },
        ],
      },
    });
    first = await until(() => nextReport(stage), 'the first scheduled run has reported');
  });
  afterAll(async () => {
    await emulator?.stop();
    await recorder?.close();
    await gateway?.close();
    await service?.close();
    made.remove();
  });

  test('runs by its schedule, truncates what its policies say, and tells the subscribers of its topic', () => {
    const outcomes = Object.fromEntries(first.policies.map(({ aspect, outcome }) => [aspect, outcome]));
    expect(first).toMatchObject({ stage: 'emulated', mode: 'enforce', result: 'ok' });
    expect(outcomes).toEqual({ operation: 'truncated', datasetProfile: 'nothing-to-delete' });
    expect(first.notes?.map(({ kind }) => kind)).toContain('certificate-expires');
  });

  test('leaves nothing unresolved in its ledger', async () => {
    const records = await ledgerRecords(emulator!, stage.outputs.LedgerTableName);
    expect(records.map(({ index, state }) => [index, state])).toContainEqual(['dataset_operationaspect_v1', 'idle']);
    expect(records.filter(({ state }) => state !== 'idle')).toEqual([]);
  });

  test('publishes a mail text and a Slack message beside the JSON', () => {
    const publish = recorder.forms.find((form) => form.get('Action') === 'Publish')!;
    const variants = JSON.parse(publish.get('Message')!);
    expect(Object.keys(variants)).toEqual(expect.arrayContaining(['default', 'email', 'https', 'sms']));
    expect(variants.email).toContain('dataset.operation');
    expect(JSON.parse(variants.https)).toMatchObject({ version: '1.0', source: 'custom' });
    expect(publish.get('Subject')).toMatch(/^\[DataHub retention\] emulated: /);
  });

  test('shows its identity nowhere: not in messages, states or ledger', async () => {
    expect(gateway.got.length).toBeGreaterThan(5);
    expect(new Set(gateway.got.map(({ headers }) => headers['x-gateway-key']))).toEqual(new Set([secret]));
    const texts = [
      ...recorder.forms.map(String),
      JSON.stringify(await ledgerRecords(emulator!, stage.outputs.LedgerTableName)),
      ...(await histories(stage)),
    ];
    for (const text of texts) {
      for (const hidden of [service.token, secret]) expect(text).not.toContain(hidden);
    }
  });

  const sent = () => realTruncates(service.engine.asked).length;

  /** From here on, executions are only started by hand; a wait or a retry takes a fiftieth of its time. */
  const byHandOnly = async () => {
    await removeSchedules(stage);
    await emulator!.scaleWaits(0.02);
    await quiet(stage);
    await stage.received();
  };

  describe('without one statement of its permissions', () => {
    let all: RolePolicy[];

    beforeAll(async () => {
      await byHandOnly();
      all = await stage.roles();
    });

    test('has the statements that are tried below, and no other ones', () => {
      const found = all.flatMap(({ role, statements }) => statements.map((statement) => named(role, statement)));
      expect(found.sort()).toEqual([...tried, ...notTried].sort());
    });

    test('with all of them, two executions at once send one truncation of an index', async () => {
      service.engine.addRows('dataset.operation', rowsOf(2000, 150));
      const before = sent();
      const input = { mode: 'enforce', indices: ['dataset.operation'] };
      const ended = await Promise.all([stage.execute(input), stage.execute(input)]);
      expect(ended.map(({ status }) => status)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
      expect(sent() - before).toBe(1);
      await stage.received();
    });

    test.each(tried)('%s: the run does not end well', async (name) => {
      const [policy, without] = withoutStatement(all, name);
      service.engine.addRows('dataset.operation', rowsOf(2000, 150));
      await stage.writePolicy(without);
      await startCold(stage);
      try {
        // A Poll that cannot ask the server keeps trying until maxRunHours: that run does not end within this test.
        const { status, executionArn } = await stage.execute({ mode: 'enforce', indices: ['dataset.operation'] }, 20);
        if (status === 'RUNNING') await stage.stop(executionArn);
        const report = await nextReport(stage);
        expect([status, report?.result]).not.toEqual(['SUCCEEDED', 'ok']);
      } finally {
        await stage.writePolicy(policy);
      }
      // With the statement back, a run picks up what was left.
      await stage.received();
      await stage.execute({ mode: 'enforce', indices: ['dataset.operation'] });
      expect((await nextReport(stage))?.result).toBe('ok');
    });
  });

  describe('before which something changes', () => {
    beforeAll(byHandOnly);
    const reported = async (mode: string) => {
      await stage.received();
      await stage.execute({ mode });
      return (await nextReport(stage))!;
    };

    test('says that its header is refused, and takes a renewed one, and another certificate, from the parameters', async () => {
      const [header, certificate] = ['renewed-value-9876543210', made.issue()];
      gateway.wants = { header, certificate };
      const refused = await reported('preview');
      expect([refused.result, JSON.stringify(refused)]).toEqual([
        'failed',
        expect.stringContaining('headersParameter'),
      ]);
      await stage.store({ headers: `X-Gateway-Key: ${header}`, certificate: certificate.cert, key: certificate.key });
      expect((await reported('preview')).result).toBe('ok');
      const last = gateway.got.at(-1)!;
      expect([last.headers['x-gateway-key'], last.shown?.trim()]).toEqual([header, certificate.cert.trim()]);
    });

    test('with noIdentity sends no token, to a server that asks for none, and deletes nothing where it asks for one', async () => {
      gateway.wants = { ...gateway.wants, open: service.token };
      await stage.deploy({ noIdentity: true });
      await quiet(stage);
      service.engine.addRows('dataset.operation', rowsOf(2000, 150));
      const [before, asked] = [sent(), gateway.got.length];
      expect([(await reported('preview')).result, sent() - before]).toEqual(['ok', 0]);
      expect([(await reported('enforce')).result, sent() - before]).toEqual(['ok', 1]);
      const since = gateway.got.slice(asked);
      expect(since.length).toBeGreaterThan(5);
      expect(since.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
      delete gateway.wants.open;
      service.engine.addRows('dataset.operation', rowsOf(2000, 150));
      const refused = await reported('enforce');
      expect([refused.result, sent() - before]).toEqual(['failed', 1]);
      expect(JSON.stringify(refused)).toContain('create a new token in DataHub');
    });
  });
});

/** `<role>: <statement>`; statements that CDK writes have no Sid. */
const tried = [
  'Plan: ReadPolicies',
  'Plan: ReadParameters',
  'Plan: UseLedger',
  'Truncate: ReadPolicies',
  'Truncate: ReadParameters',
  'Truncate: UseLedger',
  'Poll: ReadParameters',
  'Poll: UseLedger',
  'Report: PublishReport',
];

/** A run succeeds without a log or a trace; and the emulator checks no role for calls of the state machine and the schedule. */
const notTried = [
  'Workflow: CallFunctions',
  'Plan: logs:CreateLogStream',
  'Truncate: logs:CreateLogStream',
  'Poll: logs:CreateLogStream',
  'Report: logs:CreateLogStream',
  'Workflow: logs:CreateLogDelivery',
  'Schedule: states:StartExecution',
  'Schedule: sqs:SendMessage',
  'Plan: xray:PutTelemetryRecords',
  'Truncate: xray:PutTelemetryRecords',
  'Poll: xray:PutTelemetryRecords',
  'Report: xray:PutTelemetryRecords',
];

function named(role: string, { Sid, Action }: RolePolicy['statements'][number]): string {
  const owner = /-(?:Workflow(Plan|Truncate|Poll|Report)|(Workflow)|(Schedule))Role/.exec(role)!.slice(1).find(Boolean);
  return `${owner}: ${Sid ?? [Action].flat()[0]}`;
}

function withoutStatement(all: RolePolicy[], name: string): [RolePolicy, RolePolicy] {
  const isIt = (role: string) => (statement: RolePolicy['statements'][number]) => named(role, statement) === name;
  const policy = all.find(({ role, statements }) => statements.some(isIt(role)))!;
  return [policy, { ...policy, statements: policy.statements.filter((statement) => !isIt(policy.role)(statement)) }];
}

async function nextReport(stage: DeployedStage): Promise<Report | undefined> {
  const messages = await stage.received();
  return messages.length > 0 ? reportSchema.parse(JSON.parse(messages.at(-1)!.Message)) : undefined;
}

const quiet = (stage: DeployedStage) =>
  until(
    async () => (await stage.executions()).every(({ status }) => status !== 'RUNNING') || undefined,
    'all runs have ended',
  );

async function removeSchedules({ aws }: DeployedStage): Promise<void> {
  const { Schedules } = await aws.rest('scheduler', 'GET', '/schedules');
  for (const { Name, GroupName } of Schedules)
    await aws.rest('scheduler', 'DELETE', `/schedules/${Name}?groupName=${GroupName}`);
}

async function histories({ aws, executions }: DeployedStage): Promise<string[]> {
  return Promise.all(
    (await executions()).map(async ({ executionArn }) =>
      JSON.stringify(
        await aws.json('states', 'AWSStepFunctions.GetExecutionHistory', { executionArn, maxResults: 1000 }),
      ),
    ),
  );
}
