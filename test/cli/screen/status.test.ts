import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { onScreen } from '../../../cli/screen/on-screen.ts';
import type { Screen } from '../../../cli/screen/screen.ts';
import { createStatus } from '../../../cli/screen/status.ts';
import { waitingForms } from '../../../cli/screen/waiting.ts';

function aScreen(kind: 'terminal' | 'log', width = 80) {
  let written = '';
  const screen: Screen = {
    width,
    write: (text) => {
      written += text;
    },
    ...(kind === 'terminal' && { terminal: {} as NodeJS.WriteStream }),
  };
  return { screen, written: () => written };
}

/** What a terminal shows at the end, by the two control sequences that are written. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
const shown = (written: string) => written.replace(/[^\n]*\r\u001b\[2K/g, '');

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A text that says for how long it has been shown. */
function since(text: string): () => string[] {
  const from = Date.now();
  return () => [`${text} (${(Date.now() - from) / 1000} s)`];
}

describe('a wait', () => {
  it('is one line on a terminal that counts the seconds, and disappears when something else is printed', () => {
    const { screen, written } = aScreen('terminal');
    const status = createStatus(screen);
    status.waitFor(since('Waiting'));
    vi.advanceTimersByTime(4000);
    expect(shown(written())).toBe('  Waiting (4 s) ');
    status.screen.write('Plan:\n');
    expect(shown(written())).toBe('Plan:\n');
    vi.advanceTimersByTime(1000);
    expect(shown(written())).toBe('Plan:\n  Waiting (5 s) ');
    status.stop();
    vi.advanceTimersByTime(60_000);
    expect(shown(written())).toBe('Plan:\n');
  });

  it('does not flicker if every answer is quick', () => {
    const { screen, written } = aScreen('terminal');
    const status = createStatus(screen);
    for (let request = 0; request < 100; request++) {
      status.waitFor(() => [`request ${request}`]);
      vi.advanceTimersByTime(2);
    }
    status.waitFor(undefined);
    vi.advanceTimersByTime(2000);
    expect(written()).toBe('');
  });

  it('is cut to the width of the terminal, also when that shrinks', () => {
    const { screen, written } = aScreen('terminal', 20);
    const status = createStatus(screen);
    status.waitFor(() => ['Waiting for the server: sizes', 'Waiting for sizes', 'sizes']);
    vi.advanceTimersByTime(1000);
    expect(shown(written())).toBe('  sizes ');
    status.waitFor(() => ['Waiting for the sizes of its indices']);
    vi.advanceTimersByTime(1000);
    expect(shown(written())).toBe('  Waiting for the s');
  });

  it('leaves no fragment in a window that was made narrower', () => {
    const { screen, written } = aScreen('terminal', 40);
    const status = createStatus({ ...screen, terminal: { columns: 15 } as NodeJS.WriteStream });
    status.waitFor(() => ['a line of thirty-five columns, all']);
    vi.advanceTimersByTime(500);
    const before = written().length;
    status.screen.write('more\n');
    // It takes three rows now: move up to the first, and clear everything below.
    expect(written().slice(before)).toBe('\r\u001b[2A\u001b[Jmore\n');
  });

  it('is a line where there is no terminal, each time that nothing was printed for five seconds', () => {
    const { screen, written } = aScreen('log');
    const status = createStatus(screen);
    status.waitFor(() => ['0 of 9 indices counted', 'shorter']);
    vi.advanceTimersByTime(5000);
    status.waitFor(() => ['3 of 9 indices counted']);
    vi.advanceTimersByTime(4000);
    status.screen.write('something else\n');
    vi.advanceTimersByTime(5000);
    status.waitFor(() => []);
    vi.advanceTimersByTime(60_000);
    expect(written()).toBe('  0 of 9 indices counted\nsomething else\n  3 of 9 indices counted\n');
  });
});

describe('a slow server', () => {
  const pending = {
    operation: 'dry-run',
    index: 'dataset.operation',
    since: 0,
    limitMillis: 120_000,
    attempts: 2,
  } as const;

  it('is named with the question, how long it may take, and which try it is', () => {
    expect(waitingForms({ ...pending, attempt: 1 }, undefined, 35_000)[0]).toBe(
      'Waiting for the server: a dry run of dataset.operation, 35 s of at most 2 min, first of 2 tries',
    );
    expect(waitingForms({ ...pending, attempt: 2 }, { done: 9, of: 10, since: 0 }, 119_000)).toEqual([
      '9 of 10 indices counted; waiting for a dry run of dataset.operation, 119 s of at most 2 min, second of 2 tries',
      '9 of 10 counted; a dry run of dataset.operation, 119 s of at most 2 min, second of 2 tries',
      '9 of 10 counted; dataset.operation, 119 s of at most 2 min, second of 2 tries',
      'dataset.operation, 119 s of at most 2 min, second of 2 tries',
      'dataset.operation, 119 s of at most 2 min',
    ]);
    const truncate = { ...pending, operation: 'truncate', attempt: 1, attempts: 1 } as const;
    expect(waitingForms(truncate, undefined, 5000)[0]).toBe(
      'Waiting for the server: the start of a truncation of dataset.operation, 5 s of at most 2 min',
    );
  });

  it('is not named while it is quick; the index that is counted is named instead', () => {
    expect(waitingForms({ ...pending, attempt: 1 }, { done: 3, of: 9, since: 0 }, 1000)).toEqual([
      '3 of 9 indices counted',
    ]);
    expect(waitingForms({ ...pending, since: 13_500, attempt: 1 }, { done: 3, of: 9, since: 0 }, 14_000)).toEqual([
      '3 of 9 indices counted (14 s)',
    ]);
    expect(waitingForms(undefined, undefined, 0)).toEqual([]);
  });
});

describe('a run on a screen', () => {
  it('is never silent for longer than five seconds before its plan', () => {
    const { screen, written } = aScreen('log');
    const output = onScreen(screen);
    output.header({ server: 'http://gms:8080', mode: 'preview', embedded: false, fast: false });
    expect(written()).toMatch(/^Server {2}http:\/\/gms:8080\nMode {4}PREVIEW/);
    vi.advanceTimersByTime(5000);
    expect(written()).toContain('Looking up gms:8080\n');
    let length = written().length;
    for (const [operation, counted] of [
      ['index-sizes', undefined],
      ['task-status', undefined],
      ['dry-run', 0],
      ['dry-run', 250],
    ] as const) {
      output.asking({ operation, since: Date.now(), limitMillis: 120_000, attempt: 1, attempts: 4 });
      if (counted !== undefined) output.counted(counted, 500);
      vi.advanceTimersByTime(5000);
      expect(written().length).toBeGreaterThan(length);
      length = written().length;
    }
    expect(written()).toMatch(/the sizes of its indices[\s\S]*the status of a task[\s\S]*0 of 500[\s\S]*250 of 500/);
    output.close();
  });
});
