import { describe, expect, test } from 'vitest';
import { parseInput, RunInputError } from '../../../../lambda/run/plan/input.ts';

const named = (count: number) => Array.from({ length: count }, (_, at) => `dataset.a${at}`);

describe('what an execution is started with', () => {
  test.each<[string, unknown]>([
    ['nothing', {}],
    ['a mode', { mode: 'preview' }],
    ['the other mode', { mode: 'enforce' }],
    ['as many policies as a run carries', { only: named(600) }],
    ['a name of 200 characters', { only: ['x'.repeat(200)], clear: ['x'.repeat(200)] }],
    ['rows for one policy', { only: named(1), approveRows: 1 }],
    ['fifty indices to clear', { clear: named(50) }],
    ['rows that one index may miss', { clear: named(1), acceptMissing: 1 }],
    ['the schedule’s time', { scheduledTime: '2026-03-01T03:30:00Z' }],
  ])('%s is accepted unchanged', (_, input) => {
    expect(parseInput(input)).toEqual({ input });
  });

  test('may be nothing at all', () => {
    expect(parseInput(undefined)).toEqual({ input: {} });
    expect(parseInput(null)).toEqual({ input: {} });
  });

  test("has no scheduled time if the schedule's placeholder is not filled in", () => {
    expect(parseInput({ scheduledTime: '<aws.scheduler.scheduled-time>' })).toEqual({ input: {} });
  });

  test.each<[string, unknown, RegExp]>([
    ['another mode', { mode: 'force' }, /mode must be "preview" or "enforce", not "force"/],
    ['a mistyped field', { mdoe: 'preview' }, /"mdoe" is not a known field: did you mean mode\?/],
    ['no policy', { only: [] }, /only must have at least 1 entries/],
    ['too many policies', { only: named(601) }, /only must have at most 600 entries/],
    ['a long name', { only: ['x'.repeat(201)] }, /only 1 must have at most 200 characters/],
    ['no index to clear', { clear: [] }, /clear must have at least 1 entries/],
    ['too many to clear', { clear: named(51) }, /clear must have at most 50 entries/],
    ['a long name to clear', { clear: ['x'.repeat(201)] }, /clear 1 must have at most 200 characters/],
    ['no rows', { only: named(1), approveRows: 0 }, /approveRows must be at least 1/],
    ['half a row', { only: named(1), approveRows: 1.5 }, /approveRows must be a whole number/],
    ['no missing rows', { clear: named(1), acceptMissing: 0 }, /acceptMissing must be at least 1/],
    ['half a missing row', { clear: named(1), acceptMissing: 1.5 }, /acceptMissing must be a whole number/],
    [
      'rows for two policies',
      { only: named(2), approveRows: 5 },
      /approveRows needs "only" with exactly one policy, so that nobody approves more than was looked at/,
    ],
    ['rows for all policies', { approveRows: 5 }, /approveRows needs "only" with exactly one policy/],
    [
      'rows that two indices may miss',
      { clear: named(2), acceptMissing: 5 },
      /acceptMissing needs "clear" with exactly one index, so that nobody accepts more than was looked at/,
    ],
    ['rows that any index may miss', { acceptMissing: 5 }, /acceptMissing needs "clear" with exactly one index/],
    ['a time that is none', { scheduledTime: 'tonight' }, /scheduledTime must be a time such as 2026-03-01T03:30:00Z/],
    ['a long time', { scheduledTime: '2'.repeat(41) }, /scheduledTime must have at most 40 characters/],
    ['a text', 'enforce', /must be an object/],
  ])('%s is refused with a reason', (_, input, expected) => {
    expect(parseInput(input)).toEqual({ problem: expect.stringMatching(expected) });
    expect(parseInput(input)).toEqual({ problem: expect.stringMatching(/^the execution's input cannot be used: /) });
  });

  test('that cannot be fulfilled is an error of its own', () => {
    expect(new RunInputError('x').name).toBe('RunInputError');
  });
});
