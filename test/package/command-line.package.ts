import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { emptyProject, install, runIn } from './packed.ts';

let folder: string;
const program = () => join(folder, 'node_modules', '.bin', 'datahub-retention');
const retention = (...args: string[]) => runIn(folder, program(), args, { PATH: process.env['PATH'], HOME: folder });

beforeAll(async () => {
  folder = emptyProject();
  await install(folder, inject('tarball'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** test:pages installs it, too, and runs every verb. */
describe('datahub-retention, installed from the tarball', () => {
  test('says how it is used, by the name that it was started with', async () => {
    const { stdout } = await retention('--help');
    expect(stdout).toMatch(/^Usage: datahub-retention VERB/);
    expect(stdout).not.toContain('./retention');
  });

  test('shows a whole run on its own sample data, with nothing beside it', async () => {
    const { status, stdout } = await retention('demo');
    expect(stdout).toContain('the embedded operations service');
    expect(stdout).toContain('Subject: [DataHub retention] demo:');
    expect(status).toBe(0);
  });
});

test('A tarball that lacks a file says so in one sentence, where it is the code of a function', async () => {
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
