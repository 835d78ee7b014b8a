import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDryRun } from '../../../../lambda/operations/answers/dry-run.ts';
import { anyText } from '../../../support/arbitrary.ts';

const tail = 'This was a dry run. Run with dryRun = false to execute.';
const reindexing = 'Reindexing the aspect without the deleted records.';
const deleting = 'Issuing a delete by query request.';

describe('the sentence of a dry run', () => {
  test.each([
    ['a reindex', `Delete 134517 out of 135600 rows (99.20%). ${reindexing} ${tail}`, 134517, 135600, 'reindex'],
    [
      'a delete by query',
      `Delete 1200 out of 10000 rows (12.00%). ${deleting} ${tail}`,
      1200,
      10000,
      'delete-by-query',
    ],
    ['an empty index', `Delete 0 out of 0 rows (NaN%). ${deleting} ${tail}`, 0, 0, 'delete-by-query'],
    [
      'rows deleted between the two counts',
      `Delete 3 out of 0 rows (Infinity%). ${reindexing} ${tail}`,
      3,
      0,
      'reindex',
    ],
    ['a German server', `Delete 992 out of 1000 rows (99,20%). ${reindexing} ${tail}`, 992, 1000, 'reindex'],
    [
      'a server with Arabic digits',
      `Delete 992 out of 1000 rows (٩٩٫٢٠%). ${deleting} ${tail}`,
      992,
      1000,
      'delete-by-query',
    ],
    [
      'a percentage not multiplied by 100',
      `Delete 99 out of 100 rows (0.99%). ${deleting} ${tail}`,
      99,
      100,
      'delete-by-query',
    ],
    ['no percentage', `Delete 1 out of 2 rows. ${deleting} ${tail}`, 1, 2, 'delete-by-query'],
    ['line breaks', `\nDelete 1 out of 2 rows (50.00%).\n${deleting}\n${tail}\n`, 1, 2, 'delete-by-query'],
    ['no strategy', `Delete 1 out of 2 rows (50.00%). ${tail}`, 1, 2, undefined],
    ['both strategies', `Delete 1 out of 2 rows (50.00%). ${deleting} ${reindexing} ${tail}`, 1, 2, undefined],
  ])('gives the counts of %s', (_, text, rowsToDelete, rowsTotal, strategy) => {
    expect(readDryRun(text)).toEqual({ kind: 'dry-run', rowsToDelete, rowsTotal, ...(strategy && { strategy }) });
  });

  test.each([
    ['a flag conflict', 'please only set forceReindex OR forceDeleteByQuery flags'],
    ['a sentence without the dry-run marker', `Delete 1 out of 2 rows (50.00%). ${deleting}`],
    ['a task id', 'qhxGdzytQS-pQek8CwBCZg:533446'],
    ['an empty text', ''],
    ['a negative count', `Delete -5 out of 10 rows (0.00%). ${deleting} ${tail}`],
    ['grouped digits', `Delete 1,200 out of 10,000 rows (12.00%). ${deleting} ${tail}`],
    ['a count that no number holds exactly', `Delete 1 out of 9007199254740993 rows (0.00%). ${deleting} ${tail}`],
    ['counts in the middle of something else', `Failed: Delete 1 out of 2 rows (50.00%). ${deleting} ${tail}`],
  ])('is not recognized in %s', (_, text) => {
    expect(readDryRun(text).kind).toBe('unreadable');
  });

  test('is quoted in an excerpt if it cannot be read', () => {
    const long = `<p>${'x'.repeat(5000)}</p>`;
    const read = readDryRun(long);
    expect(read.kind === 'unreadable' && read.excerpt).toMatch(/^x{237}…$/);
  });

  test('gives its counts, with any form of the percentage', () => {
    const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
    const percent = fc.oneof(
      fc.constantFrom('NaN', 'Infinity', '99,20', '99.20', '٩٩٫٢٠', "1'000.00", ''),
      fc.string().filter((text) => !/[()]|dry|reindex|delete/i.test(text)),
    );
    fc.assert(
      fc.property(count, count, percent, fc.boolean(), (rowsToDelete, rowsTotal, printed, reindex) => {
        const text = `Delete ${rowsToDelete} out of ${rowsTotal} rows (${printed}%). ${reindex ? reindexing : deleting} ${tail}`;
        const strategy = reindex ? 'reindex' : 'delete-by-query';
        expect(readDryRun(text)).toEqual({ kind: 'dry-run', rowsToDelete, rowsTotal, strategy });
      }),
    );
  });

  test('does not throw on any text', () => {
    const nearly = fc
      .array(fc.constantFrom('Delete ', '1', '99', ' out of ', ' rows ', '(NaN%). ', tail, reindexing, '-', '\u0000'))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(anyText(), nearly), (text) => {
        expect(['dry-run', 'unreadable']).toContain(readDryRun(text).kind);
      }),
    );
  });
});
