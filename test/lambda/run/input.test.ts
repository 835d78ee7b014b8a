import { describe, expect, test } from 'vitest';
import { isByHand, modeOf, parseInput, runIdOf, scheduledMillis } from '../../../lambda/run/input.ts';

/** What an execution may be started with. */

const problemOf = (input: unknown) => {
  const parsed = parseInput(input);
  return 'problem' in parsed ? parsed.problem : undefined;
};

test('of an input that cannot be used, who asked is known', () => {
  expect(parseInput({ release: ['a.b', 'c.d'], acceptMissing: 1, by: 'eve' }).input).toEqual({
    mode: 'preview',
    by: 'eve',
  });
});

test('a step belongs to the run of its execution, or of the run state', () => {
  expect([runIdOf({ execution: { name: 'a' } }), runIdOf({ runId: 'b' })]).toEqual(['a', 'b']);
});

describe('an input', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['nothing at all', null],
    ['an unfilled placeholder', { scheduledTime: '<aws.scheduler.scheduled-time>' }],
    ['what the console suggests', { Comment: 'Insert your JSON here' }],
    ['a release that accepts missing rows', { release: ['dataset.operation'], acceptMissing: 0 }],
  ])('is taken: %s', (_, input) => {
    expect(problemOf(input)).toBeUndefined();
  });

  test.each<[string, unknown, RegExp]>([
    ['another mode', { mode: 'dry-run' }, /mode/],
    [
      'an unknown field, with the nearest known one',
      { indexes: ['dataset.operation'] },
      /indexes.*did you mean indices/,
    ],
    ['an approval without a name', { approveRows: 5 }, /exactly one index/],
    ['an approval of two names', { indices: ['a.b', 'c.d'], approveRows: 5 }, /exactly one index/],
    ['an approval of no row', { indices: ['a.b'], approveRows: 0 }, /approveRows/],
    ['missing rows without a release', { acceptMissing: 5 }, /exactly one index/],
    ['missing rows of two indices', { release: ['a.b', 'c.d'], acceptMissing: 5 }, /exactly one index/],
    ['fewer than no missing rows', { release: ['a.b'], acceptMissing: -1 }, /acceptMissing/],
    ['a release with indices', { release: ['a.b'], indices: ['a.b'] }, /release excludes/],
    ['a release with an approval', { release: ['a.b'], indices: ['a.b'], approveRows: 5 }, /release excludes/],
    ['policies to enforce', { mode: 'enforce', policies: [{}] }, /policies can only be previewed/],
    ['policies beside a release', { release: ['a.b'], policies: [{}] }, /policies can only be previewed/],
    ['no policy', { policies: [] }, /policies must not be empty/],
    ['an empty list', { indices: [] }, /indices/],
    ['no object', 'preview', /input/],
  ])('is refused: %s', (_, input, expected) => {
    expect(problemOf(input)).toMatch(expected);
  });
});

describe('a run starts', () => {
  const start = Date.parse('2026-03-01T05:30:00.000Z');
  test.each<[string, string | undefined, string | undefined]>([
    ['at its scheduled time', '2026-03-01T05:29:00Z', '2026-03-01T05:29:00.000Z'],
    ['at a scheduled time of two hours ago', '2026-03-01T03:30:00Z', '2026-03-01T03:30:00.000Z'],
    ['at a scheduled time that its clock has not reached', '2026-03-01T05:40:00Z', '2026-03-01T05:40:00.000Z'],
    ['with its execution, if that is in the future', '2026-03-01T05:40:01Z', undefined],
    ['with its execution, if that is longer ago', '2026-03-01T03:29:59Z', undefined],
    ['with its execution, without a scheduled time', undefined, undefined],
  ])('%s', (_, scheduledTime, expected) => {
    const found = scheduledMillis({ scheduledTime }, start);
    expect(found && new Date(found).toISOString()).toBe(expected);
  });
});

describe('the mode of a run in a stage that enforces', () => {
  const scheduledTime = '2026-03-01T05:30:00Z';
  const start = Date.parse(scheduledTime);
  const unfilled = { scheduledTime: '<aws.scheduler.scheduled-time>' };
  const ofLastWeek = { scheduledTime: '2026-02-22T05:30:00Z' };
  test.each<[string, object, string, boolean]>([
    ['is the stage’s where the schedule has started it', { scheduledTime }, 'enforce', false],
    ['is the stage’s where its placeholder was not filled', unfilled, 'enforce', false],
    ['is a preview for the console’s default input', {}, 'preview', true],
    ['is a preview for an input that was copied from last week', ofLastWeek, 'preview', true],
    ['is what a person names', { mode: 'enforce' }, 'enforce', true],
    ['is what an input names, also of the schedule', { mode: 'preview', scheduledTime }, 'preview', false],
    [
      'is a preview of policies that are not live, also of the schedule',
      { policies: [{}], scheduledTime },
      'preview',
      false,
    ],
    ['is enforce for a release, which changes the ledger', { release: ['a.b'], mode: 'preview' }, 'enforce', true],
  ])('%s', (_, input, mode, byHand) => {
    expect([modeOf(input as never, start, 'enforce'), isByHand(input as never, start)]).toEqual([mode, byHand]);
  });

  test('is a preview in a stage that previews, whoever starts it', () => {
    expect(modeOf({ scheduledTime }, start, 'preview')).toBe('preview');
  });
});
