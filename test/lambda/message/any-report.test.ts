import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { maxEntries, maxTextBytes } from '../../../lambda/facts/limits.ts';
import { outcomes } from '../../../lambda/facts/outcomes.ts';
import { maxNameLength } from '../../../lambda/facts/policy-fields.ts';
import { type PolicyEntry, type Report, reportSchema } from '../../../lambda/facts/report-schema.ts';
import {
  messageAttributes,
  messageBody,
  messageOf,
  ownWords,
  publishedBytes,
} from '../../../lambda/message/message.ts';
import { redactor } from '../../../lambda/text/secrets.ts';
import { worded } from '../../../lambda/words/worded.ts';
import { anyText, valuesOf } from '../../support/arbitrary.ts';
import { anEntry, aReport, aReportOf } from '../../support/reports.ts';
import { aws, entryCases, errorCases, noteCases, readers } from './cases.ts';

/** Any report, with every kind of cause and note, and with malicious texts, becomes a message that people can read. */

/**
 * The event schema of custom notifications in "Amazon Q Developer in chat applications", administrator guide. It
 * silently drops what does not fit. The lengths are ours: Slack accepts 3,000 characters in one block.
 */
const customNotification = z.strictObject({
  version: z.literal('1.0'),
  source: z.literal('custom'),
  content: z.strictObject({
    textType: z.literal('client-markdown'),
    title: z.string().min(1).max(250),
    description: z.string().min(1).max(3000),
    keywords: z.array(z.string().min(1).max(50)).min(1),
  }),
  metadata: z.strictObject({
    threadId: z.string().min(1).max(100),
    summary: z.string().min(1).max(250),
    eventType: z.string().min(1),
    additionalContext: z.record(z.string(), z.string()),
  }),
});

const secret = 'S3cr3t/T0ken+OfTheStage=';
const nasty = fc.constantFrom(
  secret,
  'boom\n\tat com.linkedin.restli.Foo.bar(Foo.java:84)\n\tat com.x.Y.z(Y.java:1)',
  '\u0000\u001b[2J\u202egnp',
  '<!here> & `x` *y*',
  'line\r\nSubject: spoofed',
  'harmless\n  DELETE /_all',
  '\ud800',
  '\ufffe\uffff',
  "'; rm -rf / #",
  'ä漢字🦄'.repeat(400),
  '&'.repeat(3000),
);
const texts = fc.oneof(fc.string(), anyText(), nasty);
const policies = valuesOf(reportSchema.shape.policies.element, texts);

const anyReport: fc.Arbitrary<Report> = fc
  .record({
    whole: valuesOf(reportSchema.omit({ policies: true }), texts),
    policies: fc.oneof(
      { weight: 4, arbitrary: fc.array(policies, { maxLength: 12 }) },
      { weight: 1, arbitrary: fc.array(policies, { minLength: maxEntries, maxLength: 150 }) },
    ),
  })
  .map(({ whole, policies: given }) => ({ ...whole, policies: given.map(named) }) as Report);

const named = (entry: PolicyEntry, at: number): PolicyEntry => ({
  ...entry,
  entityType: 'dataset',
  aspect: `policy${at}`,
});

/** Characters that XML, and therefore SQS, refuses. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const notXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u;

function expectReadable(report: Report, reader = aws): void {
  const message = messageOf(report, { reader, clean: redactor([secret]) });
  expect(message.subject).toMatch(/^[\x21-\x7e][\x20-\x7e]{0,98}$/);
  expect(publishedBytes(message)).toBeLessThan(262_144);
  const body = messageBody(message);
  expect(body).not.toMatch(notXml);
  expect(body).not.toContain(secret);
  expect(body).not.toMatch(/(\n|\\n)(\t|\\t)at com\./);
  for (const { StringValue } of Object.values(messageAttributes(message))) expect(StringValue).not.toBe('');
  customNotification.parse(JSON.parse(message.https));
  expect(reportSchema.safeParse(JSON.parse(message.default)).success).toBe(true);
  const lines = message.email.split('\n');
  // A verdict is told only where its whole paragraph is there, so those have more room.
  const hasVerdicts = report.policies.some(({ decidedAt }) => decidedAt !== undefined);
  expect(lines.length).toBeLessThanOrEqual(hasVerdicts ? 200 : 64);
  lines.forEach((line, at) => {
    if (!line.startsWith('  ')) return;
    expect(lines[at - 1], line).toMatch(/^\S.*:$/);
    expect(line).toMatch(/^ {2}(aws |kubectl |datahub-retention |\{"|GET \S+$)/);
  });
  if (report.mode === 'preview') expect(`${message.subject}${lines[0]}`).toMatch(/PREVIEW.*PREVIEW/);
  if (report.policies.some(({ outcome }) => outcome === 'rows-missing')) {
    expect(message.email).not.toMatch(/^ {2}.*(approve|"mode":"enforce"| enforce )/m);
  }
}

test.each([1386185643, 20261123])('any report, seed %i', (seed) => {
  fc.assert(fc.property(anyReport, fc.constantFrom(...readers), expectReadable), {
    numRuns: 25,
    seed,
    endOnFailure: true,
  });
});

test('names that are nasty stay harmless', () => {
  const any = fc.property(texts, texts, fc.constantFrom(...outcomes), (entityType, aspect, outcome) => {
    const [first] = aReport([anEntry('rows-missing', { kind: 'missing', expected: 5, found: 0 })]).policies;
    expectReadable({ ...aReport([]), stage: aspect, policies: [{ ...first!, entityType, aspect, outcome }] });
  });
  fc.assert(any, { numRuns: 50, seed: 7, endOnFailure: true });
});

describe('a mail is short', () => {
  const words = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;
  const one = [
    ...entryCases.map(([name, outcome, cause, more]) => [name, aReportOf([anEntry(outcome, cause, more)])] as const),
    ...errorCases.map(([name, cause]) => [name, aReportOf([], { cause })] as const),
    ...noteCases.map(([name, note]) => [name, aReportOf([], { notes: [note] })] as const),
  ];

  test.each(one)('%s: at most 120 words besides its commands', (_, facts) => {
    const { email, subject } = messageOf(worded(facts, aws), { reader: aws });
    // The first paragraph says which DataHub and how urgent, the second is about the problem.
    const [, problem = ''] = email.split('\n\n');
    const prose = problem.split('\n').filter((line) => !line.startsWith('  '));
    expect(words(prose.join(' '))).toBeLessThanOrEqual(120);
    expect(email.split('\n').filter((line) => line.startsWith('  ')).length).toBeLessThanOrEqual(3);
    expect(subject.length).toBeLessThan(100);
  });

  test.each(entryCases)('%s, in as many indices as a run can carry: at most 60 lines', (_, outcome, cause, more) => {
    const text = 'x'.repeat(maxTextBytes);
    const full = { ...more, owner: text, note: text, reindexes: true };
    const entries = Array.from({ length: maxEntries }, (_, at) =>
      anEntry(outcome, cause, { ...full, name: `dataset.${'a'.repeat(50)}${at}` }),
    );
    const { email } = messageOf(worded(aReportOf(entries), aws), { reader: aws });
    expect(email.split('\n').length).toBeLessThanOrEqual(more?.decidedAt === undefined ? 64 : 200);
  });
});

test('what another run has decided has a line of its own among many indices without a problem', () => {
  const many = Array.from({ length: 30 }, (_, at) =>
    anEntry('truncated', { kind: 'verified' }, { name: `dataset.fine${at}`, reindexes: true }),
  );
  const decided = { decidedAt: '2026-08-12T03:40:00.000Z', decidedBy: 'run-x', untold: 'no-report' as const };
  const left = Array.from({ length: 14 }, (_, at) =>
    anEntry('truncated', { kind: 'verified' }, { name: `chart.left${at}`, ...decided }),
  );
  const { email, told } = messageOf(worded(aReportOf([...many, ...left]), aws), { reader: aws });
  expect(left.filter((_, at) => !email.includes(`chart.left${at}:`))).toEqual([]);
  expect(told).toHaveLength(14);
});

test('the longest name is whole in every command, and leaves its number room in each line of a chat', () => {
  const decided = { decidedAt: '2026-08-12T03:40:00.000Z', decidedBy: 'run-x', untold: 'no-report' as const };
  const name = (at: number) => `${'e'.repeat(maxNameLength)}.${at}${'a'.repeat(maxNameLength - 1)}`;
  const cause = { kind: 'lost-between-runs', expected: 2_469_134, found: 1_234_567, since: 1 } as const;
  const lost = Array.from({ length: 5 }, (_, at) => anEntry('rows-missing', cause, { name: name(at), ...decided }));
  const { email, https, told } = messageOf(worded(aReportOf(lost), aws), { reader: aws });
  expect(told).toHaveLength(5);
  lost.forEach((_, at) => {
    expect(email).toContain(`{"release":["${name(at)}"]}`);
    expect(https).toContain(`${name(at)}: ROWS MISSING, at least 1,234,567 `);
  });
});

test.each([
  ['this run has found', 'rows-missing', { kind: 'missing', expected: 40, found: 1 }],
  [
    'an earlier run has found',
    'quarantined',
    { kind: 'quarantined', since: 1, outcome: 'rows-missing', rowsMissing: 39 },
  ],
  [
    'was found at another address',
    'quarantined',
    { kind: 'quarantined-elsewhere', address: 'https://x', since: 1, outcome: 'rows-missing', rowsMissing: 39 },
  ],
  ['another version may have found', 'quarantined', { kind: 'foreign', why: 'version', version: 6 }],
] as const)('no message has a command that deletes, while there is a loss that %s', (_, outcome, cause) => {
  const ceiling = anEntry('above-ceiling', { kind: 'above-ceiling', approveRows: 105, maxDeletePercent: 50 });
  const commandsOf = (...others: Parameters<typeof aReportOf>[0]) => {
    const { email, https } = messageOf(worded(aReportOf([ceiling, ...others]), aws), { reader: aws });
    return `${email}${https}`.includes('approveRows');
  };
  expect(commandsOf()).toBe(true);
  expect(commandsOf(anEntry(outcome, cause, { name: 'dataset.lost' }))).toBe(false);
});

test('the words of a report that are never cleaned are those that its schema lists', () => {
  const listed = new Set<string>();
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { properties = {} } = node as { properties?: Record<string, { enum?: unknown[]; const?: unknown }> };
    for (const [name, { enum: words, const: word }] of Object.entries(properties)) {
      if (words?.some((each) => typeof each === 'string') || typeof word === 'string') listed.add(name);
    }
    for (const child of Object.values(node)) walk(child);
  };
  walk(JSON.parse(readFileSync(new URL('../../../docs/report.schema.json', import.meta.url), 'utf8')));
  expect([...listed].sort()).toEqual([...ownWords].sort());
});

test('what does not fit into a publish is cut from the harmless end, and said', () => {
  const long = Array.from({ length: 900 }, (_, at) =>
    anEntry(
      'below-threshold',
      { kind: 'not-due', minDeletePercent: 10 },
      { name: `dataset.fine${at}`, note: 'n'.repeat(200) },
    ),
  );
  const lost = anEntry('rows-missing', { kind: 'missing', expected: 5, found: 0 });
  const message = messageOf(worded(aReportOf([...long, lost]), aws), { reader: aws });
  const report = reportSchema.parse(JSON.parse(message.default));
  expect(publishedBytes(message)).toBeLessThan(262_144);
  expect(report.policies.some(({ outcome }) => outcome === 'rows-missing')).toBe(true);
  expect(report.notes?.[0]?.text).toContain(`${901 - report.policies.length} of 901 policies`);
});
