import { execFile } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { previewMessage } from '../../../cli/command-line/preview-message.ts';
import { programs } from '../../programs.ts';
import { nightReport } from '../../support/nights/reports.ts';
import { problemOf } from '../files/problem.ts';
import { folder } from '../processes.ts';

const missing = await nightReport('missing/rows-missing-after-a-reindex');
const quiet = await nightReport('ordinary/nothing-to-do');

const files = () => folder((cleanUp) => onTestFinished(cleanUp));
const file = (content: unknown) => files().write('report.json', content);

describe('npm run preview-message', () => {
  it('prints the mail, subject first, when no format is given', async () => {
    const { status, stdout } = await new Promise<{ status: number; stdout: string }>((resolve) => {
      execFile(process.execPath, [programs['preview-message'], '--report', file(missing)], (error, stdout) =>
        resolve({ status: error ? Number(error.code) : 0, stdout }),
      );
    });
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^Subject: \[DataHub retention\] prod: ROWS MISSING in dataset\.operation.*\n\nprod .*: ROWS MISSING/,
    );
  });

  it('prints the Slack notification and the JSON of machines', () => {
    const path = file(quiet);
    const slack = JSON.parse(previewMessage(['--report', path, '--format', 'slack']));
    expect(slack).toMatchObject({ version: '1.0', source: 'custom' });
    expect(JSON.parse(previewMessage(['--report', path, '--format', 'json']))).toEqual(quiet);
  });

  it('prints what a local run posts to Slack', () => {
    const path = file(quiet);
    const posted = JSON.parse(previewMessage(['--report', path, '--format', 'slack', '--local']));
    expect(posted).toMatchObject({ text: expect.any(String), blocks: expect.any(Array) });
  });

  it('prints the next steps for AWS, or for the machine of a local run', () => {
    const arn = 'arn:aws:states:eu-central-1:111122223333:stateMachine:x';
    const path = file(missing);
    const aws = ['--report', path, '--state-machine-arn', arn, '--runbook-url', 'https://example.com/runbook.md'];
    expect(previewMessage(aws)).toContain(`--state-machine-arn ${arn} --region eu-central-1 --input '{"clear"`);
    expect(previewMessage(aws)).toContain('More: https://example.com/runbook.md#outcome-rows-missing');
    const here = previewMessage(['--report', path, '--local', 'datahub-retention']);
    expect(here).toContain('\n  datahub-retention clear dataset.operation --gms-url URL --token-file FILE\n');
  });

  it.each<[string, () => string[], RegExp]>([
    [
      'a cause without the fields of its kind',
      () => ['--report', file({ ...quiet, cause: { kind: 'server' } })],
      /is not a report: cause.*this kind has other fields\. Name a report file/,
    ],
    [
      'next steps for two places',
      () => ['--report', 'x', '--local', '--state-machine-arn', 'y'],
      /cannot be used with option/,
    ],
    ['no report', () => [], /--report <file>' not specified\. See npm run preview-message -- --help\.$/],
    ['an unknown format', () => ['--report', 'x', '--format', 'fax'], /'fax' is invalid.*email, slack, json\. See/],
    ['a file that is not there', () => ['--report', files().at('none.json')], /none\.json cannot be read \(ENOENT\)/],
    ['a file that is not JSON', () => ['--report', file('{')], /report\.json is not JSON: .+ \(line 1, column 2\)\. /],
    ['a file that is empty', () => ['--report', file('')], /report\.json is empty\. Name a report file/],
    [
      'a file that is no report',
      () => ['--report', file('{"version":2}')],
      /is not a report: version must be 1, not 2\. /,
    ],
    ['a list', () => ['--report', file('[]')], /is not a report: it holds a list\. Name a report file/],
    ['a number', () => ['--report', file('7')], /is not a report: it must be an object, not 7\. /],
  ])('refuses %s in one sentence', (_, args, sentence) => {
    const problem = problemOf(() => previewMessage(args()));
    expect(problem).toMatch(sentence);
    expect(problem).not.toContain('\n');
  });
});
