import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTaskId } from '../../../../lambda/operations/answers/task-id.ts';
import { anyText } from '../../../support/arbitrary.ts';

describe('a task id', () => {
  test.each(['qhxGdzytQS-pQek8CwBCZg:533446', 'aB1cdEf2GHIJKLMnoPQr3S:123456', 'n:1', '_-:9223372036854775807'])(
    '%s is accepted',
    (taskId) => expect(readTaskId(taskId)).toBe(taskId),
  );

  test('of the Postgres backend has no status to request', () => {
    const taskId = '3f0c1d9e-8a55-4f0e-9a3e-0c6c5b1f2d77';
    expect(readTaskId(taskId)).toBe(taskId);
  });

  test('may have spaces around it', () => {
    expect(readTaskId(' n:12\n')).toBe('n:12');
  });

  test.each([
    '',
    'hello',
    '123456:aB1cdEf2GHIJKLMnoPQr3S',
    'n:0',
    'n:00',
    'n:-1',
    ':12',
    'n:',
    'a b:12',
    'n:1:2',
    'Reindex dataset operation index',
    'please only set forceReindex OR forceDeleteByQuery flags',
    `${'n'.repeat(201)}:1`,
    'n:12345678901234567890',
  ])('is not found in "%s"', (text) => {
    expect(readTaskId(text)).toBeUndefined();
  });

  test('does not throw on any text', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const read = readTaskId(text);
        expect(read === undefined || text.includes(read)).toBe(true);
      }),
    );
  });
});
