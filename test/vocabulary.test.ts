import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** One word for one thing: the words that were replaced by the field's own do not come back. */

/** Files that people read or change; not the texts that quote others, or tell of the past. */
const files = execFileSync('git', ['ls-files', 'lambda', 'cli', 'infra', 'kubernetes', 'docs', 'README.md'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => /\.(?:ts|md|tpl|yaml|json)$/.test(path));

/** Each with what takes its place, and where ordinary English may have it. */
const replaced: { word: RegExp; by: string; except?: RegExp }[] = [
  { word: /\b(?:un)?told\b/i, by: 'reported, unreported', except: /\bnobody-told\b/ },
  { word: /\bbites?\b/i, by: 'row limit' },
  { word: /\badopted\b/i, by: 'resumed' },
  {
    word: /\b(?:announces|shows|learn)Cop(?:y|ies)\b|\b(?:a|the|our) copy (?:of which|that runs|ended|is proven)\b/,
    by: 'reindex',
  },
  { word: /\bkept rows\b|\browsKept\b/i, by: 'rows to keep' },
  { word: /\b(?:ordersNow|readOrders|current orders)\b/, by: 'current settings' },
  { word: /\b(?:giveUp|spent)\b/, by: 'fence, fenced' },
  { word: /\bstanding\b|\bstands\.kind\b/, by: 'ownership' },
  { word: /\bworded\b/, by: 'sentences' },
  { word: /\b(?:next|last|max)Looks?(?:At)?\b|\blooks again in\b|\bLooks at every\b/, by: 'check, poll' },
  { word: /\breaderOf\b|\breaders?\??: \w*Audience\b/, by: 'audience' },
  { word: /\bforeign\b(?! CDK apps)/i, by: 'of another address, unreadable' },
  { word: /\bin-flight\b|\bin flight\b/i, by: 'still-running' },
  // What an American or British engineer would not write.
  {
    word: /\bsomebody\b|\bthe one (?:that|who)\b|\bso many\b|\blets? go of\b/i,
    by: 'someone, a person; the noun; this many',
  },
];

test('words that the field does not use are in no code, page or message', () => {
  const found = files.flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, at) =>
        replaced
          .filter(({ word, except }) => word.test(line) && !except?.test(line))
          .map(({ by }) => `${path}:${at + 1} (${by}): ${line.trim().slice(0, 100)}`),
      ),
  );
  expect(found).toEqual([]);
});
