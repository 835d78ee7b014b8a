import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Cause, causeSchema } from '../../../../lambda/facts/cause.ts';
import { noteSchema } from '../../../../lambda/facts/note.ts';
import { type Outcome, outcomes, resultOf } from '../../../../lambda/facts/outcomes.ts';
import { entryStep } from '../../../../lambda/notification/next/entry-steps.ts';
import { errorStep, noteStep } from '../../../../lambda/notification/next/run-steps.ts';
import { commandsOf } from '../../../../lambda/notification/next/step.ts';
import { valuesOf } from '../../../support/arbitrary.ts';
import { anEntry, aReport } from '../../../support/reports.ts';
import { context } from '../custom-notification.ts';
import { asksNothing, forgotten, ofEntries, toldElsewhere } from './cases.ts';

/** Next steps by cause: docs/messages.md shows what each says; these tests hold what none of them may do. */

const stepAfter = (outcome: Outcome, cause: Cause, more: object = {}) => {
  const report = aReport([anEntry(outcome, cause, more)]);
  return entryStep([report.policies[0]!], report, context);
};
const dangersOf = (step: ReturnType<typeof stepAfter>) => (step ? commandsOf(step) : []).map(({ danger }) => danger);

test('every cause has a case in docs/messages.md, or a reason why it has none', () => {
  expect(forgotten).toEqual([]);
  const cases = new Set(ofEntries.map(([outcome]) => outcome));
  expect(outcomes.filter((outcome) => resultOf[outcome] !== 'ok' && !cases.has(outcome))).toEqual([]);
});

test.each(toldElsewhere)('$kind $by has no step of its own: its cause is reported first', (cause) => {
  expect(stepAfter('not-started', cause)).toBeUndefined();
});

test.each(outcomes.filter((outcome) => resultOf[outcome] === 'ok'))('%s has no next step', (outcome) => {
  for (const kind of asksNothing) expect(stepAfter(outcome, { kind } as Cause)).toBeUndefined();
});

describe('for every cause', () => {
  test('only a blocked policy is offered a deletion, and no entry that a loss is accepted', () => {
    fc.assert(
      fc.property(valuesOf(causeSchema, fc.string()), fc.constantFrom(...outcomes), (cause, outcome) => {
        const step = stepAfter(outcome, cause);
        if (dangersOf(step).includes('deletes'))
          expect([outcome, cause.kind]).toEqual(['above-ceiling', 'above-ceiling']);
        expect(JSON.stringify(step) ?? '').not.toContain('acceptMissing');
      }),
    );
  });

  test('a command that opens an index comes after one that looks at it', () => {
    fc.assert(
      fc.property(valuesOf(causeSchema, fc.string()), fc.constantFrom(...outcomes), (cause, outcome) => {
        const dangers = dangersOf(stepAfter(outcome, cause));
        if (dangers.some((danger) => danger !== undefined)) expect(dangers[0]).toBeUndefined();
      }),
    );
  });

  test('a loss may be accepted only after clearing was refused', () => {
    fc.assert(
      fc.property(valuesOf(noteSchema, fc.string()), (note) => {
        const step = noteStep(note, context);
        if (JSON.stringify(step)?.includes('acceptMissing')) expect(note.kind).toBe('not-released');
      }),
    );
  });

  test('a failed run never offers a deletion', () => {
    fc.assert(
      fc.property(valuesOf(causeSchema, fc.string()), (cause) => {
        expect(dangersOf(errorStep({ cause, policies: [] }, context)).filter(Boolean)).toEqual([]);
      }),
    );
  });
});

test("a server's words never matter: a query that speaks of a token is not about our token", () => {
  const after = (text: string) =>
    stepAfter('failed', {
      kind: 'server',
      error: { kind: 'server-error', operation: 'dry-run', status: 500, text },
      sent: 'no',
    });
  expect(after("Unrecognized token 'foo'")).toEqual(after('x'));
});
