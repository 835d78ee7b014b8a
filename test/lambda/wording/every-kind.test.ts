import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Cause, causeKinds, causeSchema } from '../../../lambda/facts/cause.ts';
import { checkNames, checkSchema } from '../../../lambda/facts/check.ts';
import { type Note, noteKinds, noteSchema } from '../../../lambda/facts/note.ts';
import { outcomes } from '../../../lambda/facts/outcomes.ts';
import type { DecidedFacts } from '../../../lambda/facts/report-schema.ts';
import { type ServerError, serverErrorKinds, serverErrorSchema } from '../../../lambda/facts/server-error.ts';
import { causeText } from '../../../lambda/wording/causes.ts';
import { checkWords } from '../../../lambda/wording/checks.ts';
import { errorText } from '../../../lambda/wording/errors.ts';
import { noteText } from '../../../lambda/wording/notes.ts';
import { outcomeWords } from '../../../lambda/wording/outcome-words.ts';
import { recovery, recoveryOfNote } from '../../../lambda/wording/recovery.ts';
import { errorInShort, sentence } from '../../../lambda/wording/sentences.ts';
import { worded } from '../../../lambda/wording/worded.ts';
import { membersOf, valuesOf } from '../../support/arbitrary.ts';
import { aReportOf } from '../../support/reports.ts';

/** Every kind of fact has a wording, whichever of its fields are present. */

const words = fc.constantFrom('dataset_operationaspect_v1_1693050512123', 'dataset.operation', 'run-1', 'said-so', 'a');
const now = 1_772_335_800_000;

/** Expects a text without what none of our sentences contains. */
function expectEnglish(text: string): void {
  expect(text).toMatch(/\w/);
  expect(text).not.toMatch(/undefined|null|NaN|\[object|Invalid/);
  expect(text).not.toMatch(/(?<!\.)\.\.(?!\.)|\s\.|,,|;;|\(\)|: ?\.|;\s*\.|\s{2}/);
  expect(text).not.toMatch(/^\s|\s$/);
}

const facts = (cause: Cause, outcome: DecidedFacts['outcome'], more: Partial<DecidedFacts> = {}): DecidedFacts => ({
  entityType: 'dataset',
  aspect: 'operation',
  ...more,
  outcome,
  cause,
});

/** The numbers that an entry may have, or none. */
const figures = fc.record(
  {
    retentionDays: fc.constantFrom(30, 365),
    strategy: fc.constantFrom('delete-by-query', 'reindex', 'unknown'),
    rowsTotal: fc.nat(),
    rowsToDelete: fc.nat(),
    rowsDeleted: fc.nat(),
    rowsRemaining: fc.nat(),
    rowsMissing: fc.nat(),
    durationSeconds: fc.nat(),
    sizeBeforeMb: fc.double({ min: 0, max: 1e9, noNaN: true }),
    indexName: fc.constant('dataset_operationaspect_v1_1772335860000'),
    cutoffMillis: fc.constant(now),
    adopted: fc.boolean(),
  },
  { requiredKeys: [] },
);

describe('a cause', () => {
  const members = membersOf(causeSchema);

  test('is of one of the kinds that the schema has', () => {
    expect([...members.keys()]).toEqual(causeKinds);
  });

  test.each(causeKinds)('of kind %s has a sentence beside every outcome', (kind) => {
    const causes = valuesOf(members.get(kind)!, words);
    fc.assert(
      fc.property(causes, fc.constantFrom(...outcomes), figures, (cause, outcome, more) => {
        const entry = facts(cause, outcome, more);
        expectEnglish(causeText(entry));
        expectEnglish(causeText(entry, 'without-remedy'));
        expectEnglish(sentence(entry));
        expect(errorInShort(cause)).not.toMatch(/undefined/);
        for (const { say, line } of recovery(entry, now)) {
          expectEnglish(`${say}.`);
          expect(say).not.toMatch(/[.:]$/);
          expect(line ?? 'GET /x').toMatch(/^(GET|POST|PUT) \/?\S+( \{.*\})?$/);
        }
        const [told] = worded(aReportOf([entry])).policies;
        expectEnglish(told!.reason);
      }),
      { numRuns: 60 },
    );
  });

  test.each(outcomes)('of a later version has the words of the outcome %s', (outcome) => {
    const later = { kind: 'of-a-later-version', rows: 5 } as unknown as Cause;
    const text = causeText(facts(later, outcome));
    expectEnglish(text);
    expectEnglish(sentence(facts(later, outcome)));
    expect(text).not.toContain('later-version');
  });

  test('of a later version with an outcome of a later version has words, too', () => {
    const later = facts({ kind: 'x' } as unknown as Cause, 'y' as unknown as DecidedFacts['outcome']);
    expectEnglish(causeText(later));
  });
});

describe('an outcome', () => {
  test('has a sentence of its own', () => {
    const sentences = outcomes.map((outcome) =>
      sentence(facts({ kind: 'of-a-later-version' } as unknown as Cause, outcome)),
    );
    expect(new Set(sentences).size).toBe(outcomes.length);
  });

  test.each(outcomes)('%s has words for many', (outcome) => {
    expectEnglish(`3 ${outcomeWords[outcome]}`);
    expectEnglish(`3 indices ${outcomeWords[outcome]}`);
  });
});

describe('a note', () => {
  const members = membersOf(noteSchema);

  test.each(noteKinds)('of kind %s is one sentence or two, with capital and full stop', (kind) => {
    fc.assert(
      fc.property(valuesOf(members.get(kind)!, words), (note) => {
        const text = noteText(note);
        expectEnglish(text);
        expect(text).toMatch(/^([A-Z]|\d|dataset|run|said|a\b).*\.$/);
        for (const { say } of recoveryOfNote(note, now)) expectEnglish(`${say}.`);
      }),
      { numRuns: 60 },
    );
  });

  test('of a later version says that it is one', () => {
    expectEnglish(noteText({ kind: 'of-a-later-version' } as unknown as Note));
  });
});

describe('a check of the preflight', () => {
  const findings = membersOf(checkSchema.shape.cause);

  test.each([...findings.keys()])('that found %s has its words on Lambda and on a machine', (kind) => {
    fc.assert(
      fc.property(
        valuesOf(findings.get(kind)!, words),
        fc.constantFrom(...checkNames),
        fc.constantFrom('ok' as const, 'note' as const, 'failed' as const),
        fc.constantFrom('lambda' as const, 'machine' as const),
        (cause, name, state, place) => {
          const { text, remedy = 'Do it.' } = checkWords({ name, state, cause }, place, now);
          expectEnglish(text);
          expectEnglish(remedy);
          expect(remedy).toMatch(/^[A-Z].*[.?]$/);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('with a finding of a later version says so', () => {
    const cause = { kind: 'of-a-later-version' } as never;
    expectEnglish(checkWords({ name: 'Clock', state: 'note', cause }, 'lambda', now).text);
  });
});

describe('a failed request', () => {
  test.each(serverErrorKinds)('of kind %s says what was asked and what came back', (kind) => {
    fc.assert(
      fc.property(valuesOf(serverErrorSchema, words), (given) => {
        const error: ServerError = { ...given, kind };
        expectEnglish(errorText(error));
        expect(errorText(error)).toMatch(/^(Dry run|Truncation request|Task status|Index sizes): /);
      }),
      { numRuns: 60 },
    );
  });
});
