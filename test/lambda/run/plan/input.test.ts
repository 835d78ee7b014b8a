import { describe, expect, test } from 'vitest';
import { parseInput } from '../../../../lambda/run/plan/input.ts';

describe('the input of an execution', () => {
  test.each([
    ['nothing at all', undefined, {}],
    ['an empty object', {}, {}],
    ['what the schedule sends', { scheduledTime: '2026-03-01T03:30:00Z' }, { scheduledTime: '2026-03-01T03:30:00Z' }],
    ["the schedule's target, whose time nobody filled in", { scheduledTime: '<aws.scheduler.scheduled-time>' }, {}],
    [
      'an approval of one policy',
      { mode: 'enforce', only: ['dataset.operation'], approveRows: 7 },
      { mode: 'enforce', only: ['dataset.operation'], approveRows: 7 },
    ],
    [
      'an index to clear, with rows that may stay missing',
      { clear: ['dataset.operation'], acceptMissing: 1 },
      { clear: ['dataset.operation'], acceptMissing: 1 },
    ],
  ])('may be %s', (_, given, input) => {
    expect(parseInput(given)).toEqual({ input });
  });

  test.each([
    ['a time that is none', { scheduledTime: '__proto__' }, 'scheduledTime must be a time such as'],
    ['an approval of everything', { approveRows: 7 }, 'approveRows needs "only" with exactly one policy'],
    ['an approval of two', { only: ['a.b', 'c.d'], approveRows: 7 }, 'approveRows needs "only"'],
    ['missing rows of two', { clear: ['a.b', 'c.d'], acceptMissing: 7 }, 'acceptMissing needs "clear"'],
    ['no row approved', { only: ['a.b'], approveRows: 0 }, 'approveRows'],
    ['nothing chosen', { only: [] }, 'only'],
    ['nothing to clear', { clear: [] }, 'clear'],
    ['a field that is not known', { clera: ['a.b'] }, 'did you mean clear?'],
    ['another mode', { mode: 'delete' }, 'mode'],
    ['a list', [], "the execution's input cannot be used"],
  ])('is refused with one sentence: %s', (_, given, text) => {
    expect(parseInput(given)).toEqual({ problem: expect.stringContaining(text) });
  });
});
