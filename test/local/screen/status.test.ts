import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { onScreen } from '../../../local/screen/on-screen.ts';
import type { Screen } from '../../../local/screen/screen.ts';
import { createStatus } from '../../../local/screen/status.ts';

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

describe('what is waited for', () => {
  it('is one line on a terminal that counts the seconds, and goes when something else is said', () => {
    const { screen, written } = aScreen('terminal');
    const status = createStatus(screen);
    status.waitFor('Waiting for the server: a dry run');
    vi.advanceTimersByTime(1000);
    expect(shown(written())).toBe('  Waiting for the server: a dry run ');
    vi.advanceTimersByTime(3000);
    expect(shown(written())).toBe('  Waiting for the server: a dry run (4 s) ');
    status.screen.write('Plan:\n');
    expect(shown(written())).toBe('Plan:\n');
    vi.advanceTimersByTime(1000);
    expect(shown(written())).toBe('Plan:\n  Waiting for the server: a dry run (5 s) ');
    status.stop();
    vi.advanceTimersByTime(60_000);
    expect(shown(written())).toBe('Plan:\n');
  });

  it('does not flicker where everything is quick', () => {
    const { screen, written } = aScreen('terminal');
    const status = createStatus(screen);
    for (let request = 0; request < 100; request++) {
      status.waitFor(`request ${request}`);
      vi.advanceTimersByTime(2);
    }
    status.waitFor(undefined);
    vi.advanceTimersByTime(2000);
    expect(written()).toBe('');
  });

  it('fits the terminal, however narrow that becomes', () => {
    const { screen, written } = aScreen('terminal', 20);
    createStatus(screen).waitFor('Waiting for the server: the sizes of its indices');
    vi.advanceTimersByTime(1000);
    expect(shown(written())).toBe('  Waiting for the s');
  });

  it('is a line elsewhere, each time that nothing was said for five seconds', () => {
    const { screen, written } = aScreen('log');
    const status = createStatus(screen);
    status.waitFor('0 of 9 indices counted', 'counting');
    vi.advanceTimersByTime(5000);
    status.waitFor('3 of 9 indices counted', 'counting');
    vi.advanceTimersByTime(4000);
    status.screen.write('something else\n');
    vi.advanceTimersByTime(5000);
    expect(written()).toBe('  0 of 9 indices counted (5 s)\nsomething else\n  3 of 9 indices counted (14 s)\n');
  });
});

describe('a run on a screen', () => {
  it('is never silent for longer than five seconds before its plan', () => {
    const { screen, written } = aScreen('log');
    const output = onScreen(screen);
    output.header({ server: 'http://gms:8080', mode: 'preview', embedded: false, fast: false });
    expect(written()).toMatch(/^Server {2}http:\/\/gms:8080\nMode {4}PREVIEW/);
    let length = written().length;
    for (const [operation, counted] of [
      ['index-sizes', undefined],
      ['task-status', undefined],
      ['dry-run', 0],
      ['dry-run', 250],
    ] as const) {
      output.asking(operation);
      if (counted !== undefined) output.counted(counted, 500);
      vi.advanceTimersByTime(5000);
      expect(written().length).toBeGreaterThan(length);
      length = written().length;
    }
    expect(written()).toMatch(/the sizes of its indices[\s\S]*the status of a task[\s\S]*0 of 500[\s\S]*250 of 500/);
    output.close();
  });
});
