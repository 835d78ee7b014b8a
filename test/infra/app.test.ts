import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { StageInput } from '../../infra/stage/settings.ts';
import { readStageFile } from '../../infra/stage/stage-file.ts';
import { withStack } from './synthesize.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

describe('The app', () => {
  test('refuses a stage in one sentence, without a stack trace', async () => {
    const env = { ...process.env, CDK_CONTEXT_JSON: JSON.stringify({ stage: 'exampel' }) };
    const failed = await run(process.execPath, ['--import', 'tsx', 'infra/app.ts'], { cwd: root, env }).catch(
      (error: unknown) => error as { code: number; stderr: string },
    );
    const sentence = 'There is no stage file infra/stages/exampel.json: did you mean example?\n';
    expect(failed).toMatchObject({ code: 1, stderr: sentence });
  });

  test('without a stage is one that the CDK can bootstrap, and refuses to show or deploy', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'no-stage-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const env = { ...process.env, CDK_OUTDIR: folder, CDK_CONTEXT_JSON: '{}' };
    await run(process.execPath, ['--import', 'tsx', 'infra/app.ts'], { cwd: root, env });
    const { artifacts } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
    expect(artifacts).toMatchObject({
      'datahub-retention-STAGE': { environment: 'aws://unknown-account/unknown-region' },
    });
    const text = readdirSync(folder)
      .map((file) => readFileSync(join(folder, file), 'utf8'))
      .join('');
    expect(text).toMatch(/"aws:cdk:error",\s*"data": "Name a stage with -c stage=<name>; there are: /);
  });

  test.each([
    ['../secrets', /^There is no stage file [^\n]*$/],
    ['', /^Name a stage with -c stage=<name>; there are: .*example.*$/],
    [undefined, /^Name a stage with -c stage=<name>/],
  ])('has no stage %j', (stage, sentence) => {
    expect(() => readStageFile(stage)).toThrow(sentence);
  });
});

const inPrivateNetwork = { subnetIds: ['subnet-0a1b2c3d'], securityGroupIds: ['sg-0a1b2c3d'] };
const emails = ['team@example.com'];

const warnings = (fields: Partial<StageInput>): string[] =>
  withStack({ emails, ...fields }, {}, (stack) =>
    stack.node
      .findAll()
      .flatMap(({ node }) => node.metadata)
      .flatMap(({ type, data }) => (type === 'aws:cdk:warning' ? [String(data)] : [])),
  );

describe('A stage that can work, but hardly as it was meant, brings a warning', () => {
  test.each<[fields: Partial<StageInput>, warning: RegExp]>([
    [{ gmsUrl: 'http://datahub.example.com' }, /plain http to a public host: the token can be read in transit/],
    [
      { gmsUrl: 'http://datahub-gms.datahub:8080', ...inPrivateNetwork },
      /datahub-gms\.datahub looks like a service and its namespace.*: if it is one, expose GMS through/,
    ],
    [
      { emails: [] },
      /Nobody will be notified: the stage file has no emails, no channel of Slack or Teams, and no topicArn/,
    ],
    [{ policies: [] }, /no policy: a run fails until there is one below \/datahub-retention\/prod\/policies/],
    [{ schedule: 'cron(0 3 ? * SUN *)' }, /168 hours apart: set alarmIfNotStartedHours to at least 168/],
    [{ schedule: 'cron(0 3 1 * ? *)' }, /744 hours apart: CloudWatch looks back at most 168 hours/],
  ])('%j', (fields, warning) => {
    expect(warnings(fields)).toEqual([expect.stringMatching(warning)]);
  });

  test.each<Partial<StageInput>>([
    {},
    { gmsUrl: 'https://example.com/api/gms' },
    { gmsUrl: 'http://gms.internal.example.com:8080', ...inPrivateNetwork },
    { emails: [], slackWorkspaceId: 'T0123456789', slackChannelId: 'C0123456789' },
    { emails: [], topicArn: 'arn:aws:sns:eu-central-1:111122223333:team-alerts' },
    { timeZone: 'Europe/Berlin' },
  ])('and one that is well brings none: %j', (fields) => {
    expect(warnings(fields)).toEqual([]);
  });
});
