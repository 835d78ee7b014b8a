import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readStageFile } from '../../infra/stage-file.ts';

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
