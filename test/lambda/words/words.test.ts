import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type Cause, causeKinds, causeSchema } from '../../../lambda/facts/cause.ts';
import { type Note, noteKinds, noteSchema } from '../../../lambda/facts/note.ts';
import { outcomes } from '../../../lambda/facts/outcomes.ts';
import { entryFields } from '../../../lambda/facts/report-schema.ts';
import { serverErrorKinds } from '../../../lambda/facts/server-error.ts';
import { causes } from '../../../lambda/words/causes.ts';
import { notes } from '../../../lambda/words/notes.ts';
import { lookAtTask } from '../../../lambda/words/parts.ts';
import { diagnosis, errorWords, serverErrors } from '../../../lambda/words/server-errors.ts';
import type { Words } from '../../../lambda/words/table.ts';
import { noteWordsOf, placeOf, wordsOf } from '../../../lambda/words/words.ts';
import { anyText, membersOf, valuesOf } from '../../support/arbitrary.ts';
import { anEntry, aReportOf } from '../../support/reports.ts';
import { aws, entryCases, errorCases, noteCases, readers } from '../message/cases.ts';

/** The tables as tables: every kind once, and whatever the facts are, words that every form can show. */

const runs = { numRuns: 40, seed: 1386185643 } as const;
const entryOf = valuesOf(z.object(entryFields), anyText({ maxLength: 40 }));

function expectShort({ subject, what, why, next = '', act, look }: Words): void {
  expect(subject.length).toBeLessThan(260);
  expect(what).not.toMatch(/^$|\.$|undefined|NaN|\[object/);
  expect(why).not.toMatch(/undefined|NaN|\[object/);
  expect(next).not.toMatch(/undefined|NaN/);
  if (next !== '') expect(next).toMatch(/[.!?]$/);
  expect(look?.deletes).toBeFalsy();
  expect(look?.line ?? '').not.toMatch(/^(POST|PUT|DELETE)|enforce/);
  for (const command of [look, act]) if (command) expect(command.say).toMatch(/^[A-Z].*[^.:]$/);
}

test('every kind of cause and note is shown in docs/messages.md', () => {
  const causesShown = [...entryCases.map(([, , cause]) => cause.kind), ...errorCases.map(([, cause]) => cause.kind)];
  // It only points at what the run itself says.
  expect(causeKinds.filter((kind) => !causesShown.includes(kind))).toEqual(['run-error']);
  const notesShown = noteCases.map(([, note]) => note.kind);
  expect(noteKinds.filter((kind) => !notesShown.includes(kind))).toEqual([]);
});

test('every kind of cause, note and server error has its entry', () => {
  expect(Object.keys(causes).sort()).toEqual([...causeKinds].sort());
  expect(Object.keys(notes).sort()).toEqual([...noteKinds].sort());
  expect(Object.keys(serverErrors).sort()).toEqual([...serverErrorKinds].sort());
});

describe.each(readers)('for a reader on $kind', (reader) => {
  test.each([...membersOf(causeSchema)])('a cause of kind %s has words, whatever its facts are', (_, member) => {
    const facts = fc.record({
      cause: valuesOf(member, anyText({ maxLength: 40 })),
      entry: entryOf,
      outcome: fc.constantFrom(...outcomes),
      mode: fc.constantFrom('enforce' as const, 'preview' as const),
    });
    fc.assert(
      fc.property(facts, ({ cause, entry, outcome, mode }) => {
        const decided = { ...entry, outcome, cause: cause as Cause };
        expectShort(wordsOf(decided, placeOf({ runId: 'run-1', mode, policies: [decided] }, reader)));
      }),
      runs,
    );
  });

  test.each([...membersOf(noteSchema)])('a note of kind %s has words, whatever its facts are', (_, member) => {
    fc.assert(
      fc.property(valuesOf(member, anyText({ maxLength: 40 })), (note) => {
        expectShort(noteWordsOf(note as Note, reader));
      }),
      runs,
    );
  });
});

test('an error of the server quotes its words short, on one line', () => {
  const text = `first line\n\tat com.linkedin.Foo(Foo.java:1)\n${'x'.repeat(4000)}`;
  for (const kind of serverErrorKinds) {
    const said = diagnosis({ kind, operation: 'dry-run', status: 500, text });
    expect(said).not.toContain('\n');
    expect(said.length).toBeLessThan(420);
    expect(errorWords({ kind, operation: 'dry-run' }).brief).toMatch(/^.{3,25}$/);
  }
});

describe('a message tells the truth about its situation', () => {
  const enforced = placeOf(aReportOf([]), aws);

  test('no command that deletes is offered for any index while rows are missing in one', () => {
    const ceiling = anEntry('above-ceiling', { kind: 'above-ceiling', approveRows: 100 });
    const lost = anEntry('rows-missing', { kind: 'missing', expected: 100, found: 0 });
    expect(wordsOf(ceiling, placeOf(aReportOf([ceiling]), aws)).act?.line).toContain('approveRows');
    expect(wordsOf(ceiling, placeOf(aReportOf([ceiling, lost]), aws)).act).toBeUndefined();
  });

  test('after a preview that finds rows gone nothing is quarantined, and nothing is there to release', () => {
    const lost = anEntry('rows-missing', { kind: 'lost-between-runs', expected: 100, found: 0, since: 1 });
    const preview = wordsOf(lost, placeOf(aReportOf([lost], { mode: 'preview' }), aws));
    expect(preview.why).not.toContain('quarantined');
    expect(preview.act).toBeUndefined();
    expect(wordsOf(lost, enforced).why).toContain('The index is quarantined until');
  });

  test('an index that was replaced is said before any other explanation, with both names', () => {
    const copied = anEntry(
      'rows-missing',
      { kind: 'missing', expected: 100, found: 0 },
      { indexName: 'old_1', indexNow: 'new_2' },
    );
    expect(wordsOf(copied, enforced).why).toMatch(
      /^The index was replaced during the run.*: it was old_1 and is now new_2\./,
    );
  });

  test('what copied says in one line that late rows may be in the old index alone, even where it failed', () => {
    const failed = anEntry('failed', { kind: 'unchanged' }, { reindexes: true });
    expect(wordsOf(failed, enforced).aside).toContain('may be only in the old index (no action needed');
    expect(wordsOf(anEntry('failed', { kind: 'unchanged' }), enforced).aside).toBeUndefined();
  });

  test('what copied names the cutoff once, because the steps of the runbook need it', () => {
    const copied = { reindexes: true, cutoffMillis: 1_778_902_200_000 };
    const said = (cause: Cause) => {
      const { why, aside = '' } = wordsOf(anEntry('rows-missing', cause, copied), enforced);
      return `${why} ${aside}`.match(/1778902200000/g);
    };
    expect(said({ kind: 'verified' })).toHaveLength(1);
    expect(said({ kind: 'missing', expected: 9, found: 1 })).toHaveLength(1);
  });

  test('a preview never says that a run will settle what is unresolved: it only looks', () => {
    const causes: Array<Parameters<typeof anEntry>> = [
      ['unknown', { kind: 'unsettled', why: 'copy' }],
      ['unknown', { kind: 'unsettled', why: 'unseen' }],
      ['incomplete', { kind: 'remains' }],
      ['incomplete', { kind: 'stopped-at-conflict', done: 1, conflicts: 1, total: 9 }],
      ['failed', { kind: 'unchanged' }],
    ];
    for (const [outcome, cause] of causes) {
      const entry = anEntry(outcome, cause, { resumed: true, rowsDeleted: 1, rowsRemaining: 9 });
      const { next } = wordsOf(entry, placeOf(aReportOf([entry], { mode: 'preview' }), aws));
      expect(next).toBe('Wait for the next run, which looks again. Do not truncate the index by hand in the meantime.');
    }
  });

  test('an index that the search engine does not know is called that, and not a shard that is away', () => {
    const facts = { rowsToDelete: 60, rowsDeleted: 60, rowsMissing: 40, noIndex: true };
    const words = wordsOf(anEntry('rows-missing', { kind: 'missing', expected: 40, found: 0 }, facts), enforced);
    expect(words).toMatchObject({
      subject: 'no such index',
      next: expect.stringMatching(/^Do not upgrade DataHub yet/),
    });
    expect(words.why).toMatch(/^The search engine has no such index, so it counted as 0 rows\. /);
    const small = wordsOf(anEntry('truncated', { kind: 'verified' }, facts), enforced);
    expect(small.why).toMatch(/^The search engine has no such index/);
  });

  test('what nobody could look at is not called running', () => {
    const error = { kind: 'connect', operation: 'dry-run' } as const;
    const whatOf = (outcome: 'unknown' | 'still-running', more: object) =>
      wordsOf(anEntry(outcome, { kind: 'watching', why: 'preview', since: 1, ...more }), enforced).what;
    expect(whatOf('unknown', { error })).toBe('a truncation was sent, and its completion was not observed');
    expect(whatOf('still-running', {})).toBe('its truncation is still running');
  });

  test('a preview asks for the release of what is so old that no enforcing run will judge it', () => {
    const previewed = (releasable?: true) =>
      wordsOf(anEntry('unknown', { kind: 'watching', why: 'preview', since: 1, releasable }), enforced);
    expect(previewed(true)).toMatchObject({ subject: 'needs a release', urgency: 'week' });
    expect(previewed(true).act?.line).toContain('{"release":["dataset.operation"]}');
    expect(previewed().act).toBeUndefined();
  });

  test('what another run has counted is said in the past tense', () => {
    const untold = { untold: 'no-report', decidedAt: '2026-11-21T03:40:00.000Z', decidedBy: 'run-x' } as const;
    const lost: Array<Parameters<typeof anEntry>> = [
      ['rows-missing', { kind: 'missing', expected: 9, found: 1 }],
      ['rows-missing', { kind: 'lost-between-runs', expected: 9, found: 1, since: 1 }],
      ['incomplete', { kind: 'remains' }, { rowsRemaining: 8 }],
    ];
    const noIndex = anEntry('truncated', { kind: 'verified' }, { noIndex: true, ...untold });
    expect(wordsOf(noIndex, enforced).why).toContain('The search engine had no such index');
    for (const [outcome, cause, more] of lost) {
      expect(wordsOf(anEntry(outcome, cause, more), enforced).what).toMatch(/ are (gone|still there)$/);
      expect(wordsOf(anEntry(outcome, cause, { ...more, ...untold }), enforced).what).toMatch(
        / were (gone|still there)$/,
      );
    }
  });

  test('only a run whose time has ended says so: a slow function, or too many looks, are something else', () => {
    const whyOf = (...[outcome, cause]: Parameters<typeof anEntry>) => wordsOf(anEntry(outcome, cause), enforced).why;
    expect(whyOf('not-started', { kind: 'stopped', by: 'run-time' })).toBe('There was no time left to send it.');
    expect(whyOf('still-running', { kind: 'watching', why: 'run-time', since: 1 })).toMatch(/^The run ended first\. /);
  });

  test('a record that only a release ends says since when it waits', () => {
    const since = Date.UTC(2026, 10, 21);
    const whyOf = (cause: Parameters<typeof anEntry>[1]) => wordsOf(anEntry('unknown', cause), enforced).why;
    expect(whyOf({ kind: 'foreign', why: 'version', version: 3, since })).toMatch(
      /^The truncation was sent on 21 Nov 2026, 00:00/,
    );
    expect(whyOf({ kind: 'foreign', why: 'address', address: 'http://old:8080', since })).toMatch(
      /^It was sent on 21 Nov 2026, 00:00 UTC to http:\/\/old:8080; /,
    );
  });

  test('a quarantined index says what was counted then, in the past tense', () => {
    const since = Date.UTC(2026, 10, 21);
    const quarantined = anEntry('quarantined', {
      kind: 'quarantined',
      since,
      outcome: 'rows-missing',
      rowsMissing: 400,
    });
    expect(wordsOf(quarantined, enforced).why).toContain('On 21 Nov 2026, 00:00 UTC, 400 rows were missing');
  });

  test('a refusal to release offers the plain release, and only below it the one that accepts a loss', () => {
    const words = noteWordsOf(
      { kind: 'not-released', index: 'dataset.operation', why: 'rows-missing', rowsMissing: 400 },
      aws,
    );
    expect(words.act?.line).toContain('{"release":["dataset.operation"]}');
    expect(words.instead?.line).toContain('"acceptMissing":400');
  });

  test('what asks for nothing offers no command that changes anything', () => {
    for (const [, outcome, cause, more] of entryCases) {
      const words = wordsOf(anEntry(outcome, cause, more), enforced);
      if (words.urgency === 'nothing' && words.act) expect(words.subject).toBe('paused');
    }
  });

  test('placeholders that are known are filled in', () => {
    const all = [...entryCases.map(([, outcome, cause, more]) => wordsOf(anEntry(outcome, cause, more), enforced))];
    const errors = errorCases.map(([, cause]) => wordsOf(anEntry('failed', cause), enforced));
    const told = noteCases.map(([, note]) => noteWordsOf(note, enforced));
    expect(JSON.stringify([...all, ...errors, ...told])).not.toMatch(/<[a-zA-Z]+>|STAGE|PREFIX/);
  });
});

test.each([
  ['ERR_SSL_WRONG_VERSION_NUMBER', /^dry run: gms:8080 does not speak TLS \(/, /begin the GMS address with http:/],
  ['CERT_HAS_EXPIRED', /the certificate of gms:8080 has expired/, /^Renew it/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /the certificate of gms:8080 is for another host name/, /^Use the host name/],
  ['SELF_SIGNED_CERT_IN_CHAIN', /comes from an authority that is not trusted/, /certificate$/],
  ['CRL_HAS_EXPIRED', /gms:8080 is not trusted \(CRL_HAS_EXPIRED\)/, /^Check its certificate/],
])('%s has a remedy of its own', (code, what, next) => {
  const error = { kind: 'tls', operation: 'dry-run', host: 'gms:8080', code } as const;
  expect(diagnosis(error)).toMatch(what);
  expect(errorWords(error).next).toMatch(next);
});

test('a time-out names its seconds, and --timeout where that would help', () => {
  const error = { kind: 'timeout', operation: 'dry-run', seconds: 60 } as const;
  expect(diagnosis(error)).toMatch(/^dry run: no response came within 60 s\./);
  expect(errorWords(error).nextOn?.machine).toMatch(/--timeout SECONDS waits longer$/);
  expect(errorWords(error).next).not.toContain('--timeout');
  expect(errorWords({ ...error, operation: 'truncate', seconds: 120 }).next).not.toContain('--timeout');
});

test.each([
  ['an id of the search engine', 'node-1:4711', 'GET _tasks/node-1:4711'],
  ['no id', undefined, 'GET _tasks?actions=*byquery,*reindex&detailed'],
  ['a UUID, which no search engine knows', '3f0c1d9e-8a55-4f0e-9a3e-0c6c5b1f2d77', undefined],
])('a truncation with %s is looked at where it can be', (_, taskId, line) => {
  expect(lookAtTask(anEntry('incomplete', { kind: 'remains' }, { taskId }))?.line).toBe(line);
});

const whole = 'Today all 100 are there: release it.';
const another = 'Today 100 are there, as many as then, but it may be another index: look first.';
test.each<[boolean | undefined, string | undefined, string]>([
  [true, undefined, whole],
  [true, 'replaced', whole],
  [undefined, undefined, whole],
  [undefined, 'replaced', another],
  [false, undefined, another],
])(
  'A quarantined index in which every row is there is to be released, unless it is known to be another one: %s, %s',
  (sameIndex, indexNow, expected) => {
    const today = { expected: 100, found: 100, sameIndex };
    const cause: Cause = { kind: 'quarantined', since: 1, outcome: 'rows-missing', rowsMissing: 5, indexNow, today };
    expect(wordsOf(anEntry('quarantined', cause), placeOf(aReportOf([]), aws)).why).toContain(expected);
  },
);
