import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createWaiting } from '../../../cli/outputs/screen/waiting.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const minute = 60_000;

test('A log says once what it waits for, and then every hour, with the figures of that hour', () => {
  const lines: string[] = [];
  const waiting = createWaiting({ write: (text) => lines.push(text) });
  let done = 0;
  waiting.for(() => `${done} of 9 rows`);
  vi.advanceTimersByTime(59 * minute);
  expect(lines).toEqual(['  0 of 9 rows\n']);
  done = 4;
  vi.advanceTimersByTime(2 * minute);
  expect(lines).toEqual(['  0 of 9 rows\n', '  4 of 9 rows\n']);
  waiting.stop();
  vi.advanceTimersByTime(300 * minute);
  expect(lines).toHaveLength(2);
});

test('A log says what else it waits for when that changes, but not just after other output', () => {
  const lines: string[] = [];
  const waiting = createWaiting({ write: (text) => lines.push(text) });
  waiting.for(() => 'a');
  vi.advanceTimersByTime(minute);
  waiting.for(() => 'b');
  waiting.write('done\n');
  vi.advanceTimersByTime(10_000);
  expect(lines).toEqual(['  a\n', 'done\n']);
  vi.advanceTimersByTime(15_000);
  expect(lines.at(-1)).toBe('  b\n');
  waiting.for(() => 'a');
  vi.advanceTimersByTime(30 * minute);
  expect(lines).toHaveLength(3);
  waiting.stop();
});
