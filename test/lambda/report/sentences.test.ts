import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type Cause, causeSchema } from '../../../lambda/model/cause.ts';
import { methodSchema } from '../../../lambda/model/method.ts';
import { type Note, noteSchema } from '../../../lambda/model/note.ts';
import { dueOf, outcomes } from '../../../lambda/model/outcomes.ts';
import { comparedFields } from '../../../lambda/model/policy-fields.ts';
import { type DecidedIndex, entryFields, maxUnmanaged } from '../../../lambda/model/report-schema.ts';
import { serverErrorKinds } from '../../../lambda/model/server-error.ts';
import { mail } from '../../../lambda/report/destinations/mail.ts';
import { itemsOf, urgencyOf } from '../../../lambda/report/items.ts';
import { messageOf } from '../../../lambda/report/message.ts';
import { showTask } from '../../../lambda/report/sentences/commands.ts';
import { type Sentences, titles } from '../../../lambda/report/sentences/phrases.ts';
import {
  contextOf,
  sentencesOf,
  sentencesOfError,
  sentencesOfNote,
  withSentences,
} from '../../../lambda/report/sentences/sentences.ts';
import { diagnosis, errorSentences } from '../../../lambda/report/sentences/server-errors.ts';
import { holds } from '../../properties.ts';
import { anyText, fieldsOf, membersOf, valuesOf } from '../../support/arbitrary.ts';
import { anEntry, aReport, aReportOf } from '../../support/reports.ts';
import { audiences, aws, entryCases, errorCases, noteCases } from './cases.ts';

/**
 * Every kind has sentences that every form can show, whatever its facts are, and what they offer to type depends on the
 * situation. The wording itself is frozen in golden/.
 */

const entryOf = valuesOf(z.object(entryFields), anyText({ maxLength: 40 }));
const context = contextOf(aReportOf([]), aws);
const said = (...[outcome, cause, more]: Parameters<typeof anEntry>): Sentences =>
  sentencesOf(anEntry(outcome, cause, more), context);
const named = (name: string): Sentences => {
  const [, outcome, cause, more] = entryCases.find(([known]) => known === name)!;
  return said(outcome, cause, more);
};

function expectShort({ subject = '', what, why = '', next = '', act, inspect, instead }: Sentences): void {
  expect(subject.length).toBeLessThan(260);
  expect(what).not.toMatch(/^$|\.$|undefined|NaN|\[object/);
  expect(why).not.toMatch(/undefined|NaN|\[object/);
  expect(next).not.toMatch(/undefined|NaN/);
  if (next !== '') expect(next).toMatch(/[.!?]$/);
  expect(inspect?.deletes).toBeFalsy();
  expect(inspect?.line ?? '').not.toMatch(/^(POST|PUT|DELETE)|enforce/);
  for (const command of [inspect, act, instead]) if (command) expect(command.say).toMatch(/^[A-Z].*[^.:]$/);
}

test('every outcome has a case, so that its wording is frozen', () => {
  const outcomesShown = entryCases.map(([, outcome]) => outcome);
  expect(outcomes.filter((outcome) => !outcomesShown.includes(outcome))).toEqual([]);
});

/** Lists that have sentences of their own. */
const listed: readonly unknown[] = [...comparedFields, ...outcomes, ...methodSchema.options];
/** What a task's status says is worded in one place for every verdict. */
const counters = ['conflicts', 'done', 'total', 'cancelled', 'runs'];

test('every field of each variant of causes and notes, and every word of ours, is in a case: its wording is frozen', () => {
  const facts: object[] = [...entryCases.map(([, , cause]) => cause), ...errorCases.map(([, cause]) => cause)];
  facts.push(...noteCases.map(([, note]) => note));
  const missing = [...membersOf<Cause | Note>(causeSchema), ...membersOf<Cause | Note>(noteSchema)].flatMap(
    ([kind, member]) => {
      const cases = facts.filter((fact) => member.safeParse(fact).success);
      return fieldsOf(member).flatMap(([field, words]) => {
        const among = counters.includes(field) ? facts : cases;
        const values = among
          .flatMap((fact) => Object.entries(fact))
          .flatMap(([name, value]) => (name === field ? [value] : []));
        const unsaid = words.filter((word) => !listed.includes(word) && !values.includes(word));
        return values.length === 0 ? [`${kind}: ${field}`] : unsaid.map((word) => `${kind}: ${field} ${word}`);
      });
    },
  );
  expect(missing).toEqual([]);
});

test('every case is read back as it was written', () => {
  const causesShown = [...entryCases.map(([, , cause]) => cause), ...errorCases.map(([, cause]) => cause)];
  expect(causesShown.map((cause) => causeSchema.parse(cause))).toEqual(causesShown);
  expect(noteCases.map(([, note]) => noteSchema.parse(note))).toEqual(noteCases.map(([, note]) => note));
});

describe.each(audiences)('for an audience on $kind', (audience) => {
  test.each(membersOf(causeSchema))('a cause of kind %s has sentences, whatever its facts are', (_, member) => {
    const facts = fc.record({
      cause: valuesOf(member, anyText({ maxLength: 40 })),
      entry: entryOf,
      outcome: fc.constantFrom(...outcomes),
    });
    holds(
      fc.property(facts, ({ cause, entry, outcome }) => {
        const decided = { ...entry, outcome, cause: cause as Cause };
        expectShort(sentencesOf(decided, contextOf(aReportOf([decided]), audience)));
      }),
      40,
    );
  });

  test.each(membersOf(noteSchema))('a note of kind %s has sentences, whatever its facts are', (_, member) => {
    holds(
      fc.property(valuesOf(member, anyText({ maxLength: 40 })), (note) => {
        expectShort(sentencesOfNote(note as Note, contextOf(aReportOf([]), audience)));
      }),
      40,
    );
  });
});

test('an error of the server quotes its words short, on one line', () => {
  const text = `first line\n\tat com.linkedin.Foo(Foo.java:1)\n${'x'.repeat(4000)}`;
  for (const kind of serverErrorKinds) {
    const whole = diagnosis({ kind, operation: 'dry-run', status: 500, text });
    expect(whole).not.toContain('\n');
    expect(whole.length).toBeLessThan(420);
    expect(errorSentences({ kind, operation: 'dry-run' }).brief).toMatch(/^.{3,25}$/);
  }
});

test.each(entryCases)('%s: no line says its outcome twice, and no private word is in it', (_, outcome, cause, more) => {
  const { what, why = '', next = '' } = said(outcome, cause, more);
  expect(what.toLowerCase()).not.toContain(titles[outcome].toLowerCase());
  expect(`${what} ${why} ${next}`).not.toMatch(/\b(?:cop(?:y|ies|ied|ying)|told|untold|bite|adopted|judge[sd]?)\b/i);
});

describe('what is offered to type fits the situation', () => {
  test.each([
    ['this run has found', 'rows-missing', { kind: 'missing', expected: 40, found: 1 }],
    [
      'an earlier run has found',
      'quarantined',
      { kind: 'quarantined', since: 1, outcome: 'rows-missing', rowsMissing: 39 },
    ],
    [
      'is there today',
      'quarantined',
      { kind: 'quarantined', since: 1, outcome: 'unknown', today: { expected: 9, found: 1, inPlace: true } },
    ],
  ] as const)(
    'no command that deletes or resumes, for any index, while there is a loss that %s',
    (_, outcome, cause) => {
      const ceiling = anEntry('above-ceiling', { kind: 'above-ceiling', approveRows: 100 });
      const paused = anEntry('not-started', { kind: 'stopped', by: 'paused' });
      const lost = anEntry(outcome, cause, { name: 'dataset.lost' });
      for (const entry of [ceiling, paused]) {
        expect(sentencesOf(entry, contextOf(aReportOf([entry]), aws)).act).toBeDefined();
        expect(sentencesOf(entry, contextOf(aReportOf([entry, lost]), aws)).act).toBeUndefined();
      }
    },
  );

  test('a preview of a change offers no command that takes the live policies: they may not have the index', () => {
    const ceiling = anEntry('above-ceiling', { kind: 'above-ceiling', approveRows: 100 });
    const change = aReportOf([ceiling], { notes: [{ kind: 'change', policies: 1, unread: 0 }] });
    const { inspect, act } = sentencesOf(ceiling, contextOf(change, aws));
    expect([inspect, act]).toEqual([undefined, undefined]);
    expect(sentencesOfNote({ kind: 'paused' }, contextOf(change, aws)).why).toMatch(/otherwise resume the job\.$/);
  });

  test('of several indices in one item, a command that looks at one task says whose it is', () => {
    const left = (name: string) =>
      anEntry('incomplete', { kind: 'remains', runs: true }, { name: `dataset.${name}`, taskId: `${name}:1` });
    const [item] = itemsOf(aReport([left('operation'), left('datasetProfile')]), context).problems;
    expect(item?.sentences.inspect?.say).toBe('See what its task is doing, for dataset.operation');
  });

  test('a preview asks for a release only once that is accepted', () => {
    expect(named('a preview verifies nothing')).toMatchObject({ urgency: 'week', instead: undefined });
  });

  test('what asks for nothing offers no command that changes anything', () => {
    for (const [, outcome, cause, more] of entryCases) {
      const { urgency, act, subject } = said(outcome, cause, more);
      if (urgency === 'nothing' && act) expect(subject).toBe('paused');
    }
  });

  test('placeholders that are known are filled in', () => {
    const entries = entryCases.map(([, outcome, cause, more]) => said(outcome, cause, more));
    const errors = errorCases.map(([, cause]) => sentencesOfError(cause, context));
    const ofNotes = noteCases.map(([, note]) => sentencesOfNote(note, context));
    expect(JSON.stringify([...entries, ...errors, ...ofNotes])).not.toMatch(/<[a-zA-Z]+>|STAGE|PREFIX/);
  });

  test.each([
    ['an id of the search engine', 'node-1:4711', 'GET _tasks/node-1:4711'],
    ['no id', undefined, 'GET _tasks?actions=*byquery,*reindex&detailed'],
    ['a UUID, which no search engine knows', '3f0c1d9e-8a55-4f0e-9a3e-0c6c5b1f2d77', undefined],
  ])('a truncation with %s is shown where it can be', (_, taskId, line) => {
    expect(showTask(anEntry('incomplete', { kind: 'remains' }, { taskId }))?.line).toBe(line);
  });

  test.each(['ended, not verified yet', 'task vanished'])(
    'no task is asked for that is known to be gone: %s',
    (name) => {
      expect(named(name).inspect?.line ?? '').not.toContain('GET _tasks/');
    },
  );
});

test('what passes by itself is for this week where nothing else was decided, unless someone wants it so', () => {
  const fine = anEntry('truncated', { kind: 'verified' });
  const passing = entryCases.filter(([, ...entry]) => said(...entry).urgency === 'nothing');
  const urgency = (...entries: DecidedIndex[]) => urgencyOf(itemsOf(aReport(entries), context).problems);
  const harmless = (beside: DecidedIndex[]) =>
    passing.filter(([, ...entry]) => urgency(anEntry(...entry), ...beside) === 'nothing');
  expect(harmless([fine])).toEqual(passing);
  expect(harmless([]).flatMap(([name, outcome]) => (dueOf[outcome] === 'in vain' ? name : []))).toEqual([
    ...['no end seen', 'released meanwhile', 'superseded', 'already sent'],
    ...['paused', 'just released', 'policy changed', 'policy removed'],
  ]);
});

test('of several indices in one item, three owners and one note are named; those that deleted something come first', () => {
  const each = ['a', 'b', 'c', 'd'].map((text) =>
    anEntry('failed', { kind: 'gone', what: 'deleted' }, { name: `dataset.${text}`, owner: text, note: text }),
  );
  const fine = [anEntry('nothing-to-delete', { kind: 'not-due' }), anEntry('truncated', { kind: 'verified' })];
  const items = itemsOf(aReport([...each, ...fine]), context);
  expect(items.problems.map(({ owner }) => owner)).toEqual(['Owner: a, b, c. Note: a.']);
  expect(items.fine.map(({ outcome }) => outcome)).toEqual(['truncated', 'nothing-to-delete']);
});

test('a text for people that is empty is not shown', () => {
  const entry = anEntry('failed', { kind: 'gone', what: 'deleted' }, { owner: '' });
  expect(itemsOf(aReport([entry]), context).problems[0]?.owner).toBe('');
});

test('--timeout is named where it would help: on a machine, and not for a truncation', () => {
  const error = { kind: 'timeout', operation: 'dry-run', seconds: 60 } as const;
  expect(errorSentences(error).next).toMatchObject({
    aws: expect.not.stringContaining('--timeout'),
    machine: expect.stringMatching(/--timeout SECONDS waits longer$/),
  });
  expect(errorSentences({ ...error, operation: 'truncate' }).next).not.toContain('--timeout');
});

test.each([
  [maxUnmanaged - 1, 'Without a policy: 19 indices'],
  [maxUnmanaged, 'Without a policy: at least 20 indices'],
])('%i indices without a policy in a report, which lists no more than twenty: %s', (length, sentence) => {
  const unmanagedIndices = Array.from({ length }, (_, at) => ({ indexName: `index-${at}` }));
  const report = withSentences(aReportOf([], { unmanagedIndices }), aws);
  expect(mail.render(messageOf(report, { audience: aws }))).toContain(sentence);
});
