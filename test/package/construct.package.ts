import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { read } from '../pages/commands.ts';
import { emptyProject, install, root, runIn } from './packed.ts';

/** Apps of users, which have the tarball and CDK, but no esbuild. */

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const lowest = /\d+\.\d+\.\d+/.exec(manifest.peerDependencies['aws-cdk-lib'])![0];
const current: string = manifest.devDependencies['aws-cdk-lib'];

const body = `
const app = new App();
const stack = new Stack(app, 'Foreign');
const alarmTopic = new Topic(stack, 'OnCall');
const policies = [{ entityType: 'dataset', aspect: 'operation', retentionDays: 90, owner: 'data-platform' }];
const one = new DatahubRetention(stack, 'One', { stage: 'one', gmsUrl: 'https://gms.example.com/gms', policies });
const two = new DatahubRetention(stack, 'Two', { stage: 'two', gmsUrl: 'https://gms.example.com/gms', policies, alarmTopic });
new CfnOutput(stack, 'Topic', { value: one.topic.topicArn });
new CfnOutput(stack, 'Machine', { value: one.stateMachine.stateMachineArn });
new CfnOutput(stack, 'Ledger', { value: two.ledger.tableName });
new CfnOutput(stack, 'Alarms', { value: Object.keys(two.alarms).join() });
two.alarms.RowsMissing?.addAlarmAction(new SnsAction(one.topic));
two.functions.plan.addEnvironment('COMPANY', 'example');
two.grantPreview(new Role(stack, 'Viewer', { assumedBy: new AccountRootPrincipal() }));
two.grantRelease(new Role(stack, 'OnDuty', { assumedBy: new AccountRootPrincipal() }));
const daily = { period: Duration.days(1) };
const metrics = [
  two.metricRunOk(daily),
  two.metricRunAttention(daily),
  two.metricRunFailed(daily),
  two.metricDurationSeconds(daily),
  two.metricConfirmedSubscriptions(daily),
  two.metricRowsDeleted({ ...daily, index: 'dataset.operation' }),
  two.metricRowsMissing(daily),
  two.metricRowsMissingWithinTolerance(daily),
  two.metricRowsNotVisible(daily),
  two.metricPercentDeletable('dataset.operation', daily),
];
two.dashboard?.addWidgets(new GraphWidget({ title: 'Of this app', left: metrics }));
new CfnOutput(stack, 'Methods', { value: Object.getOwnPropertyNames(DatahubRetention.prototype).join() });
const { template } = app.synth().getStackByName('Foreign');
console.log(JSON.stringify(template));
`;
const names = ['App', 'CfnOutput', 'Duration', 'Stack'];
const modules = {
  'aws-cdk-lib': names,
  'aws-cdk-lib/aws-cloudwatch': ['GraphWidget'],
  'aws-cdk-lib/aws-cloudwatch-actions': ['SnsAction'],
  'aws-cdk-lib/aws-iam': ['AccountRootPrincipal', 'Role'],
  'aws-cdk-lib/aws-sns': ['Topic'],
};
const imports = Object.entries(modules).map(([name, all]) => `import { ${all} } from '${name}';`);
const app = [...imports, "import { DatahubRetention } from 'datahub-retention';"].join('\n') + body;
const required = app.replace(/^import (\{.*\}) from ('.*');$/gm, 'const $1 = require($2);');
const apps = { 'app.cjs': required, 'app.mjs': app };
const typed = (importing: string) => `${imports.join('\n')}
${importing}
const props: DatahubRetentionProps = { stage: 'typed', gmsUrl: 'https://gms.example.com/gms', policies: [] };
// @ts-expect-error a setting that does not exist
const wrong: DatahubRetentionProps = { ...props, gmsURL: 'https://gms.example.com/gms' };
export { props, wrong };${body.replace('console.log', 'String').replaceAll('const ', 'export const ')}`;

interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
}

describe.each([
  ['the lowest aws-cdk-lib that the manifest allows', lowest],
  ['the current aws-cdk-lib', current],
])('With %s', (_, version) => {
  let folder: string;

  beforeAll(async () => {
    folder = emptyProject();
    await install(folder, inject('tarball'), `aws-cdk-lib@${version}`, 'constructs@10');
    for (const [name, text] of Object.entries(apps)) writeFileSync(join(folder, name), text);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('no app has esbuild', () => {
    expect(existsSync(join(folder, 'node_modules/esbuild'))).toBe(false);
    expect(JSON.parse(readFileSync(join(folder, 'node_modules/aws-cdk-lib/package.json'), 'utf8')).version).toBe(
      version,
    );
  });

  test.each(Object.keys(apps))('%s synthesises two stages in one stack', async (name) => {
    const { status, stdout, stderr } = await runIn(folder, process.execPath, [name]);
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('Error')]);
    const template = JSON.parse(stdout.slice(stdout.indexOf('{"Resources')));
    const resources = Object.entries<Resource>(template.Resources);
    const of = (type: string) => resources.filter(([, { Type }]) => Type === type);
    expect(of('AWS::Lambda::Function')).toHaveLength(8);
    expect(of('AWS::StepFunctions::StateMachine').map(([, { Properties }]) => Properties['StateMachineName'])).toEqual([
      'datahub-retention-one',
      'datahub-retention-two',
      'datahub-retention-two_preview',
    ]);
    expect(of('AWS::DynamoDB::Table')).toHaveLength(2);
    expect(JSON.stringify(of('AWS::CloudWatch::Dashboard'))).toContain('## Rows missing');
    expect(template.Outputs.Alarms.Value.split(',')).toHaveLength(7);
    // The app uses every public method.
    const methods = template.Outputs.Methods.Value.match(/\b(?:metric|grant)[A-Z]\w+/g);
    expect(methods).toHaveLength(12);
    for (const method of methods) expect(app).toContain(`two.${method}(`);
  });

  test.skipIf(version !== current)('a test of an app runs it with Jest', async () => {
    await install(folder, 'jest@30');
    writeFileSync(join(folder, 'app.test.cjs'), `test('the app', () => void require('./app.cjs'));`);
    const jest = [join(folder, 'node_modules/jest/bin/jest.js'), '--rootDir', folder, '--testMatch', '**/app.test.cjs'];
    const { status, stderr } = await runIn(folder, process.execPath, jest);
    expect([status, stderr]).toEqual([0, expect.stringMatching(/Tests: +1 passed/)]);
  });

  test("the page's example synthesises, with an address of its own", async () => {
    const { shown } = read('docs/privileges-and-network.md');
    const { text } = shown.find((block) => block.text.startsWith('import { DatahubRetention }'))!;
    const around = `import { ${names} } from 'aws-cdk-lib';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Port, SecurityGroup, Vpc } from 'aws-cdk-lib/aws-ec2';
const app = new App();
const stack = new Stack(app, 'Page');
const onCall = new Topic(stack, 'OnCall');
const vpc = new Vpc(stack, 'Vpc');
const gms = new SecurityGroup(stack, 'Gms', { vpc });
${text}
console.log(JSON.stringify(app.synth().getStackByName('Page').template));`;
    writeFileSync(join(folder, 'page.mjs'), around);
    const { status, stdout, stderr } = await runIn(folder, process.execPath, ['page.mjs']);
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('Error')]);
    expect(stdout).toContain('data-platform@example.com');
  });

  test.each([
    ['an ES module', 'app.mts', ['--module', 'NodeNext']],
    ['CommonJS', 'app.cts', ['--module', 'NodeNext']],
    ['resolved as in Node 16', 'app.cts', ['--module', 'node16']],
    ['resolved by a bundler', 'app.ts', ['--module', 'ESNext', '--moduleResolution', 'bundler']],
    // Which the compiler of this project no longer has.
    ['resolved as in Node 10', 'app.ts', ['--module', 'CommonJS', '--moduleResolution', 'node10'], 'typescript@5.9'],
  ])('an app in TypeScript that is %s is well by its types, those of libraries included', async (...given) => {
    const [, name, resolution, older] = given;
    if (older !== undefined) await install(folder, older);
    writeFileSync(
      join(folder, name),
      typed("import { DatahubRetention, type DatahubRetentionProps } from 'datahub-retention';"),
    );
    const options = [...resolution, '--strict', '--skipLibCheck', 'false', '--target', 'ES2022', '--noEmit'];
    // CDK's own declarations use Disposable.
    const lib = ['--lib', 'ES2022,ESNext.Disposable', '--typeRoots', 'none'];
    const compiler = join(older === undefined ? root : folder, 'node_modules/typescript/bin/tsc');
    const { status, stdout } = await runIn(folder, process.execPath, [compiler, ...options, ...lib, name]);
    expect([status, stdout]).toEqual([0, '']);
  });
});

test('An unusable peer gives one sentence, not one of our stack traces', async () => {
  const folder = emptyProject();
  try {
    await install(folder, inject('tarball'));
    await install(folder, '--legacy-peer-deps', 'constructs@10');
    const fake = join(folder, 'node_modules', 'aws-cdk-lib');
    mkdirSync(fake, { recursive: true });
    writeFileSync(join(fake, 'package.json'), JSON.stringify({ name: 'aws-cdk-lib', version: '2.180.0' }));
    const { stderr } = await runIn(folder, process.execPath, ['--eval', `require('datahub-retention')`]);
    expect(stderr).toContain(
      `PeerError: The construct needs aws-cdk-lib ${lowest} or a later 2.x, and this app has 2.180.0`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
