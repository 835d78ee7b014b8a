import { expect, test } from 'vitest';
import { type Cause, causeSchema } from '../../../lambda/facts/cause.ts';

/** What compiles is checked by `npm run check`: each line below would be an error if its cause were accepted. */

test('a variant of a cause has its own fields and no other', () => {
  // @ts-expect-error only a breaker has an index
  const index: Cause = { kind: 'stopped', by: 'plan-time', index: 'dataset.profile' };
  // @ts-expect-error a record that cannot be read has no address
  const status: Cause = { kind: 'left-alone', why: 'unreadable', fields: ['revision'], address: 'http://old' };
  expect([index, status].map((cause) => causeSchema.parse(cause))).toEqual([
    { kind: 'stopped', by: 'plan-time' },
    { kind: 'left-alone', why: 'unreadable', fields: ['revision'] },
  ]);
});

test('a variant without one of its fields is not read as another', () => {
  // @ts-expect-error the index that opened it is missing
  const breaker: Cause = { kind: 'stopped', by: 'breaker', outcome: 'unknown' };
  // @ts-expect-error the kind has no such variant
  const unnamed: Cause = { kind: 'guard', which: 'moon' };
  expect([breaker, unnamed].map((cause) => causeSchema.safeParse(cause).success)).toEqual([false, false]);
});
