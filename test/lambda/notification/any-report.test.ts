import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { outcomes } from '../../../lambda/facts/outcomes.ts';
import { type PolicyEntry, type Report, reportSchema } from '../../../lambda/facts/report-schema.ts';
import { composeMessage, messageBody } from '../../../lambda/notification/message.ts';
import { anyText, valuesOf } from '../../support/arbitrary.ts';
import { nightReport } from '../../support/nights/reports.ts';
import { context } from './custom-notification.ts';
import { expectExplained, expectValid } from './what-sns-takes.ts';

/** Any report: with every kind of cause, note and check, and with malicious texts. */

const secret = 'S3cr3tT0kenOfTheStage';
const nasty = fc.constantFrom(
  secret,
  'boom\n\tat com.linkedin.restli.Foo.bar(Foo.java:84)\n\tat com.x.Y.z(Y.java:1)',
  '\u0000\u001b[2J\u202egnp',
  '<!here> & `x` *y*',
  'line\r\nSubject: spoofed',
  'harmless\n  DELETE /_all',
  'a:\n  POST /_delete_by_query',
  '\ud800',
  '\ufffe\uffff',
  "'; rm -rf / #",
  '"}],"x":{"$ref"',
  '{"approveRows": 12} "clear"',
  'POST /_aliases {"a": "}"',
  'the token is expired, see the stack trace',
  'ä漢字🦄'.repeat(400),
  '&'.repeat(3000),
);
const texts = fc.oneof(
  fc.string(),
  anyText(),
  nasty,
  fc.array(nasty, { maxLength: 3 }).map((parts) => parts.join(' ')),
);

const parts = {
  policies: valuesOf(reportSchema.shape.policies.element, texts),
  unmanagedIndices: valuesOf(reportSchema.shape.unmanagedIndices, texts),
  whole: valuesOf(reportSchema.omit({ policies: true, unmanagedIndices: true }), texts),
};

const anyReport: fc.Arbitrary<Report> = fc
  .record({
    whole: parts.whole,
    unmanagedIndices: parts.unmanagedIndices,
    policies: fc.oneof(
      { weight: 4, arbitrary: fc.array(parts.policies, { maxLength: 12 }) },
      { weight: 1, arbitrary: fc.array(parts.policies, { minLength: 60, maxLength: 250 }) },
    ),
  })
  .map(
    ({ whole, policies, unmanagedIndices }) =>
      ({ ...whole, unmanagedIndices, policies: policies.map(named) }) as Report,
  );

/** Unique names, so that a test can check whether a text contains them. */
const named = (entry: PolicyEntry, at: number): PolicyEntry => ({
  ...entry,
  entityType: 'dataset',
  aspect: `policy-${at}-x`,
});
const namesOf = ({ policies }: Report) => policies.map(({ entityType, aspect }) => `${entityType}.${aspect}`);

const troubled = await nightReport('missing/rows-missing-after-a-reindex');

describe('any report at all', () => {
  test('becomes a complete message that SNS takes, with an explanation above every command', () => {
    fc.assert(
      fc.property(anyReport, (report) => {
        const message = composeMessage(report, { ...context, secrets: [secret] });
        expectValid(message, namesOf(report));
        const all = [message.subject, messageBody(message), JSON.stringify(message.attributes)].join('\n');
        expect(all).not.toContain(secret);
        expect(all).not.toMatch(/(\n|\\n)(\t|\\t)at com\./);
      }),
      { numRuns: 20, endOnFailure: true },
    );
  });

  test('becomes the same for the local runner, with its own command lines', () => {
    const local = {
      local: true,
      localCommand: { program: 'npm start --', options: '', policies: 'p.json' },
      secrets: [secret],
    };
    fc.assert(
      fc.property(anyReport, (report) => {
        const { email } = composeMessage(report, local);
        expectExplained(email);
        expect(email).not.toMatch(/^ {2}aws /m);
      }),
      { numRuns: 20, endOnFailure: true },
    );
  });

  test('of a preview in which something failed offers nothing that enforces', () => {
    fc.assert(
      fc.property(anyReport, (report) => {
        const { email, https } = composeMessage({ ...report, mode: 'preview', result: 'failed' }, context);
        const { description } = JSON.parse(https).content;
        expect(email).not.toMatch(/^ {2}.*"mode":"enforce"/m);
        expect(description).not.toMatch(/^```.*"mode":"enforce"/m);
      }),
      { numRuns: 20, endOnFailure: true },
    );
  });

  test('stays valid when its names are nasty', () => {
    fc.assert(
      fc.property(texts, texts, fc.constantFrom(...outcomes), (entityType, aspect, outcome) => {
        const [first] = troubled.policies;
        const report: Report = { ...troubled, stage: aspect, policies: [{ ...first!, entityType, aspect, outcome }] };
        const message = composeMessage(report, { ...context, secrets: [secret] });
        expectExplained(message.email);
        expect(message.subject).toMatch(/^[\x21-\x7e][\x20-\x7e]{0,98}$/);
        expect(reportSchema.safeParse(JSON.parse(message.default)).success).toBe(true);
        expect(messageBody(message)).not.toContain(secret);
      }),
      { numRuns: 50, endOnFailure: true },
    );
  });
});
