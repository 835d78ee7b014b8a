import { describe, expect, test } from 'vitest';
import { escaped } from '../../../cli/outputs/pages/html.ts';
import { visible } from '../../../lambda/gms/text.ts';
import { explain } from '../../../lambda/policy/explain.ts';
import { policySchema } from '../../../lambda/policy/schema.ts';
import { oneLine } from '../../../lambda/report/sentences/text.ts';

/** A name that others wrote must not look like another one. */

const hidden: Array<[name: string, character: string]> = [
  ['the soft hyphen', '\u00ad'],
  ['the Arabic letter mark', '\u061c'],
  ['the Mongolian vowel separator', '\u180e'],
  ['the zero width space', '\u200b'],
  ['the right-to-left override', '\u202e'],
  ['the first tag character', '\u{e0000}'],
  ['a tag character', '\u{e0041}'],
  ['the last tag character', '\u{e007f}'],
  ['a byte order mark', '\ufeff'],
  ['an escape', '\u001b'],
];

describe('A character that hides or reverses text', () => {
  test.each(hidden)('%s is in no message and on no page', (_, character) => {
    expect(oneLine(`data${character}set`, 100)).toBe('data set');
    expect(escaped(`data${character}set`)).toBe('data\ufffdset');
  });

  test.each(hidden)('%s in the name of a field is shown by its escape', (_, character) => {
    const shown = [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join('');
    expect(visible(`data${character}set`)).toBe(`data${shown}set`);
    const policy = { entityType: 'dataset', aspect: 'operation', retentionDays: 90, [`owner${character}`]: 'me' };
    const { error } = policySchema(7).safeParse(policy);
    expect(explain(error!, policy, [])).toContain(`"owner${shown}" is not a known field`);
  });
});

test.each(['größe', '数据集', 'a\u200db', '🙂', 'e\u0301'])('%s stays as it is', (text) => {
  expect([oneLine(text, 100), escaped(text), visible(text)]).toEqual([text, text, text]);
});
