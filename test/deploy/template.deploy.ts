import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import type { StageInput } from '../../lambda/settings/settings.ts';
import { synthesize } from '../infra/synthesize.ts';
import { install } from './emulator.ts';

/** AWS's own checker of templates, against what AWS accepts in each property. */

const folder = await mkdtemp(join(tmpdir(), 'datahub-retention-template-'));
const python = await install(folder, ['cfn-lint==1.58.0']);

const arn = (service: string, rest: string) => `arn:aws:${service}:eu-central-1:111122223333:${rest}`;
const stages: Record<string, Partial<StageInput>> = {
  'the least that a stage says': {},
  'a private network, Slack, keys and topics of its own': {
    mode: 'enforce',
    emails: ['data-team@example.com'],
    slackWorkspaceId: 'T0123ABCD',
    slackChannelId: 'C0123ABCD',
    alarmTopicArn: arn('sns', 'on-call'),
    encryptionKeyArn: arn('kms', 'key/00000000-0000-0000-0000-000000000000'),
    tokenKeyArn: arn('kms', 'key/00000000-0000-0000-0000-000000000001'),
    subnetIds: ['subnet-0123456789abcdef0'],
    securityGroupIds: ['sg-0123456789abcdef0'],
    caCertificateParameter: '/company/ca',
    tags: { team: 'data' },
  },
};

describe.skipIf(python === undefined)('cfn-lint', () => {
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(Object.entries(stages))('finds nothing in the template of %s', async (_, settings) => {
    const file = join(folder, 'template.json');
    const env = { account: '111122223333', region: 'eu-central-1' };
    await writeFile(file, JSON.stringify(synthesize(settings, { env }).template));
    // The CDK writes dependencies that a reference implies (W3005).
    const found = await promisify(execFile)(join(dirname(python!), 'cfn-lint'), [
      '--ignore-checks',
      'W3005',
      '--',
      file,
    ])
      .then(({ stdout }) => stdout)
      .catch(({ stdout, stderr }: { stdout: string; stderr: string }) => `${stdout}${stderr}`);
    expect(found).toBe('');
  });
});
