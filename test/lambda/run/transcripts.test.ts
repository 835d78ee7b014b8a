import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { causeKinds } from '../../../lambda/model/cause.ts';
import { noteKinds } from '../../../lambda/model/note.ts';
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

test('every kind of cause and note comes up in a history', () => {
  // Of another version, or about identities, subscribers, and more entries than a history has: in tests of their own.
  const rest = ['unread', 'token-expires', 'certificate-expires', 'unconfirmed', 'empty-ledger', 'beyond', 'shortened'];
  const missing = [...causeKinds, ...noteKinds].filter((kind) => {
    const inReport = new RegExp(`^( +note:|report: [^\\n]*,| +[\\w.]+: [\\w-]+,) ${kind}\\b`, 'm');
    return !histories.some(({ text }) => inReport.test(text));
  });
  expect(missing).toEqual(rest);
});
