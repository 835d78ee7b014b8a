import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Cause } from '../../../lambda/facts/cause.ts';
import { maxEntries, maxPolicies, maxTextBytes } from '../../../lambda/facts/limits.ts';
import type { Note } from '../../../lambda/facts/note.ts';
import type { Outcome } from '../../../lambda/facts/outcomes.ts';
import { type DecidedFacts, type ReportFacts, reportSchema } from '../../../lambda/facts/report-schema.ts';
import { composeMessage } from '../../../lambda/notification/message.ts';
import { worded } from '../../../lambda/wording/worded.ts';
import { valuesOf } from '../../support/arbitrary.ts';
import { context } from './custom-notification.ts';
import { expectValid } from './what-sns-takes.ts';

/** The most that a run can have to report: as many entries as it can carry, each with the most to do about it. */

const text = 'x'.repeat(maxTextBytes);
const numbered = (length: number, at: number) => `${'a'.repeat(length - 2)}${String(at).padStart(2, '0')}`;
/** The search engines allow names of 255 bytes. */
const physical = (at: number, made: number) => `${numbered(255 - 23, at)}aspect_v1_${made}`;
const old = (at: number) => physical(at, 1_772_335_800_000);
const young = (at: number) => physical(at, 1_772_422_200_000);
/** The longest name in DataHub; longer ones are shortened when they are shown. */
const nameOf = (at: number) => `${numbered(27, at)}.${numbered(27, at)}`;
const many = <Value>(count: number, make: (at: number) => Value): Value[] =>
  Array.from({ length: count }, (_, at) => make(at));
const deadline = Date.UTC(2026, 4, 28);
const error = { kind: 'server-error', operation: 'dry-run', status: 500, host: 'h'.repeat(253), tries: 4 } as const;

const entry = (at: number, outcome: Outcome, cause: Cause): DecidedFacts => ({
  entityType: numbered(27, at),
  aspect: numbered(27, at),
  retentionDays: 5000,
  cutoffMillis: 1_700_000_000_000,
  strategy: 'reindex',
  rowsTotal: 10 ** 12,
  rowsToDelete: 10 ** 11 + at,
  rowsDeleted: 10 ** 11 + at,
  rowsRemaining: 10 ** 6,
  rowsMissing: 100 + at,
  rowsPerDay: 123_456_789,
  mbPerDay: 123_456,
  indexName: young(at),
  ...(at < maxPolicies ? { owner: 'o'.repeat(80), note: 'n'.repeat(200) } : { adopted: true }),
  outcome,
  cause,
});

const facts = (policies: DecidedFacts[], notes: Note[] = []): ReportFacts => ({
  version: 1,
  runId: 'r'.repeat(80),
  stage: 'prod',
  server: `https://${'h'.repeat(240)}`,
  mode: 'enforce',
  startedAt: '2026-03-01T03:30:00.000Z',
  finishedAt: '2026-03-01T04:30:00.000Z',
  result: 'failed',
  notes,
  policies,
  unmanagedIndices: many(20, (at) => ({ indexName: old(at), sizeMb: 123_456 + at, mbPerDay: 123_456 })),
});

const moved = (at: number) => ({ rowsIn: old(at), indexNow: young(at), deadline });
const all = (outcome: Outcome, cause: (at: number) => Cause) =>
  facts(many(maxEntries, (at) => entry(at, outcome, cause(at))));
/** As many indices as one execution may clear. */
const cleared = (note: (at: number) => Note) => facts([], many(50, note));

const runs: [string, ReportFacts][] = [
  [
    'reindexed, each with rows in its old index',
    all('truncated', (at) => ({ kind: 'verified', by: 'proof', stragglersIn: old(at) })),
  ],
  [
    'missing rows',
    all('rows-missing', (at) => ({ kind: 'missing', expected: 10 ** 12, found: at, movedBy: 'us', ...moved(at) })),
  ],
  [
    'quarantined',
    all('quarantined', (at) => ({ kind: 'quarantined', since: at, outcome: 'rows-missing', ...moved(at) })),
  ],
  [
    'uncountable',
    all('unknown', (at) => ({
      kind: 'unsettled',
      why: 'uncountable',
      copied: true,
      error: { ...error, text: `${at}${text}` },
      indexBefore: old(at),
      indexNow: young(at),
      movedBy: 'others',
    })),
  ],
  [
    'failed',
    all('failed', (at) => ({ kind: 'server', error: { ...error, text: `${at}${text}` }, sent: 'maybe', meant: text })),
  ],
  [
    'watched, and as many more are in quarantine',
    facts(
      many(maxEntries, (at) => entry(at, 'still-running', { kind: 'watching', why: 'run' })),
      [{ kind: 'beyond', entries: maxEntries, quarantined: many(maxEntries, nameOf) }],
    ),
  ],
  ['above their ceiling', all('above-ceiling', (at) => ({ kind: 'above-ceiling', approveRows: 10 ** 12 + at }))],
  [
    'refused to be cleared',
    cleared((at) => ({
      kind: 'not-released',
      index: nameOf(at),
      why: 'rows-missing',
      rowsMissing: 10 ** 12,
      ...moved(at),
    })),
  ],
  [
    'cleared',
    cleared((at) => ({ kind: 'released', index: nameOf(at), rowsMissing: 10 ** 12, rowsIn: old(at), running: true })),
  ],
];

/** The shortest form of an email names every index whose clearing was refused, and says everything about three of them. */
const longestMail = 32_000;

function expectWithinMeasure(report: ReportFacts): void {
  const message = composeMessage(worded(report), context);
  expect(message.email.length).toBeLessThanOrEqual(longestMail);
  expectValid(
    message,
    report.policies.map(({ entityType, aspect }) => `${entityType}.${aspect}`),
  );
}

describe('every list of a message is limited', () => {
  test.each(runs)('where all indices are %s', (_, report) => {
    expectWithinMeasure(report);
  });

  test('with any 64 policies', () => {
    const texts = fc.oneof(fc.constant(text), fc.nat(99).map(old), fc.nat(99).map(young));
    const any = fc.array(valuesOf(reportSchema.shape.policies.element, texts), {
      minLength: maxEntries,
      maxLength: maxEntries,
    });
    fc.assert(
      fc.property(any, (policies) => {
        const named = policies.map((policy, at) => ({ ...policy, ...entry(at, policy.outcome, policy.cause) }));
        expectWithinMeasure(facts(named));
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });
});

test('an index that is not released is named even if its details do not fit', () => {
  const [, report] = runs.find(([what]) => what === 'refused to be cleared')!;
  const { email } = composeMessage(worded(report), context);
  const named = [...email.matchAll(/^- Not released: (\S+),/gm)].map(([, name]) => name);
  expect(named).toEqual(many(50, nameOf));
  expect(email.match(/^ {2}POST \/_aliases /gm)).toHaveLength(3);
  expect(email).toContain('What to do about the last 47 is the same, with their own names.');
});

test('an index that was copied is named even if its details do not fit', () => {
  const [, report] = runs[0]!;
  const { email } = composeMessage(worded(report), context);
  const section = /^AFTER A REINDEX$([\s\S]*?)\n\n/m.exec(email)![1]!;
  expect(section.match(/^ {2}POST \/_reindex/gm)).toHaveLength(8);
  const [, others] = /^- (.*): the same, with their own names\.$/m.exec(section)!;
  expect(others!.split(', ')).toEqual(many(maxEntries, nameOf).slice(8));
});
