import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { sampleIndices } from '../../cli/operations-service/samples.ts';
import { type OperationsService, startOperationsService } from '../operations-service/server.ts';
import { emptyProject, install, runIn } from './packed.ts';

let folder: string;
let service: OperationsService;
const program = () => join(folder, 'node_modules', '.bin', 'datahub-retention');
const retention = (...args: string[]) =>
  runIn(folder, program(), args, { PATH: process.env['PATH'], HOME: folder, XDG_STATE_HOME: join(folder, 'state') });

beforeAll(async () => {
  folder = emptyProject();
  await install(folder, inject('tarball'));
  service = await startOperationsService({ indices: sampleIndices(4000) });
  writeFileSync(join(folder, 'token.txt'), service.token, { mode: 0o600 });
});
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

const server = () => ['--gms-url', service.url, '--token-file', 'token.txt'];

describe('datahub-retention, installed from the tarball', () => {
  test('says how it is used, by the name that it was started with', async () => {
    const { stdout } = await retention('--help');
    expect(stdout).toMatch(/^Usage: datahub-retention VERB/);
    expect(stdout).not.toContain('./retention');
  });

  test('without a verb says the same with status 2: a job that lost its arguments must not end well', async () => {
    const { status, stdout, stderr } = await retention();
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^Usage: datahub-retention VERB/);
  });

  test('shows a whole run on its own sample data, with nothing beside it', async () => {
    const { status, stdout } = await retention('demo');
    expect(stdout).toContain('the embedded operations service');
    expect(stdout).toContain('Subject: [DataHub retention] demo:');
    expect(status).toBe(0);
  });

  test('surveys, previews and truncates on a server that was started elsewhere', async () => {
    expect((await retention('survey', ...server(), '--json', 'policies.json')).status).toBe(0);
    expect(JSON.parse(readFileSync(join(folder, 'policies.json'), 'utf8')).length).toBeGreaterThan(0);

    const preview = await retention('preview', ...server(), '--policies', 'policies.json');
    expect(preview.stdout).toContain('PREVIEW');
    expect(preview.stdout).not.toContain('./retention');
    const dryRuns = service.engine.asked.every(({ body }) => (body as { dryRun?: boolean })?.dryRun !== false);
    expect(dryRuns).toBe(true);

    const enforce = await retention(
      'enforce',
      ...server(),
      '--policies',
      'policies.json',
      '--fast',
      '--yes',
      '--ledger',
      'ledger',
    );
    expect(enforce.stdout).toMatch(/Subject: .* 5 truncated/);
    expect([preview.status, enforce.status]).toEqual([0, 0]);
  });

  test('validates policies', async () => {
    writeFileSync(join(folder, 'wrong.json'), '[{ "entityType": "dataset" }]');
    const { status, stderr } = await retention('validate', '--policies', 'wrong.json');
    expect(status).toBe(2);
    expect(stderr).toMatch(/^wrong\.json:1:2: policy 1: aspect is missing/);
  });
});

describe('A tarball that lacks a file', () => {
  test('says so in one sentence, where it is the code of a function', async () => {
    const broken = join(folder, 'broken');
    mkdirSync(join(broken, 'node_modules'), { recursive: true });
    await install(broken, inject('tarball'), 'aws-cdk-lib@2.276.0', 'constructs@10.8.1');
    rmSync(join(broken, 'node_modules/datahub-retention/dist/lambda/poll'), { recursive: true });
    chmodSync(broken, 0o755);
    const app = `const { App, Stack } = require('aws-cdk-lib');
      const { DatahubRetention } = require('datahub-retention');
      new DatahubRetention(new Stack(new App(), 'S'), 'R', { stage: 'x', gmsUrl: 'https://gms.example.com/gms', policies: [] });`;
    const { stderr } = await runIn(broken, process.execPath, ['--eval', app]);
    expect(stderr).toMatch(
      /Error: The package lacks the function .*poll\/index\.mjs: remove node_modules and install it again\./,
    );
  });
});
