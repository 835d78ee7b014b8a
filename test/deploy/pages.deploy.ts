import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Command, commandsOf } from '../pages/commands.ts';
import { commandsFor, rowsOf, Worklist } from '../pages/executed.ts';
import { type SimulatedGms, startSimulatedGms } from '../simulated-gms/server.ts';
import { realTruncates } from '../simulated-gms/simulation/exchange.ts';
import { serveEngine } from '../simulated-gms/simulation/server.ts';
import { xmlText } from './aws.ts';
import { differences, type Template } from './differences.ts';
import { startEmulator } from './emulator.ts';
import { anOperator, awsCli, type Execution, type Operator } from './operator.ts';
import { startRecorder } from './recorder.ts';
import { startRedrives } from './redrive.ts';
import { access, ledgerRecords, type RolePolicy, subscribe, until } from './stage.ts';

/**
 * The pages, followed by somebody with the AWS CLI and an account: every command as it is written, and what the page says
 * that it shows. A step takes its command from the page and needs the steps before it; at the end no command may be left.
 * `npx cdk bootstrap` and `npx cdk diff` are the project's own app, what deploys is the one in app.ts.
 */

const emulator = await startEmulator(awsCli);
const operate = 'docs/operate.md';
const runbook = 'docs/runbook.md';
const network = 'docs/privileges-and-network.md';
const stackName = 'datahub-retention-prod';
const day = 86_400_000;
/** Of the server's clock: long enough for what is done meanwhile, be it a deployment. */
const truncationSeconds = 120;
const names = { PREFIX: '/datahub-retention/prod', STAGE: 'prod' };

/** How what is deployed differs from the project's own template; app.ts says why. The last two are for AWS's bootstrap. */
const notExercised = [
  'AWS::CloudWatch::Alarm: Dimensions (1)',
  'AWS::CloudWatch::Alarm: MetricName (4)',
  'AWS::CloudWatch::Alarm: Metrics (4)',
  'AWS::CloudWatch::Alarm: Namespace (4)',
  'AWS::CloudWatch::Alarm: Period (4)',
  'AWS::CloudWatch::Alarm: Statistic (4)',
  'AWS::IAM::Policy: PolicyDocument.Statement.*.Resource (2)',
  'AWS::Lambda::Function: Environment.Variables.AWS_ENDPOINT_URL_SNS (1)',
  'AWS::Lambda::Function: Environment.Variables.GMS_URL (4)',
  'AWS::Logs::QueryDefinition: not deployed (1)',
  'AWS::SSM::Parameter::Value<String>: not deployed (1)',
  'Rules: not deployed (1)',
];

function theOnly([command, ...others]: [Command, ...Command[]]): Command {
  if (others.length > 0) throw new Error(`${command.page} has several commands where one is meant: ${others[0]!.text}`);
  return command;
}

describe.skipIf(emulator === undefined)('The pages, followed on AWS', () => {
  const worklist = new Worklist(commandsFor('deploy'));
  let operator: Operator;
  let service: SimulatedGms;
  let outputs: Record<string, string>;
  /** How far the server's clock is ahead, which ends its tasks; at ten minutes a run would refuse to start. */
  let ahead = 0;
  let received: Awaited<ReturnType<typeof subscribe>>;

  beforeAll(async () => {
    service = await startSimulatedGms({ indices: [], clock: { now: () => Date.now() + ahead } });
    service.engine.addIndex({
      entityType: 'dataset',
      aspect: 'operation',
      timestamps: [...rowsOf(43_000, 100), ...rowsOf(20_000, 1)],
    });
    service.engine.addIndex({
      entityType: 'dataset',
      aspect: 'datasetProfile',
      timestamps: [...rowsOf(1000, 100), ...rowsOf(1000, 1)],
    });
    operator = await anOperator(emulator!);
    await operator.clone.sh('git tag v0.1.0');
    operator.gmsUrl = service.url;
    operator.clone.write('token.txt', `${service.token}\n`);
    await emulator!.scaleWaits(0.02);
  });
  afterAll(async () => {
    await emulator?.stop();
    await operator?.close();
    await service?.close();
  });

  const onPage = (page: string, heading: string, text: RegExp) => theOnly(worklist.take(page, heading, text));
  const onAws = (heading: string, text = /^aws /) => theOnly(worklist.take(operate, heading, text, 'AWS'));
  const truncates = () => realTruncates(service.engine.asked);
  const rows = () => service.engine.rows('dataset.operation').length;
  const ledger = async () =>
    Object.fromEntries(
      (await ledgerRecords(emulator!, outputs['LedgerTableName']!)).map(({ index, state }) => [index, state]),
    );

  /** Starts what truncates an index, and does something before that ends. Returns the execution. */
  const duringTruncation = async (
    start: () => Promise<string>,
    then: (executionArn: string) => Promise<void>,
    index = 'dataset.operation',
  ) => {
    const before = truncates().length;
    const old = service.engine.rows(index).filter(({ timestamp }) => timestamp < Date.now() - 90 * day);
    service.engine.fault(`rows-per-second=${old.length / truncationSeconds}`);
    const executionArn = await start();
    await until(async () => truncates().length > before || undefined, 'a truncation is under way');
    await then(executionArn);
    ahead += truncationSeconds * 1000;
    service.engine.fault('rows-per-second=1000000');
    return executionArn;
  };
  /** Starts a run whose server loses rows that should stay. It ends after two looks that agree, 90 s apart. */
  const loseRows = async (count: number, start: Command): Promise<string> => {
    service.engine.addRows('dataset.operation', rowsOf(4000, 100));
    return duringTruncation(
      () => operator.start(start),
      async () => {
        let left = count;
        service.engine.removeRows(
          'dataset.operation',
          ({ timestamp }) => timestamp > Date.now() - 30 * day && left-- > 0,
        );
      },
    );
  };
  const inputOf = ({ text }: Command) => /--input '.*'/.exec(text)![0];
  /** The command with another input. */
  const withInput = (command: Command, input: string): Command => ({
    ...command,
    text: command.text.replace(/--input '[^']*'/, `--input '${input}'`),
  });
  const deletedNothing = async (run: () => Promise<Execution>): Promise<Execution> => {
    const before = truncates().length;
    const execution = await run();
    expect([execution.status, truncates().length]).toEqual(['SUCCEEDED', before]);
    return execution;
  };
  const isPreview = expect.objectContaining({ text: expect.stringContaining('PREVIEW, nothing was deleted') });

  const writeStage = (changes: object) => {
    const file = 'infra/stages/prod.json';
    operator.clone.write(file, { ...JSON.parse(operator.clone.read(file)), ...changes });
  };
  const ofOperation = { entityType: 'dataset', aspect: 'operation', retentionDays: 90, maxDeletePercent: 50 };
  const template = (): Template => JSON.parse(operator.clone.read(`cdk.out/${stackName}.template.json`));

  describe('README.md: deploy', () => {
    const step = (text: RegExp) => onPage('README.md', 'Deploy to AWS', text);

    test('1. stores the token', async () => {
      expect(JSON.parse(await operator.type(step(/^aws ssm/)))).toMatchObject({ Version: 1 });
    });

    test('2. the example is refused until it has settings of its own', async () => {
      await operator.type(step(/^cp /));
      expect(await operator.tryOut(step(/validate/))).toMatchObject({ status: 2 });
      // At another hour than this test.
      const schedule = `cron(30 ${(new Date().getUTCHours() + 12) % 24} * * ? *)`;
      const own = { gmsUrl: 'https://datahub.corp.test/api/gms', emails: ['data-platform@corp.test'] };
      writeStage({ ...own, schedule, policies: [ofOperation] });
      expect(await operator.type(step(/validate/))).toContain('infra/stages/prod.json: no mistake found.');
    });

    test('3. prepares the account without a stage', async () => {
      await operator.type(step(/bootstrap/));
      const { Parameter } = await operator.aws.json('ssm', 'AmazonSSM.GetParameter', {
        Name: '/cdk-bootstrap/hnb659fds/version',
      });
      expect(Number(Parameter.Value)).toBeGreaterThan(20);
    });

    test('4. deploys, and AWS asks each address', async () => {
      await operator.change(step(/deploy/));
      operator.shell['ARN'] = await operator.type({
        ...onPage(operate, 'Operate', /^ARN=/),
        text: `${onPage(operate, 'Operate', /^ARN=/).text}\nprintf %s "$ARN"`,
      });
      const { Stacks } = JSON.parse(
        await operator.type({ ...step(/^aws/), text: `aws cloudformation describe-stacks --stack-name ${stackName}` }),
      );
      outputs = Object.fromEntries(
        Stacks[0].Outputs.map((output: Record<string, string>) => [output['OutputKey'], output['OutputValue']]),
      );
      expect(operator.shell['ARN']).toBe(outputs['StateMachineArn']);
      received = await subscribe(emulator!, operator.aws, outputs['TopicArn']!, 'mailbox');
      const subscriptions = await operator.aws.query('sns', 'ListSubscriptions', '2010-03-31', {});
      expect(subscriptions).toContain('data-platform@corp.test');
    });

    test('5. the output FirstPreview is a command that previews, and approves what the page does', async () => {
      const { message } = await deletedNothing(() => operator.run({ ...step(/^aws/), text: outputs['FirstPreview']! }));
      expect(message).toEqual(isPreview);
      expect(message!.text).toContain(inputOf(onAws('Approve')));
    });
  });

  describe('docs/operate.md', () => {
    test('has it run: the list says SUCCEEDED', async () => {
      const { executions } = JSON.parse(await operator.type(onAws('Has it run?')));
      expect(executions.map(({ status }: { status: string }) => status)).toEqual(['SUCCEEDED']);
    });

    test('preview: the message says PREVIEW and that nothing was deleted, and so does the report that is printed', async () => {
      const { executionArn, message } = await deletedNothing(() => operator.run(onAws('Preview')));
      expect(message).toEqual(isPreview);
      const printed = await operator.type(onPage(operate, 'Operate', /get-execution-history/), {
        EXECUTION: executionArn,
      });
      expect(JSON.parse(printed)).toMatchObject({
        mode: 'preview',
        entries: [{ plan: { counts: { rowsToDelete: 43_000 } } }],
      });
    });

    test('approve and what is under way: the list has the run, a preview says still running, and the message says truncated', async () => {
      const running = await duringTruncation(
        () => operator.start(onAws('Approve')),
        async (executionArn) => {
          const { executions } = JSON.parse(await operator.type(onAws('What is under way')));
          expect(executions.map((one: { executionArn: string }) => one.executionArn)).toEqual([executionArn]);
          const { message } = await deletedNothing(() => operator.run(onAws('Preview')));
          expect(message!.subject).toContain('still running: dataset.operation');
        },
      );
      expect((await operator.ended(running)).message!.text).toContain('dataset.operation: truncated');
      expect(rows()).toBe(20_000);
      expect(await ledger()).toEqual({ dataset_operationaspect_v1: 'idle' });
    });

    test('pause and resume: the parameter says so, the subject of an enforcing run says PAUSED, and it truncates nothing', async () => {
      const [pause, look] = worklist.take(operate, 'Pause', /^aws /, 'AWS');
      expect(worklist.take('README.md', 'How to stop it', /./, 'AWS')[0].text).toBe(pause.text);
      service.engine.addRows('dataset.operation', rowsOf(4000, 100));
      await operator.type(pause);
      expect(await operator.type(look!)).toBe('"true"\n');
      const { message } = await deletedNothing(() => operator.run(withInput(onAws('Preview'), '{"mode":"enforce"}')));
      expect(message!.subject).toContain('PAUSED');
      const resume = { ...pause, text: pause.text.replace(/true$/, 'false') };
      expect(message!.text).toContain(resume.text);
      await operator.type(resume);
      expect(await operator.type(look!)).toBe('"false"\n');
    });

    test("add an index, and upgrade: the project's own app shows what changes, and a preview has the index", async () => {
      const [validate, deploy] = worklist.take(operate, 'Add an index', /^(?:npx|\.\/retention) /, 'AWS');
      const policies = [ofOperation, { entityType: 'dataset', aspect: 'datasetProfile', retentionDays: 90 }];
      writeStage({ mode: 'enforce', policies });
      await operator.type(validate);
      const [change, start] = worklist.take(operate, 'Change a policy', /^(?:\.\/|aws )/, 'AWS');
      await operator.type(change);
      const { message: seen } = await deletedNothing(() => operator.run(start!));
      expect(seen!.text).toMatch(/PREVIEW OF A CHANGE.* New policy for dataset\.datasetProfile; it may delete more/);
      expect(worklist.take(operate, 'Change a policy', /^npx/, 'AWS').at(-1)!.text).toBe(deploy!.text);
      const [diff, again] = worklist.take(operate, 'Upgrade this job', /^npx/, 'AWS');
      expect(again!.text).toBe(deploy!.text);
      const { stdout, stderr } = await operator.tryOut(diff);
      const shown = stdout + stderr;
      expect(shown).toMatch(/\[\+\] AWS::SSM::Parameter Default\/Policies\/dataset\.datasetProfile/);
      // Of a stage that enforces from now on the ledger is protected and outlives the stack, and nothing else of it changes.
      expect(shown).toMatch(
        /\[~\] AWS::DynamoDB::Table Default\/Ledger\/Table \S+\n ├─ \[~\] DeletionProtectionEnabled\n └─ \[~\] DeletionPolicy\n {5}├─ \[-\] Delete\n {5}└─ \[\+\] Retain\n/,
      );
      const real = template();
      await operator.change(deploy!);
      const otherwise = differences(real, template());
      console.log(`What is deployed here is otherwise than the project's own template:\n  ${otherwise.join('\n  ')}`);
      expect(otherwise).toEqual(notExercised);
      const { message } = await deletedNothing(() => operator.run(onAws('Preview')));
      expect(message!.text).toMatch(/dataset\.datasetProfile: would be truncated, 50 % of 2,000 rows are older/);
    });

    test('rotate the token: a run reports the one that is not valid, and a preview no problem with the new one', async () => {
      const rotate = onAws('Rotate the token');
      operator.clone.write('token.txt', 'garbage-of-another-server\n');
      await operator.type(rotate);
      const refused = await deletedNothing(() => operator.run(onAws('Preview')));
      expect(refused.message!.subject).toContain('run failed (token refused)');
      operator.clone.write('token.txt', `${service.token}\n`);
      await operator.type(rotate);
      const { message } = await deletedNothing(() => operator.run(onAws('Preview')));
      expect(message).toEqual(isPreview);
      expect(message!.text).not.toMatch(/token/i);
    });
  });

  test('docs/audit.md: the last runs, and who asked for them', async () => {
    const command = onPage('docs/audit.md', 'The last thirty runs', /get-item/);
    const { runs } = JSON.parse(await operator.type(command, { TABLE: outputs['LedgerTableName']! }));
    expect(runs).toContainEqual(
      expect.objectContaining({ indices: [expect.objectContaining({ name: 'dataset.operation' })] }),
    );
  });

  describe('docs/runbook.md', () => {
    const start = () => onPage(runbook, 'By hand', /^aws stepfunctions/);
    const byHand = (input: RegExp) => withInput(start(), onPage(runbook, 'By hand', input).text);

    test('stores a token, and pauses', async () => {
      await operator.type(onPage(runbook, 'Token', /^aws/), names);
      const pause = onPage(runbook, 'By hand', /^aws ssm/);
      await operator.type(pause, names);
      expect(await operator.type(onAws('Pause', /get-parameter/))).toBe('"true"\n');
      await operator.type({ ...pause, text: pause.text.replace(/true$/, 'false') }, names);
    });

    test('by hand: without a mode, an execution deletes nothing in a stage that enforces', async () => {
      service.engine.addRows('dataset.operation', rowsOf(4000, 100));
      for (const command of [start(), byHand(/^{"mode":"preview"}$/), byHand(/^{}$/), byHand(/^{"indices"/)]) {
        const { message } = await deletedNothing(() => operator.run(command));
        expect([inputOf(command), message]).toEqual([inputOf(command), isPreview]);
      }
    });

    test('by hand: what says enforce deletes, by the policy that it names, and above its ceiling up to a number', async () => {
      const others = () => service.engine.rows('dataset.datasetProfile').length;
      const before = others();
      await operator.run(byHand(/^{"mode":"enforce","indices":\["dataset.operation"\]}$/));
      expect([rows(), others()]).toEqual([20_000, before]);
      await operator.run(byHand(/^{"mode":"enforce"}$/));
      expect(others()).toBe(before - 1000);
      service.engine.addRows('dataset.operation', rowsOf(40_000, 100));
      await operator.run(byHand(/approveRows/));
      expect(rows()).toBe(20_000);
    });

    describe('Quarantined', () => {
      beforeAll(async () => {
        const run = await operator.ended(await loseRows(945, byHand(/^{"mode":"enforce"}$/)), 180);
        expect(run.message!.subject).toContain('ROWS MISSING in dataset.operation');
      });

      /** With another run state, as some later version will have one. */
      const laterVersion =
        "sed -i 's/stateVersion = .*;/stateVersion = 999;/' lambda/run/state.ts && git -c user.name=test -c user.email=test@example.com commit --quiet --all --message later";
      const goBack = commandsOf(operate).find(({ heading, text }) => heading === 'Go back' && text.startsWith('git '));

      test.each([
        ['upgrade', laterVersion, /Version 0\.1\.0\+[0-9a-f]{12}\./],
        ['go back', goBack!.text, /Version 0\.1\.0\./],
      ])(
        '%s in the middle of a run, and wait: its truncation is verified, and the other index stays quarantined',
        async (_, change, version) => {
          const pause = onAws('Pause', /true$/);
          const [unlessPaused, enforce] = worklist.take(operate, 'Wait until nothing is unresolved', /^aws/, 'AWS');
          const index = 'dataset.datasetProfile';
          service.engine.addRows(index, rowsOf(500, 100));
          const before = truncates().length;
          const crossed = await duringTruncation(
            () => operator.start(withInput(onAws('Preview'), `{"mode":"enforce","indices":["${index}"]}`)),
            async () => {
              // From here on, the next run knows the task.
              const isRunning = async () =>
                (await ledger())['dataset_datasetprofileaspect_v1'] === 'running' || undefined;
              await until(isRunning, 'the ledger has its task');
              await operator.type(pause);
              expect(await operator.clone.sh(change)).toMatchObject({ status: 0 });
              await operator.change(worklist.take(operate, 'Upgrade this job', /^npx cdk deploy/, 'AWS')[0]);
              const { message } = await deletedNothing(() => operator.run(onAws('Preview')));
              expect(message!.text).toMatch(version);
              for (const found of [`${index}: still running`, 'dataset.operation: quarantined'])
                expect(message!.text).toContain(found);
            },
            index,
          );
          expect(await operator.ended(crossed)).toMatchObject({ status: 'FAILED' });
          expect(await operator.type(unlessPaused)).toBe('"true"\n');
          const { message } = await deletedNothing(() => operator.run(enforce!));
          expect(message!.text).toContain(`${index}: truncated`);
          expect(message!.text).not.toMatch(/still running|in flight|unknown/i);
          expect(await ledger()).toEqual({
            dataset_operationaspect_v1: 'quarantined',
            dataset_datasetprofileaspect_v1: 'idle',
          });
          expect(truncates()).toHaveLength(before + 1);
          await operator.type({ ...pause, text: pause.text.replace(/true$/, 'false') });
        },
      );

      test('a release counts, and says what is missing and how to accept that', async () => {
        const releases = [
          onPage(runbook, 'Quarantined', /^aws/),
          byHand(/^{"release":\["dataset.operation"\]}$/),
          onAws('Release', /"]}'$/),
        ];
        for (const release of releases) {
          const { message } = await deletedNothing(() => operator.run(release));
          expect(message!.text).toMatch(/NOT RELEASED: dataset\.operation.*945/i);
          expect(message!.text).toContain(inputOf(onAws('Release', /acceptMissing/)));
        }
        expect(await ledger()).toMatchObject({ dataset_operationaspect_v1: 'quarantined' });
      });

      test('a release that accepts them releases it, and the ledger is idle', async () => {
        const { message } = await deletedNothing(() => operator.run(onAws('Release', /acceptMissing/)));
        expect(message!.subject).toContain('dataset.operation released');
        expect(await ledger()).toMatchObject({ dataset_operationaspect_v1: 'idle' });
        const again = await deletedNothing(() => operator.run(byHand(/acceptMissing/)));
        expect(again.message!.subject).toContain('nothing to release in dataset.operation');
      });
    });

    test('Alarm ExecutionFailed: a redrive publishes what SNS has refused', async () => {
      const { roles, writePolicy } = access(operator.aws, 'prod');
      const isPublish = ({ Sid }: RolePolicy['statements'][number]) => Sid === 'PublishReport';
      const policy = (await roles()).find(({ statements }) => statements.some(isPublish))!;
      await writePolicy({ ...policy, statements: policy.statements.filter((one) => !isPublish(one)) });
      const failed = await operator.run(start());
      expect(failed).toMatchObject({ status: 'FAILED', message: undefined });
      await writePolicy(policy);
      const redrives = await startRedrives(operator.aws);
      try {
        const redrive = onPage(runbook, 'Alarm ExecutionFailed', /^aws/);
        await operator.type(redrive, { ARN: failed.executionArn }, { AWS_ENDPOINT_URL_SFN: redrives.url });
        const { status, message } = await operator.ended(redrives.executions[0]!);
        expect([status, message]).toEqual(['SUCCEEDED', isPreview]);
      } finally {
        await redrives.close();
      }
    });

    test('Alarm NotStarted: the deployment asks CloudFormation to restore what it can', async () => {
      const cloudFormation = await startRecorder(emulator!.url);
      try {
        const deploy = onPage(runbook, 'Alarm NotStarted', /^npx/);
        await operator.change(deploy, names, { AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.url });
        const asked = cloudFormation.forms.find((form) => form.get('Action') === 'CreateChangeSet')!;
        expect(asked.get('DeploymentMode')).toBe('REVERT_DRIFT');
      } finally {
        await cloudFormation.close();
      }
    });
  });

  test('docs/privileges-and-network.md: an alarm brings a message, also where alarms have no topic of their own', async () => {
    await operator.type(onPage(network, 'Keys of your own', /^aws/));
    const subject = `ALARM: "datahub-retention/prod/ExecutionFailed" in ${emulator!.region}`;
    await until(async () => (await received()).find(({ Subject }) => Subject === subject), 'the alarm has called');
  });

  test('docs/privileges-and-network.md: the logical id of the ledger is the one that the template has', async () => {
    const shown = await operator.type(onPage(network, 'Rename or move it', /^aws/));
    expect(shown.trim()).toMatch(/^LedgerTable/);
    expect(Object.keys(template().Resources ?? {})).toContain(shown.trim());
  });

  test('docs/operate.md: an alarm for a backlog is there', async () => {
    await operator.type(onPage(operate, 'An alarm for a backlog', /put-metric-alarm/), { TOPIC: outputs['TopicArn']! });
    const shown = await operator.type(onPage(operate, 'An alarm for a backlog', /describe-alarms/));
    expect(JSON.parse(shown).MetricAlarms).toMatchObject([{ MetricName: 'PercentDeletable', EvaluationPeriods: 7 }]);
  });

  test('docs/operate.md: who is on call is subscribed to what is critical, and to its end', async () => {
    const values = { TOPIC: outputs['TopicArn']!, ENDPOINT: 'https://events.corp.test/integration/key/enqueue' };
    await operator.type(onPage(operate, 'PagerDuty, Opsgenie, mail', /^aws sns subscribe/), values);
    const listed = await operator.aws.query('sns', 'ListSubscriptions', '2010-03-31', {});
    const own = listed.split('<member>').find((member) => member.includes(values.ENDPOINT))!;
    const asked = { SubscriptionArn: xmlText(own, 'SubscriptionArn')! };
    const attributes = await operator.aws.query('sns', 'GetSubscriptionAttributes', '2010-03-31', asked);
    expect(attributes).toMatch(/<value>MessageBody</);
    expect(attributes).toMatch(/\{.*AlarmDescription.*prefix.*critical.*\}/);
  });

  describe('docs/operate.md: move and remove', () => {
    test('move the server: the first line of a preview has the new address, and the counts are the same', async () => {
      const moved = await serveEngine(service.engine);
      try {
        await operator.type(onAws('Pause', /true$/));
        writeStage({ gmsUrl: 'https://new.example.com/api/gms' });
        operator.gmsUrl = moved.url;
        await operator.change(onPage(operate, 'Move the server', /^npx/));
        const { message } = await deletedNothing(() => operator.run(onAws('Preview')));
        expect(message!.text).toContain(`prod, localhost:${new URL(moved.url).port}.`);
        expect(message!.text).toContain('of 19,055 rows');
      } finally {
        await moved.close();
      }
    });

    const destroy = () => operator.change(onPage(operate, 'Remove', /destroy/), {}, { CDK_FORCE: 'true' });

    test('take a ledger over: an enforcing stage cannot be destroyed, unprotected it leaves its ledger, and goes on with it', async () => {
      await expect(destroy()).rejects.toThrow('TerminationProtection is enabled');
      const [unprotect, takeOver] = worklist.take(operate, 'Take a ledger over', /^(?:aws|npx) /);
      const before = await ledger();
      await operator.type(unprotect);
      await destroy();
      writeStage({ mode: 'preview' });
      await expect(operator.change(takeOver!)).rejects.toThrow('DeletionPolicy');
      writeStage({ mode: 'enforce' });
      await operator.change(takeOver!);
      expect([Object.keys(before).length, await ledger()]).toEqual([2, before]);
    });

    test('remove: a stage that previews can be destroyed, and nothing is left', async () => {
      writeStage({ mode: 'preview' });
      await operator.change(onPage(operate, 'Remove', /deploy/));
      await destroy();
      await operator.type(onPage(operate, 'Remove', /delete-parameters/));
      const gone = await operator.tryOut(onPage(operate, 'Remove', /describe-stacks/));
      expect(gone).toMatchObject({ stdout: '', stderr: expect.stringContaining('does not exist') });
      const { Parameters } = JSON.parse(await operator.type(onPage(operate, 'Remove', /get-parameters-by-path/)));
      const { TableNames } = await operator.aws.json('dynamodb', 'DynamoDB_20120810.ListTables', {});
      expect([Parameters, TableNames]).toEqual([[], []]);
    });
  });

  test('no command of the pages is left', () => {
    expect(worklist.left()).toEqual([]);
    const wasTyped = ({ text }: Command) => operator.typed.some((each) => each.includes(text));
    const all = commandsFor('deploy');
    expect(all.filter((command) => !wasTyped(command))).toEqual([]);
    const pages = [...new Set(all.map(({ page }) => page))];
    const counts = pages.map((page) => `${page} ${all.filter((command) => command.page === page).length}`);
    console.log(`Typed ${operator.typed.length} commands; places on the pages: ${counts.join(', ')}`);
  });
});
