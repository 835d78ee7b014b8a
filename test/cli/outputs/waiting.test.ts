import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { onScreen } from '../../../cli/outputs/screen/on-screen.ts';
import { createWaiting } from '../../../cli/outputs/screen/waiting.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import { startWatch } from '../../../lambda/truncation/watch.ts';
import { aRunning } from '../../support/records.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const minute = 60_000;

test('A log says what it waits for once, and then every hour, with the figures of that hour', () => {
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

test('On a terminal it is one line that fits, and is erased before other output', () => {
  const written: string[] = [];
  const write = (text: string) => written.push(text) > 0;
  const terminal = { columns: 30, write } as unknown as NodeJS.WriteStream;
  const waiting = createWaiting({ write, terminal });
  waiting.for(() => `${'x'.repeat(50)} and more`);
  vi.advanceTimersByTime(500);
  waiting.write('done\n');
  expect(written).toEqual([`  ${'x'.repeat(26)}…`, '\u001b[1G', '\u001b[2K', 'done\n']);
});

test('The last line of a log says what the next check is for, and when it is', () => {
  const lines: string[] = [];
  const output = onScreen({ write: (text) => lines.push(text) });
  vi.setSystemTime(Date.UTC(2026, 0, 15, 3, 30));
  const watch = { ...startWatch(aRunning(), 0, 0), pending: { verdict: 'incomplete', since: 0 } };
  const names = { entityType: 'dataset', aspect: 'operation' };
  const entries = [{ index: 'dataset_operationaspect_v1', phase: 'watched', names, record: aRunning(), watch }];
  output.header({ server: 'http://localhost:1', mode: 'enforce', embedded: false, fast: false });
  output.state('poll', { entries, next: 'wait', waitSeconds: 90 } as unknown as RunState);
  vi.advanceTimersByTime(minute);
  output.close();
  expect(lines.join('')).toMatch(
    /dataset\.operation: 0 of 60 old rows deleted \(its rows are counted a second time\); next check on 15 Jan 2026, 03:31 UTC\n$/,
  );
});
