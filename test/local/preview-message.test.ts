import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reports } from '../lambda/notification/reports.ts';

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
    const { status, stdout } = await run('--report', file(JSON.stringify(reports.troubled)));
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Subject: \[DataHub retention\] prod: ROWS MISSING in 1 index.*\n\nprod: ROWS MISSING/);
  });

  it('prints the Slack notification and the JSON of machines', async () => {
    const path = file(JSON.stringify(reports['nothing-to-do']));
    const [slack, json] = await Promise.all([
      run('--report', path, '--format', 'slack'),
      run('--report', path, '--format', 'json'),
    ]);
    expect(JSON.parse(slack.stdout)).toMatchObject({ version: '1.0', source: 'custom' });
    expect(JSON.parse(json.stdout)).toEqual(JSON.parse(JSON.stringify(reports['nothing-to-do'])));
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
