import { execFile } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Report } from '../../../lambda/facts/report-schema.ts';
import { previewMessage } from '../../../local/command-line/preview-message.ts';
import { problemOf } from '../files/problem.ts';
import { folder } from '../processes.ts';

const report: Report = {
  version: 1,
  runId: 'run-1',
  stage: 'prod',
  mode: 'enforce',
  startedAt: '2026-03-01T03:30:00.000Z',
  finishedAt: '2026-03-01T03:31:00.000Z',
  result: 'ok',
  policies: [
    {
      entityType: 'dataset',
      aspect: 'operation',
      outcome: 'nothing-to-delete',
      cause: { kind: 'nothing-to-delete' },
      reason: 'the index is empty',
      rowsTotal: 0,
    },
  ],
  unmanagedIndices: [],
};

const files = () => folder((cleanUp) => onTestFinished(cleanUp));
const file = (content: unknown) => files().write('report.json', content);

describe('npm run preview-message', () => {
  it('prints the mail, its subject first, where no format is named', async () => {
    const { status, stdout } = await new Promise<{ status: number; stdout: string }>((resolve) => {
      const script = new URL('../../../local/preview-message.ts', import.meta.url).pathname;
      execFile(process.execPath, ['--import', 'tsx', script, '--report', file(report)], (error, stdout) =>
        resolve({ status: error ? Number(error.code) : 0, stdout }),
      );
    });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Subject: \[DataHub retention\] prod: .*\n\nprod: /);
  });

  it('prints the Slack notification and the JSON of machines', () => {
    const path = file(report);
    const slack = JSON.parse(previewMessage(['--report', path, '--format', 'slack']));
    expect(slack).toMatchObject({ version: '1.0', source: 'custom' });
    expect(JSON.parse(previewMessage(['--report', path, '--format', 'json']))).toEqual(report);
  });

  it.each<[string, () => string[], RegExp]>([
    ['no report', () => [], /--report <file>' not specified\. See npm run preview-message -- --help\.$/],
    ['an unknown format', () => ['--report', 'x', '--format', 'fax'], /'fax' is invalid.*email, slack, json\. See/],
    ['a file that is not there', () => ['--report', files().at('none.json')], /none\.json cannot be read \(ENOENT\)/],
    ['a file that is not JSON', () => ['--report', file('{')], /report\.json is not JSON \(line 1, column 2\): /],
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
