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
new CfnOutput(stack, 'Alarms', { value: String(two.alarms.length) });
const { template } = app.synth().getStackByName('Foreign');
console.log(JSON.stringify(template));
`;
const names = ['App', 'CfnOutput', 'Stack'];
const apps = {
  'app.cjs': `const { ${names} } = require('aws-cdk-lib');
const { Topic } = require('aws-cdk-lib/aws-sns');
const { DatahubRetention } = require('datahub-retention');${body}`,
  'app.mjs': `import { ${names} } from 'aws-cdk-lib';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { DatahubRetention } from 'datahub-retention';${body}`,
};
const typed = (importing: string) => `import { ${names} } from 'aws-cdk-lib';
import { Topic } from 'aws-cdk-lib/aws-sns';
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
    ]);
    expect(of('AWS::DynamoDB::Table')).toHaveLength(2);
    expect(JSON.stringify(of('AWS::CloudWatch::Dashboard'))).toContain('## Rows missing');
    expect(template.Outputs.Alarms.Value).toBe('7');
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
    ['an ES module', 'app.mts', "import { DatahubRetention, type DatahubRetentionProps } from 'datahub-retention';"],
    ['CommonJS', 'app.cts', "import { DatahubRetention, type DatahubRetentionProps } from 'datahub-retention';"],
  ])(
    'an app in TypeScript that is %s is well by its types, those of libraries included',
    async (__, name, importing) => {
      writeFileSync(join(folder, name), typed(importing));
      const options = ['--module', 'NodeNext', '--strict', '--skipLibCheck', 'false', '--target', 'ES2022', '--noEmit'];
      // CDK's own declarations use Disposable.
      const lib = ['--lib', 'ES2022,ESNext.Disposable', '--types', ''];
      const compiler = join(root, 'node_modules/typescript/bin/tsc');
      const { status, stdout } = await runIn(folder, process.execPath, [compiler, ...options, ...lib, name]);
      expect([status, stdout]).toEqual([0, '']);
    },
  );
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
