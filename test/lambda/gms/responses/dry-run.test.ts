import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDryRun } from '../../../../lambda/gms/responses/dry-run.ts';
import { Unreadable } from '../../../../lambda/gms/responses/server-text.ts';
import { holds } from '../../../properties.ts';
import { anyText } from '../../../support/arbitrary.ts';

const tail = 'This was a dry run. Run with dryRun = false to execute.';
const reindexing = 'Reindexing the aspect without the deleted records.';
const deleting = 'Issuing a delete by query request.';

describe('the sentence of a dry run', () => {
  test.each([
    ['a reindex', `Delete 134517 out of 135600 rows (99.20%). ${reindexing} ${tail}`, 134517, 135600, false],
    ['a delete by query', `Delete 1200 out of 10000 rows (12.00%). ${deleting} ${tail}`, 1200, 10000, true],
    ['an empty index', `Delete 0 out of 0 rows (NaN%). ${deleting} ${tail}`, 0, 0, true],
    ['rows deleted between the two counts', `Delete 3 out of 0 rows (Infinity%). ${reindexing} ${tail}`, 3, 0, false],
    ['a percentage not multiplied by 100', `Delete 99 out of 100 rows (0.99%). ${deleting} ${tail}`, 99, 100, true],
    ['no percentage', `Delete 1 out of 2 rows. ${deleting} ${tail}`, 1, 2, true],
    ['line breaks', `\nDelete 1 out of 2 rows (50.00%).\n${deleting}\n${tail}\n`, 1, 2, true],
    ['neither way', `Delete 1 out of 2 rows (50.00%). ${tail}`, 1, 2, false],
    ['other words', 'This was a dry run: 7 out of 70 rows would go.', 7, 70, false],
    ['a single row', '1 out of 1 row', 1, 1, false],
    ['the same counts twice', 'Delete 1 out of 2 rows. Again: 1 out of 2 rows.', 1, 2, false],
    ['a number before them', 'dataset_operation, shard 3: 7 out of 70 rows', 7, 70, false],
  ])('gives the counts of %s', (_, text, rowsToDelete, rowsTotal, isDelete) => {
    expect(readDryRun(text)).toEqual({
      rowsToDelete,
      rowsTotal,
      method: isDelete ? 'delete' : 'reindex',
    });
  });

  test.each([
    ['a flag conflict', 'please only set forceReindex OR forceDeleteByQuery flags'],
    ['a task id', 'qhxGdzytQS-pQek8CwBCZg:533446'],
    ['an empty text', ''],
    ['a negative count', `Delete -5 out of 10 rows (0.00%). ${deleting} ${tail}`],
    ['grouped digits', `Delete 1,200 out of 10,000 rows (12.00%). ${deleting} ${tail}`],
    ['a count that no number holds exactly', `Delete 1 out of 9007199254740993 rows (0.00%). ${deleting} ${tail}`],
    ['a negative count with a typographic minus', 'Delete \u22125 out of 10 rows'],
    ['a negative total', 'Delete 5 out of -10 rows'],
    ['the end of a grouped count', 'Delete 1,205 out of 10000 rows'],
    ['the end of a count grouped by blanks', 'Delete 1 205 out of 10000 rows'],
    ['the end of a count grouped by narrow blanks', 'Delete 1\u202f205 out of 10000 rows'],
    ...["'", '’', '`', '´', '·', '٬', '_', '\u02bc', '\u2009', '\u00a0'].map((between): [string, string] => [
      `the end of a count grouped by ${JSON.stringify(between)}`,
      `Delete 1${between}600 out of 10000 rows`,
    ]),
    ['the end of a fraction', 'Delete 3.5 out of 10 rows'],
    ['the end of a power', 'Delete 1e5 out of 10 rows'],
    ['the end of a word', 'Delete v5 out of 10 rows'],
    ['the beginning of a total', 'Delete 5 out of 1 200 rows'],
    ['two different counts', 'Delete 5 out of 10 rows. Delete 6 out of 10 rows.'],
    ['two different totals', 'Delete 5 out of 10 rows. Delete 5 out of 20 rows.'],
  ])('is not recognized in %s', (_, text) => {
    expect(readDryRun(text)).toBeInstanceOf(Unreadable);
  });

  test('is quoted in an excerpt if it cannot be read', () => {
    const long = `<p>${'x'.repeat(5000)}</p>`;
    const read = readDryRun(long);
    expect(read instanceof Unreadable && read.excerpt).toMatch(/^x{237}…$/);
  });

  test('gives its counts, with any form of the percentage', () => {
    const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
    const percent = fc.oneof(
      fc.constantFrom('NaN', 'Infinity', '99,20', '99.20', '٩٩٫٢٠', "1'000.00", ''),
      fc.string().filter((text) => !/[()]|dry|reindex|delete/i.test(text)),
    );
    holds(
      fc.property(count, count, percent, fc.boolean(), (rowsToDelete, rowsTotal, printed, reindex) => {
        const text = `Delete ${rowsToDelete} out of ${rowsTotal} rows (${printed}%). ${reindex ? reindexing : deleting} ${tail}`;
        expect(readDryRun(text)).toEqual({
          rowsToDelete,
          rowsTotal,
          method: reindex ? 'reindex' : 'delete',
        });
      }),
    );
  });

  test('does not throw on any text', () => {
    const nearly = fc
      .array(fc.constantFrom('Delete ', '1', '99', ' out of ', ' rows ', '(NaN%). ', tail, reindexing, '-', '\u0000'))
      .map((parts) => parts.join(''));
    holds(
      fc.property(fc.oneof(anyText(), nearly), (text) => {
        expect(() => readDryRun(text)).not.toThrow();
      }),
    );
  });
});
