import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareShare } from '../../../lambda/policy/decision.ts';
import { percentOf } from '../../../lambda/report/sentences/numbers.ts';
import { holds } from '../../properties.ts';

describe('a share of rows compared with a percentage', () => {
  test.each([
    [7, 10_000, 0.07, 0],
    [1, 3, 33.3, 1],
    [1, 3, 33.4, -1],
    [1, 10_000_000_000, 1e-8, 0],
  ])('%i of %i rows against %d percent: %i', (part, whole, percent, expected) => {
    expect(compareShare(part, whole, percent)).toBe(expected);
  });

  test('is exact, where floating point is not, and changes with one row more or less than the share', () => {
    holds(
      fc.property(fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 1, max: 9999 }), (hundredths, scale) => {
        const percent = scale / 100;
        const whole = hundredths * 10_000;
        const part = hundredths * scale;
        expect(compareShare(part, whole, percent)).toBe(0);
        expect(compareShare(part - 1, whole, percent)).toBe(-1);
        expect(compareShare(part + 1, whole, percent)).toBe(1);
      }),
    );
  });

  test('is shown with two decimals, and 0 of 0 is 0', () => {
    expect(percentOf(1, 3)).toBe(33.33);
    expect(percentOf(0, 0)).toBe(0);
  });
});
