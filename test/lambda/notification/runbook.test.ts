import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkNames } from '../../../lambda/facts/check.ts';
import { outcomes, resultOf } from '../../../lambda/facts/outcomes.ts';
import { composeMessage } from '../../../lambda/notification/message.ts';
import {
  alarmHeadings,
  clearHeading,
  outcomeHeading,
  preflightHeading,
  runbookAnchor,
  runbookLink,
  runErrorHeading,
  tokenHeading,
} from '../../../lambda/notification/runbook.ts';
import { parseInput } from '../../../lambda/run/plan/input.ts';
import { recovery } from '../../../lambda/wording/recovery.ts';
import { nightReports } from '../../support/nights/reports.ts';
import { anEntry } from '../../support/reports.ts';
import { context } from './custom-notification.ts';

const runbook = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');
const headings = [...runbook.matchAll(/^##+ (.+)$/gm)].map(([, heading]) => heading!);
const anchors = new Set(headings.map(runbookAnchor));

const alias = 'dataset_operationaspect_v1';
const moved = {
  kind: 'missing',
  expected: 9,
  found: 1,
  movedBy: 'us',
  rowsIn: `${alias}_1753500600000`,
  indexBefore: `${alias}_1753500600000`,
  indexNow: `${alias}_1772335860000`,
} as const;
const movedAway = anEntry('rows-missing', moved, { strategy: 'reindex' });
const withPlaceholders = (text: string): string =>
  text.replaceAll(moved.rowsIn, 'OLD').replaceAll(moved.indexNow, 'NEW').replaceAll(alias, 'ALIAS');

describe('the runbook', () => {
  it('has a section for every alarm, every outcome that needs a person, the preflight, and run errors', () => {
    const needed = [
      ...Object.values(alarmHeadings),
      ...outcomes.filter((outcome) => resultOf[outcome] !== 'ok').map(outcomeHeading),
      preflightHeading,
      runErrorHeading,
      clearHeading,
      tokenHeading,
    ];
    expect(needed.filter((heading) => !headings.includes(heading))).toEqual([]);
  });

  it('says what to do about every check of the preflight', () => {
    const [, section = ''] = runbook.split('\n## Preflight\n');
    const firstCells = [...section.split('\n## ')[0]!.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell]) =>
      cell!.split(', '),
    );
    expect(checkNames.filter((name) => !firstCells.includes(name))).toEqual([]);
  });

  it('prints inputs of executions that a run takes', () => {
    const inputs = [...runbook.matchAll(/--input '(\{.*?\})'|`(\{"(?:mode|only|clear)".*?\})`/g)].map(
      ([, one, other]) => one ?? other!,
    );
    expect(inputs.length).toBeGreaterThan(8);
    for (const input of inputs) expect(parseInput(JSON.parse(input)), input).toHaveProperty('input');
  });

  it('explains every word for rows that are left, or not seen', () => {
    const whyRemains = ['conflicts'];
    const whyUnsettled = ['still', 'hung', 'status', 'counters', 'index', 'replaced', 'uncountable', 'no-record'];
    for (const word of ['not-refreshed', 'since', 'vanished', ...whyRemains, ...whyUnsettled])
      expect(runbook).toContain(`\`${word}\``);
  });

  it('has the steps of a message that bring rows back, word for word and in their order', async () => {
    const steps = recovery(movedAway, Date.UTC(2026, 2, 1)).flatMap(({ say, line }) => [say, line ?? '']);
    const [, section = ''] = runbook.split('\n## Outcome: rows-missing\n');
    // The runbook words the deadline and the last step itself.
    const told = steps.slice(2, -2).map((text) => withPlaceholders(text));
    expect(told.length).toBeGreaterThan(20);
    let at = 0;
    for (const text of told.filter((one) => one !== '')) {
      const next = section.indexOf(text, at);
      expect(next, text).toBeGreaterThanOrEqual(0);
      at = next;
    }
  });

  it('has the request of a message for rows that stayed behind where an upgrade put another index', () => {
    const upgraded = { ...moved, indexNow: `${alias}_1_7_0-0_1754300000000` };
    const entry = anEntry('rows-missing', upgraded, { cutoffMillis: 1_700_000_000_000 });
    for (const { line } of recovery(entry, 0).slice(4)) {
      if (line === undefined) continue;
      expect(line).not.toContain('_aliases');
      expect(runbook).toContain(
        withPlaceholders(line.replaceAll(upgraded.indexNow, 'NEW').replace('1700000000000', 'CUTOFF')),
      );
    }
  });

  it('has one heading for each anchor', () => {
    expect(anchors.size).toBe(headings.length);
  });

  it('has the target of every link in a message', async () => {
    for (const [, report] of await nightReports()) {
      const { email, https } = composeMessage(report, context);
      const links = [...`${email}${https}`.matchAll(/runbook\.md#([\w-]+)/g)].map(([, anchor]) => anchor!);
      expect(links.filter((anchor) => !anchors.has(anchor))).toEqual([]);
    }
  });

  it('has the target of every link within it', () => {
    const links = [...runbook.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor!);
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((anchor) => !anchors.has(anchor))).toEqual([]);
  });

  it.each(outcomes.filter((outcome) => resultOf[outcome] !== 'ok'))(
    'says of %s what it means, how to look, how to fix and when not to',
    (outcome) => {
      const section = runbook.split(`\n## ${outcomeHeading(outcome)}\n`)[1]?.split('\n## ')[0] ?? '';
      for (const part of ['What it means', 'How to look', 'How to fix', 'When not to'])
        expect(section).toContain(`**${part}.**`);
    },
  );
});

describe('an anchor', () => {
  it.each([
    ['Alarm: ExecutionFailed', 'alarm-executionfailed'],
    ['Outcome: rows-missing', 'outcome-rows-missing'],
    ['Run error', 'run-error'],
  ])('is made from a heading as GitHub does: %s', (heading, anchor) => {
    expect(runbookAnchor(heading)).toBe(anchor);
    expect(runbookLink('https://example.com/r.md', heading)).toBe(`https://example.com/r.md#${anchor}`);
  });
});
