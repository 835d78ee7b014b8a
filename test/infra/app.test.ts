import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { readStageFile } from '../../infra/stage-file.ts';
import { folder } from '../cli/processes.ts';

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
    const { at, texts } = folder();
    const env = { ...process.env, CDK_OUTDIR: at('.'), CDK_CONTEXT_JSON: '{}' };
    await run(process.execPath, ['--import', 'tsx', 'infra/app.ts'], { cwd: root, env });
    const { artifacts } = JSON.parse(readFileSync(at('manifest.json'), 'utf8'));
    expect(artifacts).toMatchObject({
      'datahub-retention-STAGE': { environment: 'aws://unknown-account/unknown-region' },
    });
    expect(texts().join('')).toMatch(/"aws:cdk:error",\s*"data": "Name a stage with -c stage=<name>; there are: /);
  });

  test.each([
    ['../secrets', /^There is no stage file [^\n]*$/],
    ['infra/stages/example.json', /: did you mean example\?$/],
    ['', /^Name a stage with -c stage=<name>; there are: .*example.*$/],
    [undefined, /^Name a stage with -c stage=<name>/],
  ])('has no stage %j', (stage, sentence) => {
    expect(() => readStageFile(stage)).toThrow(sentence);
  });
});
