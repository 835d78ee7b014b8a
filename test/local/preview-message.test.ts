import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goldenReport } from '../support/golden.ts';

const missing = goldenReport('missing/rows-missing-after-a-reindex');
const quiet = goldenReport('ordinary/nothing-to-do');

const root = new URL('../../', import.meta.url);
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'preview-message-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  status: number;
  stdout: string;
  stderr: string;
}

const run = (...args: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', 'tsx', 'local/preview-message.ts', ...args],
      { cwd: root },
      (error, stdout, stderr) => resolve({ status: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });

function file(content: string): string {
  const path = join(folder, 'report.json');
  writeFileSync(path, content);
  return path;
}

describe('npm run preview-message', () => {
  it('prints the mail, its subject first, where no format is named', async () => {
    const { status, stdout } = await run('--report', file(JSON.stringify(missing)));
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Subject: \[DataHub retention\] prod: ROWS MISSING in 1 index.*\n\nprod: ROWS MISSING/);
    expect(stdout).toContain('\n  {"clear":["dataset.operation"]}\n');
  });

  it('prints the next steps for AWS, or for the machine on which a run was made', async () => {
    const arn = 'arn:aws:states:eu-central-1:111122223333:stateMachine:x';
    const path = file(JSON.stringify(missing));
    const [aws, here] = await Promise.all([
      run('--report', path, '--state-machine-arn', arn, '--runbook-url', 'https://example.com/runbook.md'),
      run('--report', path, '--local', 'npm start -- --policies p.json'),
    ]);
    expect(aws.stdout).toContain(`--state-machine-arn ${arn} --region eu-central-1 --input '{"clear"`);
    expect(aws.stdout).toContain('More: https://example.com/runbook.md#outcome-rows-missing');
    expect(here.stdout).toContain('\n  npm start -- --policies p.json --clear dataset.operation\n');
  });

  it('prints the Slack notification and the JSON of machines', async () => {
    const path = file(JSON.stringify(quiet));
    const [slack, json] = await Promise.all([
      run('--report', path, '--format', 'slack'),
      run('--report', path, '--format', 'json'),
    ]);
    expect(JSON.parse(slack.stdout)).toMatchObject({ version: '1.0', source: 'custom' });
    expect(JSON.parse(json.stdout)).toEqual(quiet);
  });

  it.each([
    ['no report', () => [], /--report <file>' not specified\. See npm run preview-message -- --help\.$/],
    ['an unknown format', () => ['--report', 'x', '--format', 'fax'], /'fax' is invalid.*email, slack, json\. See/],
    ['a file that is not there', () => ['--report', join(folder, 'none.json')], /none\.json cannot be read \(ENOENT\)/],
    ['a file that is not JSON', () => ['--report', file('{')], /report\.json is not JSON \(line 1, column 2\): /],
    ['a file that is empty', () => ['--report', file('')], /report\.json is empty\. Name a report file/],
    [
      'a file that is no report',
      () => ['--report', file('{"version":2}')],
      /is not a report: version must be 1, not 2\. /,
    ],
    [
      'a cause without the fields of its kind',
      () => ['--report', file(JSON.stringify({ ...quiet, cause: { kind: 'server' } }))],
      /is not a report: cause.*this kind has other fields\. Name a report file/,
    ],
    [
      'next steps for two places',
      () => ['--report', 'x', '--local', '--state-machine-arn', 'y'],
      /cannot be used with option/,
    ],
    ['a list', () => ['--report', file('[]')], /is not a report: it holds a list\. Name a report file/],
    ['a number', () => ['--report', file('7')], /is not a report: it must be an object, not 7\. /],
  ])('refuses %s in one sentence with status 2', async (_, args, sentence) => {
    const { status, stdout, stderr } = await run(...args());
    expect(status).toBe(2);
    expect(stdout).toBe('');
    expect(stderr.trim()).toMatch(sentence);
    expect(stderr.trim()).not.toContain('\n');
  });
});
