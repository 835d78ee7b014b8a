import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { runbook } from '../cli/print-runbook.ts';
import { sectionNames } from '../lambda/report/guide/runbook.ts';
import { contextOf, sentencesOf, sentencesOfError, sentencesOfNote } from '../lambda/report/sentences/sentences.ts';
import { requestIn } from './engine/recovery/runbook.ts';
import { audiences, entryCases, errorCases, noteCases } from './lambda/report/cases.ts';
import { anEntry, aReportOf } from './support/reports.ts';

/**
 * Every request to the search engine that pages, messages and `retention runbook` print is one that Dev Tools of Kibana
 * and OpenSearch Dashboards read: one in a block, its path on the first line, its body on the lines after it.
 */

const docs = new URL('../docs/', import.meta.url);
const pages = readdirSync(docs).filter((name) => name.endsWith('.md'));
const begins = /^\s*(?:GET|HEAD|PUT|POST|DELETE) [/_*]/;

/** Blocks, fenced or indented, and code within a line. */
function requestsIn(markdown: string): string[] {
  const fenced = [...markdown.matchAll(/^ *```\w*\n([\s\S]*?)^ *```$/gm)].map(([, block = '']) => block);
  const rest = markdown.replace(/^ *```\w*\n[\s\S]*?^ *```$/gm, '');
  const indented = rest.match(/(?:^ {4,}\S.*\n)+/gm) ?? [];
  const inline = [...rest.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  return [...fenced, ...indented, ...inline].filter((text) => begins.test(text));
}

test.each(pages)('%s', (name) => {
  const text = readFileSync(new URL(name, docs), 'utf8');
  // A message has several blocks, which are read below.
  const own = name === 'messages.md' ? [] : requestsIn(text);
  for (const request of own) expect(() => requestIn(request)).not.toThrow();
});

test('the runbook has enough of them', () => {
  expect(requestsIn(readFileSync(new URL('runbook.md', docs), 'utf8')).length).toBeGreaterThan(20);
});

describe('retention runbook', () => {
  const text = readFileSync(new URL('runbook.md', docs), 'utf8');

  test.each(sectionNames(text))('%s', (name) => {
    const printed = runbook({ verb: 'runbook', words: [name] }, { program: './retention', env: {} });
    const requests = requestsIn(printed);
    for (const request of requests) expect(() => requestIn(request)).not.toThrow();
    // One line says how to send them.
    expect([name, /port-forward.*curl.*aws-sigv4/.test(printed.split('\n')[0] ?? '')]).toEqual([
      name,
      requests.length > 0,
    ]);
  });
});

test('every command of a message', () => {
  const said = audiences.flatMap((audience) => {
    const context = contextOf(aReportOf([]), audience);
    return [
      ...entryCases.map(([, outcome, cause, more]) => sentencesOf(anEntry(outcome, cause, more), context)),
      ...errorCases.map(([, cause]) => sentencesOfError(cause, context)),
      ...noteCases.map(([, note]) => sentencesOfNote(note, context)),
    ];
  });
  const lines = said
    .flatMap(({ inspect, act, instead }) => [inspect, act, instead])
    .flatMap((command) =>
      command?.typedIn === 'search-engine' ? [[command.line, command.body ?? ''].join('\n')] : [],
    );
  expect(lines.some((line) => line.includes('\n{'))).toBe(true);
  for (const line of lines) expect(() => requestIn(line)).not.toThrow();
});

test.each([
  ['a body beside its path', 'PUT /x/_settings {"index":{}}'],
  ['two requests', 'POST /x/_refresh\nGET /x'],
  ['a body that is no JSON', 'PUT /x\n{index}'],
  ['a count of every row', 'GET /x/_count'],
])('%s is not read', (_, block) => {
  expect(() => requestIn(block)).toThrow();
});
