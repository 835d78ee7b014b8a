import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isDue, nextCheckAt } from '../../../lambda/truncation/next-check.ts';
import { startWatch, type Watch } from '../../../lambda/truncation/watch.ts';
import { holds } from '../../properties.ts';
import { anAttempt, aRunning, aSending } from '../../support/records.ts';

/** When to check again (rule 8); seconds after the call. */

const second = 1000;
const record = aRunning({ attempt: anAttempt({ sendingSince: 0, judgeableAt: 0 }) });
const watch = (more: Partial<Watch> = {}): Watch => ({ ...startWatch(record, 0, 0), ...more });
/** Seconds from one check to the next, at this age. */
const interval = (age: number, more: Partial<Watch> = {}): number =>
  (nextCheckAt(record, watch(more), age * second) - age * second) / second;

describe('the next check', () => {
  test.each([
    ['comes after ten seconds up to an age of 100', 100, 10],
    ['comes after a tenth of its age', 3000, 300],
    ['comes after half an hour at most', 360_000, 1800],
  ])('%s', (_, age, expected) => {
    expect(interval(age)).toBe(expected);
  });

  /** At this age, in seconds, this share is done, and so was its part when half of the age had passed. */
  const steady = (age: number, done: number): Partial<Watch> => ({
    progress: { done, total: 1, at: age * second, before: { done: done / 2, at: (age / 2) * second } },
  });

  test('comes just after the end that its own progress predicts', () => {
    // 950 of 1,000 in 1,000 s: 53 s to go, and 3 % and a second more.
    const progress = { done: 950, total: 1000, at: 1000 * second };
    expect(interval(1000, { progress })).toBeCloseTo((50 / 950) * 1000 * 1.03 + 1, 5);
  });

  test('comes a little before that end while it is far, so that the next prediction is better', () => {
    // 800 of 1,000 in 1,000 s: 250 s to go; 80 of 1,000 in 10,000 s: 115,000 s.
    expect(interval(1000, steady(1000, 0.8))).toBeCloseTo(225, 5);
    expect(interval(10_000, steady(10_000, 0.08))).toBe(1800);
  });

  test('comes after as long again as it has taken where it is as fast as ever, and at a tenth where it is not', () => {
    expect(interval(300, steady(300, 0.1))).toBe(300);
    // One slice of five has ended, and counts as if the others had not begun.
    const jumped = { done: 0.2, total: 1, at: 950 * second, before: { done: 0, at: 860 * second } };
    expect(interval(950, { progress: jumped })).toBe(95);
    expect(interval(300, { progress: { done: 0.1, total: 1, at: 300 * second } })).toBe(30);
  });

  test('of a task of hours comes a few seconds after its end, with a few looks', () => {
    for (const duration of [600, 3600, 21_600]) {
      let looks = 0;
      let now = 0;
      let seen: Watch['progress'];
      for (; now < duration * second; looks++) {
        seen = { done: now / second, total: duration, at: now, before: seen && { done: seen.done, at: seen.at } };
        now = nextCheckAt(record, watch({ progress: seen }), now);
      }
      expect(now / second - duration).toBeLessThan(10);
      expect(looks).toBeLessThan(25);
    }
  });

  test.each([
    ['that lies further away than the interval', { done: 1, total: 1000 }],
    ['from nothing', { done: 0, total: 1000 }],
    ['of what is done', { done: 1000, total: 1000 }],
  ])('is not changed by a prediction %s', (_, progress) => {
    expect(interval(1000, { progress: { ...progress, at: 1000 * second } })).toBe(100);
  });

  test('is never sooner than five seconds, however soon the end is', () => {
    expect(interval(1000, { progress: { done: 999, total: 1000, at: 1000 * second } })).toBe(5);
  });

  test('comes soon where the predicted end is now', () => {
    // Half in 1,000 s, and as long again has passed since.
    expect(interval(2000, { progress: { done: 500, total: 1000, at: 1000 * second } })).toBe(5);
  });

  test('is not changed by a prediction that has passed: a server that is away is not asked every ten seconds', () => {
    expect(interval(3000, { progress: { done: 500, total: 1000, at: 1000 * second } })).toBe(300);
  });

  test('of a verdict that waits for agreement is a quick look, and then 90 s after it, at any age', () => {
    const after = (seconds: number) =>
      interval(50_000, { pending: { verdict: 'incomplete', since: (50_000 - seconds) * second } });
    expect([0, 4, 5, 60, 86].map(after)).toEqual([5, 5, 85, 30, 5]);
  });

  test('of a call without a task id comes when it can no longer be sent', () => {
    const sending = aSending({ attempt: anAttempt({ sendingSince: 0, judgeableAt: 700 * second }) });
    expect(nextCheckAt(sending, watch(), 20 * second)).toBe(700 * second);
    expect(nextCheckAt(sending, watch(), 700 * second)).toBe(770 * second);
  });

  test('is between five seconds and half an hour away, whatever has been seen', () => {
    const progress = fc.record({ done: fc.nat(1000), total: fc.nat(1000), at: fc.nat(200_000 * second) });
    holds(
      fc.property(fc.nat(200_000), fc.option(progress, { nil: undefined }), (age, seen) => {
        const wait = interval(age, { progress: seen });
        expect(wait).toBeGreaterThanOrEqual(5);
        expect(wait).toBeLessThanOrEqual(1800);
      }),
      1000,
    );
  });
});

test('a day of watching takes about a hundred checks', () => {
  let checks = 0;
  for (let now = 0; now < 86_400 * second; checks++) now = nextCheckAt(record, watch(), now);
  expect(checks).toBeLessThan(110);
});

describe('a check is shared', () => {
  const turn = { lastCheckAt: 0, nextCheckAt: 1000 };
  test.each([
    ['in the last quarter of its interval', 750, true],
    ['not before', 749, false],
    ['when it is overdue', 5000, true],
  ])('%s', (_, now, expected) => {
    expect(isDue(watch(turn), now)).toBe(expected);
  });
});
