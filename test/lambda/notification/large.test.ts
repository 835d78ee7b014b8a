import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Cause } from '../../../lambda/facts/cause.ts';
import type { Outcome } from '../../../lambda/facts/outcomes.ts';
import type { Report } from '../../../lambda/facts/report-schema.ts';
import { safeJson } from '../../../lambda/facts/text.ts';
import { composeMessage, maxPublishedBytes, publishedBytes } from '../../../lambda/notification/message.ts';
import { anEntry, aReport } from '../../support/reports.ts';
import { context } from './custom-notification.ts';
import { expectValid } from './what-sns-takes.ts';

/** Runs with so much to report that it has to be grouped or shortened. */

/** In the order of an email, the worst first; what is in order comes after all of these. */
const problems: [Outcome, Cause][] = [
  ['rows-missing', { kind: 'missing', expected: 2000, found: 900 }],
  ['unknown', { kind: 'unsettled', why: 'status', copied: true }],
  ['failed', { kind: 'policy', problem: 'retentionDays is missing' }],
  ['above-ceiling', { kind: 'above-ceiling', maxDeletePercent: 40, approveRows: 1_260_036 }],
];
const fine: [Outcome, Cause][] = [
  ['truncated', { kind: 'verified', by: 'counts' }],
  ['below-threshold', { kind: 'below-threshold', minDeletePercent: 10 }],
  ['nothing-to-delete', { kind: 'nothing-to-delete' }],
];

const largeReport = (most: number): fc.Arbitrary<Report> =>
  fc
    .array(fc.constantFrom(...problems, ...fine), { minLength: 49, maxLength: most })
    .map((drawn) => aReport(drawn.map(([outcome, cause], at) => anEntry(outcome, cause, { name: `dataset.a${at}x` }))));

const namesOf = ({ policies }: Report) => policies.map(({ entityType, aspect }) => `${entityType}.${aspect}`);

test('a large report is a message within every limit, which names or counts each policy', () => {
  fc.assert(
    fc.property(largeReport(250), (report) => {
      const message = composeMessage(report, context);
      expect(message.email.length).toBeLessThanOrEqual(24_000);
      expectValid(message, namesOf(report));
    }),
    { numRuns: 10, endOnFailure: true },
  );
});

test('a large email names the worst indices first, and those in order last', () => {
  const ranks = new Map([...problems, ...fine].map(([outcome], at) => [outcome, Math.min(at, problems.length)]));
  fc.assert(
    fc.property(largeReport(120), (report) => {
      const outcomeOf = new Map(report.policies.map(({ aspect, outcome }) => [aspect, outcome]));
      const { email } = composeMessage(report, context);
      const named = [...email.matchAll(/^(?:- )?dataset\.(a\d+x)(?:, dataset\.a\d+x)*(?: and \d+ more)?:/gm)];
      const told = named.map(([, aspect]) => ranks.get(outcomeOf.get(aspect!)!)!);
      expect(told.length).toBeGreaterThan(0);
      expect(told).toEqual([...told].sort((one, other) => one - other));
    }),
    { numRuns: 20, endOnFailure: true },
  );
});

test('a report is shortened for machines if SNS would refuse it, and only then, and says so in its first note', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 49, max: 250 }), (length, count) => {
      const cause: Cause = { kind: 'policy', problem: 'x'.repeat(length) };
      const entries = Array.from({ length: count }, (_, at) => anEntry('failed', cause, { name: `dataset.a${at}x` }));
      const report = aReport(entries);
      const message = composeMessage(report, context);
      const whole = safeJson(report);
      const isRefused = publishedBytes({ ...message, default: whole }) > maxPublishedBytes;
      if (!isRefused) expect(message.default).toBe(whole);
      else expect((JSON.parse(message.default) as Report).notes?.[0]).toMatchObject({ kind: 'shortened', of: count });
    }),
    { numRuns: 10, endOnFailure: true },
  );
});
