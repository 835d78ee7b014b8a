import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { publishedBytes, snsMessage } from '../../../lambda/aws/sns-message.ts';
import { redactor } from '../../../lambda/gms/secrets.ts';
import { maxTextBytes } from '../../../lambda/gms/text.ts';
import { outcomes, resultOf } from '../../../lambda/model/outcomes.ts';
import { maxNameLength } from '../../../lambda/model/policy-fields.ts';
import { type PolicyEntry, type Report, reportSchema } from '../../../lambda/model/report-schema.ts';
import { serialize } from '../../../lambda/report/destination.ts';
import { type DestinationName, destinationNames, destinations } from '../../../lambda/report/destinations/registry.ts';
import { type Message, messageOf, ownWords } from '../../../lambda/report/message.ts';
import { withSentences } from '../../../lambda/report/sentences/sentences.ts';
import { maxEntries } from '../../../lambda/run/state.ts';
import { holds } from '../../properties.ts';
import { anyText, valuesOf } from '../../support/arbitrary.ts';
import { anEntry, aReport, aReportOf } from '../../support/reports.ts';
import { audiences, aws, entryCases, errorCases, noteCases } from './cases.ts';
import { taken } from './receivers.ts';

/** Any report, with every kind of cause and note, and with malicious texts, becomes a message that people can read. */

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
      { weight: 1, arbitrary: fc.array(policies, { minLength: maxEntries, maxLength: maxEntries }) },
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

/** Of a mail; what other runs have decided, and went well, has a line for each. */
const maxLines = 64 + maxEntries;

/** What a stage's topic sends by default. */
const usual = { default: 'json', email: 'mail', https: 'amazon-q' } as const;

/** Text that is no JSON is received as text. */
const asReceived = (body: string): unknown => (body.startsWith('{') ? JSON.parse(body) : body);

const sent = (message: Message, to: DestinationName): string => serialize(destinations[to].render(message));

function expectReadable(report: Report, audience = aws): void {
  const clean = redactor([secret]);
  const message = messageOf(report, { audience, clean });
  expect(message.subject).toMatch(/^[\x21-\x7e][\x20-\x7e]{0,98}$/);
  const published = snsMessage(message, usual);
  expect(publishedBytes(published)).toBeLessThan(262_144);
  for (const { StringValue } of Object.values(published.attributes)) expect(StringValue).not.toBe('');
  expect(published.body).not.toMatch(notXml);
  const bad = report.policies.filter(({ aspect, outcome }) => /^policy\d+$/.test(aspect) && resultOf[outcome] !== 'ok');
  for (const { name, limits, render } of Object.values(destinations)) {
    const body = serialize(render(message));
    expect([name, taken[name as DestinationName].safeParse(asReceived(body)).error]).toEqual([name, undefined]);
    expect([name, body.length <= limits.characters]).toEqual([name, true]);
    expect(body).not.toMatch(notXml);
    expect(body).not.toContain(secret);
    expect(body).not.toMatch(/(\n|\\n)(\t|\\t)at com\./);
    const names = name === 'json' ? bad.map(({ aspect }) => aspect) : bad.map(({ aspect }) => `dataset.${aspect}`);
    expect([name, names.filter((each) => !body.includes(each))]).toEqual([name, []]);
  }
  const { policies } = reportSchema.parse(JSON.parse(JSON.parse(published.body).default));
  expect(policies.map(({ aspect }) => aspect)).toEqual(message.report.policies.map(({ aspect }) => aspect));
  const email = sent(message, 'mail');
  const lines = email.split('\n');
  expect(lines.length).toBeLessThanOrEqual(maxLines);
  lines.forEach((line, at) => {
    if (!line.startsWith('  ')) return;
    // The body of a request has a line of its own, as the consoles of search engines read it.
    expect(lines[at - 1], line).toMatch(line.startsWith('  { ') ? /^ {2}PUT / : /^\S.*:$/);
    expect(line).toMatch(/^ {2}(aws |kubectl |datahub-retention |\{"|GET \S+$|PUT \S+$|\{ ")/);
  });
  if (report.mode === 'preview') expect(`${message.subject}${lines[0]}`).toMatch(/PREVIEW.*PREVIEW/);
  if (report.policies.some(({ outcome }) => outcome === 'rows-missing')) {
    expect(email).not.toMatch(/^ {2}.*(approve|"mode":"enforce"| enforce )/m);
  }
}

test('any report', () => {
  // Sixty-four problems beside notes without names: names were cut to make room for the notes' subjects.
  for (const seed of [2, 37]) holds(fc.property(anyReport, fc.constantFrom(...audiences), expectReadable), 25, seed);
  holds(fc.property(anyReport, fc.constantFrom(...audiences), expectReadable), 25);
});

test('names that are nasty stay harmless', () => {
  const any = fc.property(texts, texts, fc.constantFrom(...outcomes), (entityType, aspect, outcome) => {
    const [first] = aReport([anEntry('rows-missing', { kind: 'missing', expected: 5, found: 0 })]).policies;
    expectReadable({ ...aReport([]), stage: aspect, policies: [{ ...first!, entityType, aspect, outcome }] });
  });
  holds(any, 50);
});

describe('a mail is short', () => {
  const words = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;
  const one = [
    ...entryCases.map(([name, outcome, cause, more]) => [name, aReportOf([anEntry(outcome, cause, more)])] as const),
    ...errorCases.map(([name, cause]) => [name, aReportOf([], { cause })] as const),
    ...noteCases.map(([name, note]) => [name, aReportOf([], { notes: [note] })] as const),
  ];

  test.each(one)('%s: at most 120 words besides its commands', (_, facts) => {
    const message = messageOf(withSentences(facts, aws), { audience: aws });
    const email = sent(message, 'mail');
    // The first paragraph says which DataHub and how urgent, the second is about the problem.
    const [, problem = ''] = email.split('\n\n');
    const prose = problem.split('\n').filter((line) => !line.startsWith('  '));
    expect(words(prose.join(' '))).toBeLessThanOrEqual(120);
    expect(email.split('\n').filter((line) => /^ {2}[^{]/.test(line)).length).toBeLessThanOrEqual(3);
    expect(message.subject.length).toBeLessThan(100);
  });

  test.each(entryCases)('%s, in as many indices as a run can carry: at most 60 lines', (_, outcome, cause, more) => {
    const text = 'x'.repeat(maxTextBytes);
    const full = {
      ...more,
      owner: text,
      note: text,
      method: 'reindex' as const,
      decidedAt: undefined,
      decidedBy: undefined,
    };
    const entries = Array.from({ length: maxEntries }, (_, at) =>
      anEntry(outcome, cause, { ...full, name: `dataset.${'a'.repeat(50)}${at}` }),
    );
    const email = sent(messageOf(withSentences(aReportOf(entries), aws), { audience: aws }), 'mail');
    expect(email.split('\n').length).toBeLessThanOrEqual(60);
  });
});

describe('every destination names every index that has a problem', () => {
  /** Different from its first characters on, because a chat may cut long names. */
  const ordinary = (at: number) => `p${at}x.datasetUsageStatistics`;
  const longest = (at: number) => `p${at}x${'e'.repeat(maxNameLength - 5)}.${'a'.repeat(maxNameLength)}`;
  const worst = (name: (at: number) => string, more: object) =>
    Array.from({ length: maxEntries }, (_, at) =>
      anEntry(
        'rows-missing',
        { kind: 'missing', expected: 2_469_134 + at, found: 1_234_567 },
        { name: name(at), indexName: `${'i'.repeat(80)}${at}`, indexNow: `${'j'.repeat(80)}${at}`, ...more },
      ),
    );
  const text = '"\u00e4<&'.repeat(60);

  test.each([
    ['ordinary names', ordinary, {}],
    ['the longest names', longest, {}],
    ['the longest names, and texts', longest, { owner: text, note: text, taskId: text, decidedBy: 'run-x' }],
  ] as const)('the worst report fits every destination, with %s', (_, name, more) => {
    const message = messageOf(withSentences(aReportOf(worst(name, more)), aws), { audience: aws });
    const report = reportSchema.parse(destinations.json.render(message));
    const email = sent(message, 'mail');
    const others = destinationNames.map((to) => [to, sent(message, to)] as const);
    for (const [to, body] of others)
      expect([to, body.length <= destinations[to].limits.characters]).toEqual([to, true]);
    // The first has its next step, whatever else has no room.
    for (const [to, body] of others) expect([to, to === 'json' || /Next: /.test(body)]).toEqual([to, true]);
    for (let at = 0; at < maxEntries; at++) {
      expect(email).toContain(name(at));
      for (const [to, body] of others) expect([to, body.includes(`p${at}x`)]).toEqual([to, true]);
      expect(report.policies[at]).toMatchObject({ outcome: 'rows-missing', entityType: name(at).split('.')[0] });
    }
  });

  test('and names in a chat are cut only where they are too long for all of them', () => {
    const entries = worst(ordinary, {}).slice(0, 30);
    const https = sent(messageOf(withSentences(aReportOf(entries), aws), { audience: aws }), 'slack');
    for (let at = 0; at < 30; at++) expect(https).toContain(ordinary(at));
  });

  test('also those with the same text, and those that a failed run did not examine', () => {
    const paused = Array.from({ length: 30 }, (_, at) =>
      anEntry('not-started', { kind: 'stopped', by: 'paused' }, { name: ordinary(at) }),
    );
    const unexamined = Array.from({ length: 9 }, (_, at) =>
      anEntry('not-started', { kind: 'setup', what: 'run' }, { name: ordinary(at) }),
    );
    for (const facts of [aReportOf(paused), aReportOf(unexamined, { cause: errorCases[0]![1] })]) {
      const message = messageOf(withSentences(facts, aws), { audience: aws });
      for (const to of destinationNames.filter((name) => name !== 'json')) {
        const body = sent(message, to);
        for (let at = 0; at < facts.policies.length; at++)
          expect([to, body]).toEqual([to, expect.stringContaining(ordinary(at))]);
      }
    }
  });
});

test('what another run has decided is said with that run, also among many indices without a problem', () => {
  const fine = (name: string, more = {}) => anEntry('truncated', { kind: 'verified' }, { name, ...more });
  const own = Array.from({ length: 30 }, (_, at) => fine(`dataset.fine${at}`, { method: 'reindex' }));
  const decided = { decidedAt: '2026-08-12T03:40:00.000Z', decidedBy: 'run-x' };
  const others = Array.from({ length: 14 }, (_, at) => fine(`chart.other${at}`, decided));
  const email = sent(messageOf(withSentences(aReportOf([...own, ...others]), aws), { audience: aws }), 'mail');
  for (let at = 0; at < 14; at++) expect(email).toMatch(new RegExp(`^chart\\.other${at}: .*run-x`, 'm'));
});

test.each([
  { method: 'reindex' },
  { rowsMissing: 1 },
  { rowsNotVisible: 1 },
  { indexNow: 'b' },
  { noIndex: true },
] as const)(
  'among many indices with nothing to do, the one that a person should know about has a line of its own: %j',
  (more) => {
    const entry = (name: string, with_ = {}) => anEntry('truncated', { kind: 'verified' }, { name, ...with_ });
    const entries = [entry('a.b', more), ...Array.from({ length: 30 }, (_, at) => entry(`dataset.fine${at}`))];
    const lines = sent(messageOf(withSentences(aReportOf(entries), aws), { audience: aws }), 'mail').split('\n');
    expect(lines.filter((line) => /^(?:a\.b|dataset\.fine\d+): /.test(line))).toEqual([
      expect.stringMatching(/^a\.b: /),
    ]);
  },
);

test('the longest name is whole in every command', () => {
  const name = `${'e'.repeat(maxNameLength)}.${'a'.repeat(maxNameLength)}`;
  const lost = anEntry('rows-missing', { kind: 'missing', expected: 9, found: 1 }, { name });
  const email = sent(messageOf(withSentences(aReportOf([lost]), aws), { audience: aws }), 'mail');
  expect(email).toContain(`{"release":["${name}"]}`);
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

test('what does not fit into a publish is cut from the harmless end, and said; no policy is left out', () => {
  const text = '\u{1f984}"\\'.repeat(600);
  const policies = Array.from({ length: maxEntries }, (_, at) =>
    anEntry(
      'failed',
      {
        kind: 'server',
        sent: 'no',
        error: { kind: 'server-error', operation: 'dry-run', text, host: text, code: text },
      },
      { name: `dataset.index${at}`, note: text, owner: text, taskId: text, indexName: text, indexNow: text },
    ),
  );
  const unmanagedIndices = Array.from({ length: 500 }, (_, at) => ({ indexName: `${text}${at}` }));
  const facts = aReportOf(policies, { unmanagedIndices });
  const message = messageOf(withSentences(facts, aws), { audience: aws });
  const published = snsMessage(message, usual);
  const report = reportSchema.parse(JSON.parse(JSON.parse(published.body).default));
  expect(publishedBytes(published)).toBeLessThan(262_144);
  // No mixture is larger than three times the largest form.
  for (const name of destinationNames)
    expect(publishedBytes(snsMessage(message, { default: name, email: name, https: name }))).toBeLessThan(262_144);
  expect(report.policies.map(({ aspect }) => aspect)).toEqual(policies.map(({ aspect }) => aspect));
  expect(report.notes?.[0]).toMatchObject({ kind: 'shortened', indicesOf: 500 });
});
