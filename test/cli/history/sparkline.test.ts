import { describe, expect, it } from 'vitest';
import { sparkline } from '../../../cli/history/sparkline.ts';

const seen = (...values: Array<number | undefined>) =>
  values.flatMap((value, at) => (value === undefined ? [] : [{ at, value }]));

describe('a sparkline', () => {
  it('begins at zero: half as much is half as high', () => {
    expect(sparkline(seen(4, 8), [0, 1], 2)).toEqual({ text: '▅█', isLog: false });
  });

  it('is blank where nothing is remembered, and has a mark for zero rows', () => {
    expect(sparkline(seen(8, undefined, 0, 8), [0, 3], 4).text).toBe('█ _█');
  });

  it('of one night is one letter', () => {
    expect(sparkline(seen(5), [0, 0], 1).text).toBe('█');
  });

  it('of nothing is empty', () => {
    expect(sparkline([], [0, 9], 10).text).toBe('');
  });

  it('over a million-fold range has a step for each factor, and says so', () => {
    expect(sparkline(seen(1, 1000, 1_000_000), [0, 2], 3)).toEqual({ text: '▁▅█', isLog: true });
  });

  it('joins the nights that share a column', () => {
    const sum = (one: number, other: number) => one + other;
    expect(sparkline(seen(1, 1, 1, 4), [0, 3], 2, sum).text).toBe('▄█');
    expect(sparkline(seen(1, 2, 3, 4), [0, 3], 2).text).toBe('▅█');
  });
});
