import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { outcomes, resultOf } from '../../../lambda/model/outcomes.ts';
import { guideOf } from '../../../lambda/report/guide/guides.ts';
import {
  alarmSections,
  anchorOf,
  otherSections,
  outcomeSections,
  sectionNames,
  sectionOf,
} from '../../../lambda/report/guide/runbook.ts';
import { createToken, firstStep, titles } from '../../../lambda/report/sentences/phrases.ts';
import { contextOf, sentencesOf, sentencesOfError } from '../../../lambda/report/sentences/sentences.ts';
import { privileges } from '../../../lambda/report/sentences/server-errors.ts';
import { anEntry, aReportOf } from '../../support/reports.ts';
import { aws, entryCases, errorCases, kubernetes, machine } from './cases.ts';

const runbook = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');

test('the runbook has exactly the sections that messages and alarms name', () => {
  const named = [...Object.values(outcomeSections), ...otherSections, ...Object.values(alarmSections)];
  expect([...sectionNames(runbook)].sort()).toEqual([...named].sort());
});

test('a section is headed by the words of the subject', () => {
  for (const outcome of outcomes) {
    if (resultOf[outcome] === 'ok') continue;
    expect(outcomeSections[outcome as keyof typeof outcomeSections].toLowerCase()).toBe(titles[outcome].toLowerCase());
  }
});

test('every link inside the runbook leads to one of its sections', () => {
  const anchors = sectionNames(runbook).map(anchorOf);
  for (const [, anchor] of runbook.matchAll(/\]\(#([^)]*)\)/g)) expect(anchors).toContain(anchor);
});

test('at three in the morning: what it means, where to look, what to do, in at most ten lines', () => {
  for (const name of sectionNames(runbook)) {
    const section = sectionOf(runbook, name)!;
    const parts = [...section.matchAll(/^\*\*(What it means|Look|Do)\.\*\*/gm)].map(([, part]) => part);
    expect([name, ...parts]).toEqual([name, 'What it means', 'Look', 'Do']);
    // Besides commands, tables, and the numbered steps that bring rows back.
    const prose = section.replace(/^\d+\. .*\n(?:(?: .*)?\n)*|^```[\s\S]*?^```$|^\|.*$/gm, '');
    const lines = prose.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect([name, lines.length <= 10, lines.filter((line) => line.length > 400)]).toEqual([name, true, []]);
  }
});

test('the steps that bring rows back are numbered without a gap, and none of them deletes', () => {
  const section = sectionOf(runbook, 'rows-missing') ?? '';
  const numbers = [...section.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
  expect(numbers).toEqual([...[1, 2, 3, 4, 5, 6], ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]);
  expect(section).not.toMatch(/^\s+DELETE |_delete_by_query|"mode":"enforce"|remove_index/m);
});

test('the next step after a loss is the first step of the runbook', () => {
  const section = sectionOf(runbook, 'Rows missing') ?? '';
  const plain = section.replace(/ \(\[[^\]]*\]\([^)]*\)\)/g, '').replaceAll('`', '');
  expect(plain).toContain(`1. ${firstStep}`);
});

test('the requests that messages offer are those of the runbook, and so are the token’s place and its privileges', () => {
  const context = contextOf(aReportOf([]), aws);
  const requests = entryCases.flatMap(([, outcome, cause, more]) => {
    const { inspect } = sentencesOf(anEntry(outcome, cause, { ...more, taskId: more?.taskId && 'TASK:1' }), context);
    return inspect?.typedIn === 'search-engine' ? [inspect.line] : [];
  });
  const inRunbook = [...new Set(requests)].map((line) =>
    line.replace(/\*[\w.]+aspect_v1\*/, '*ALIAS*').replace('TASK:1', 'TASK'),
  );
  expect(inRunbook.length).toBeGreaterThan(4);
  expect(inRunbook.filter((line) => !runbook.includes(line))).toEqual([]);
  const token = sectionOf(runbook, 'Token')!;
  for (const privilege of Object.values(privileges)) expect(token).toContain(`*${privilege}*`);
  expect(token).toContain(createToken.replace('create a new token in DataHub', 'In DataHub'));
});

test('every case that the runbook lists is one that a subject has', () => {
  const context = contextOf(aReportOf([]), aws);
  const subjects = new Set([
    ...entryCases.map(([, outcome, cause, more]) => sentencesOf(anEntry(outcome, cause, more), context).subject),
    ...errorCases.map(([, cause]) => sentencesOfError(cause, context).subject),
  ]);
  const sections = ['Unknown', 'Incomplete', 'Not started', 'Still running'].map((name) => sectionOf(runbook, name));
  const listed = [...sections.join('\n').matchAll(/^- \*(.+?)\*:/gm)].flatMap(([, names = '']) => names.split('*, *'));
  expect(listed.length).toBeGreaterThan(12);
  expect(listed.filter((name) => !subjects.has(name))).toEqual([]);
});

describe('a section is found', () => {
  test.each(['Rows missing', 'rows-missing', 'ROWS MISSING'])('as %s', (name) => {
    expect(sectionOf(runbook, name)).toMatch(/^## Rows missing\n/);
  });

  test('and an unknown one is not', () => {
    expect(sectionOf(runbook, 'rows')).toBeUndefined();
  });
});

describe('an audience is led to a section', () => {
  const inRepository = { where: ", in this job's repository" };

  test('on AWS to the dashboard, where it has the section', () => {
    expect(guideOf(aws).runbook('Rows missing')).toEqual({
      url: expect.stringMatching(/dashboard\/datahub-retention-prod/),
    });
    expect(guideOf(aws).runbook('Failed')).toEqual({ ...inRepository, command: './retention runbook failed' });
  });

  test('elsewhere by a command, and never one that fetches a package of this name from a registry', () => {
    expect(guideOf(machine).runbook('Rows missing')).toEqual({
      where: '',
      command: 'datahub-retention runbook rows-missing',
    });
    expect(guideOf(kubernetes).runbook('Rows missing')).toEqual({
      ...inRepository,
      command: './retention runbook rows-missing',
    });
  });

  test('to the stage’s own runbook, where one is set', () => {
    const runbookUrl = 'https://example.com/runbook';
    expect(guideOf({ ...aws, runbookUrl }).runbook('Rows missing')).toEqual({ url: `${runbookUrl}#rows-missing` });
  });
});
