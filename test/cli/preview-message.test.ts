import { describe, expect, test } from 'vitest';
import { previewMessage } from '../../cli/preview-message.ts';
import { destinationNames } from '../../lambda/report/destinations/registry.ts';
import { withSentences } from '../../lambda/report/sentences/sentences.ts';
import { aws, entryCases } from '../lambda/report/cases.ts';
import { anEntry, aReportOf } from '../support/reports.ts';
import { folder } from './processes.ts';

const [, outcome, cause, more] = entryCases.find(([name]) => name === 'rows missing after a reindex')!;
const missing = withSentences(aReportOf([anEntry(outcome, cause, more)], {}), aws);

const file = (content: unknown) => folder().write('report.json', content);
const preview = (...args: string[]) => previewMessage(args);

describe('npm run preview-message', () => {
  test('prints the mail, subject first, with its next steps', () => {
    const mail = preview('--report', file(missing));
    expect(mail).toMatch(/^Subject: \[DataHub retention\] \w+: ROWS MISSING in dataset\.operation.*\n\n/);
    expect(mail).toContain('{"release":["dataset.operation"]}');
  });

  test("prints the demo's where no report is named", () => {
    const mail = preview();
    expect(mail).toMatch(/^Subject: \[DataHub retention\] .*\n\n/);
    expect(mail).toContain('dataset.operation: truncated, ');
  });

  test('prints what chats and machines get', () => {
    const shown = (...more: string[]) => JSON.parse(preview('--report', file(missing), ...more));
    expect(shown('--format', 'amazon-q')).toMatchObject({ version: '1.0', source: 'custom' });
    expect(shown('--format', 'slack')).toMatchObject({ text: expect.any(String), blocks: expect.any(Array) });
    expect(shown('--format', 'json')).toEqual(JSON.parse(JSON.stringify(missing)));
  });

  test.each<[string, () => string[], RegExp]>([
    ['an unknown format', () => ['--report', 'x', '--format', 'fax'], new RegExp(destinationNames.join(', '))],
    ['a file that is not there', () => ['--report', '/nowhere/r.json'], /cannot be read \(no such file\)/],
    ['a file that is not JSON', () => ['--report', file('{')], /is not a report \(no JSON\): name a report file/],
    [
      'a file that is no report',
      () => ['--report', file('{"version":2}')],
      /is not a report \(version: .*name a report/,
    ],
  ])('refuses %s in one sentence', (_, args, sentence) => {
    expect(() => preview(...args())).toThrow(sentence);
  });
});
