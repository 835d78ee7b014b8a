import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Cause, causeSchema } from '../../../lambda/model/cause.ts';
import { type Note, noteSchema } from '../../../lambda/model/note.ts';
import { comparedFields } from '../../../lambda/model/policy-fields.ts';
import { fieldsOf, membersOf } from '../../support/arbitrary.ts';
import { worlds } from '../../support/world.ts';
import { player } from './transcripts/commands.ts';
import { replay } from './transcripts/script.ts';

/** Whole runs, line by line: transcripts/README.md says how to read and write one. */

const open = worlds();
const folder = new URL('./transcripts/histories/', import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.txt'));
/** The first comment of a file says what happens in it, and is the name of its test. */
const histories = files.sort().map((file) => {
  const text = readFileSync(new URL(file, folder), 'utf8');
  return { file, text, title: /^# ([^\n]*)/.exec(text)?.[1] ?? file };
});

// In a loop, because test.each cuts long names.
for (const { file, text, title } of histories) {
  test(`${file}: ${title}`, async () => {
    await expect(await replay(text, player(open))).toMatchFileSnapshot(`transcripts/histories/${file}`);
  });
}

test('every kind of cause and note comes up in a history, in each of its variants', () => {
  // Of another version, of clocks, identities, subscribers, and more entries than a history has: in tests of their own.
  const others = [
    ...['step-failed step=plan', 'guard which=floor', 'unread', 'token-expires'],
    ...['certificate-expires', 'unconfirmed', 'empty-ledger', 'beyond', 'shortened'],
  ];
  const told = ['kind', 'what', 'which', 'why', 'by', 'step'];
  const variants = [...membersOf<Cause | Note>(causeSchema), ...membersOf<Cause | Note>(noteSchema)].flatMap(
    ([kind, member]) =>
      fieldsOf(member).flatMap(([field, words]) =>
        words
          .filter((word) => told.includes(field) && !(comparedFields as readonly unknown[]).includes(word))
          .map((word) => (field === 'kind' ? kind : `${kind} ${field}=${word}`)),
      ),
  );
  const texts = histories.map(({ text }) => text).join('\n');
  const missing = [...new Set(variants)].filter((variant) => {
    const [kind, fact = ''] = variant.split(' ');
    return !new RegExp(`^( +note:|report: [^\\n]*,| +[\\w.]+: [\\w-]+,) ${kind}\\b[^\\n]*${fact}\\b`, 'm').test(texts);
  });
  expect(missing.sort()).toEqual(others.sort());
});
