import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBars } from '../../../cli/screen/bars.ts';
import { screenOn } from '../../../cli/screen/screen.ts';
import type { WatchedEntry } from '../../../lambda/run/state.ts';

const watched = (done: number): WatchedEntry => ({
  index: 'dataset_operationaspect_v1',
  phase: 'watched',
  entry: { entityType: 'dataset', aspect: 'operation', rowsToDelete: 14_000 },
  watch: {
    attemptId: 'a',
    startedAt: 0,
    succeededAt: 0,
    lastLookAt: 0,
    nextLookAt: 0,
    looks: 1,
    progress: { done, total: 14_000, at: 0 },
  },
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
const sequences = /\u001b\[\??\d*[A-Za-z]/;

function aTerminal(columns: number) {
  let written = '';
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns });
  stream.setEncoding('utf8').on('data', (text: string) => {
    written += text;
  });
  const screen = screenOn(stream as unknown as NodeJS.WriteStream, { TERM: 'xterm' });
  /** The line as last drawn. */
  const drawn = () => {
    stream.read();
    return written
      .split(sequences)
      .filter((text) => text.includes(' %'))
      .at(-1);
  };
  const text = () => {
    stream.read();
    return written;
  };
  return { stream, screen, bars: createBars(screen), drawn, text };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the bar of a task', () => {
  it('leaves no part of a line behind that a narrower terminal has folded', () => {
    const { stream, bars, text } = aTerminal(120);
    bars.update(watched(7000));
    vi.advanceTimersByTime(200);
    stream.columns = 40;
    stream.emit('resize');
    // It takes two rows now: move up to the first, and clear everything below.
    expect(text().endsWith('\r\u001b[1A\u001b[J')).toBe(true);
    bars.stop();
    const ended = text();
    stream.emit('resize');
    expect(text()).toBe(ended);
  });

  it('follows a terminal that is resized, and leaves out what does not fit', () => {
    const { stream, screen, bars, drawn } = aTerminal(120);
    bars.update(watched(7000));
    vi.advanceTimersByTime(200);
    expect(drawn()).toBe(`  ${'█'.repeat(15)}${'░'.repeat(15)}  50 %  7,000 of 14,000 rows  dataset.operation`);
    stream.columns = 60;
    vi.advanceTimersByTime(200);
    expect(drawn()).toBe('  ████░░░░  50 %  7,000 of 14,000 rows  dataset.operation');
    stream.columns = 45;
    vi.advanceTimersByTime(200);
    expect(drawn()).toBe('  ████░░░░  50 %  dataset.operation');
    expect(screen.width).toBe(45);
    bars.stop();
  });

  it('says how long the rest takes, if earlier nights are known', () => {
    const { bars, drawn } = aTerminal(160);
    bars.update(watched(7000), 7800);
    vi.advanceTimersByTime(200);
    expect(drawn()).toMatch(/ dataset\.operation {2}about 1 h 5 min left, as last time$/);
    bars.update(watched(14_000), 7800);
    vi.advanceTimersByTime(200);
    expect(drawn()).toMatch(/dataset\.operation$/);
    bars.stop();
  });

  it('says when the next look comes, and that one takes its time', () => {
    const { bars, drawn } = aTerminal(120);
    bars.update(watched(7000));
    bars.wait([watched(7000)], 90);
    vi.advanceTimersByTime(30_000);
    expect(drawn()).toMatch(/dataset\.operation {2}looks again in 1 min$/);
    vi.advanceTimersByTime(35_000);
    expect(drawn()).toMatch(/looks again in 25 s$/);
    vi.advanceTimersByTime(35_000);
    expect(drawn()).toMatch(/looking for 10 s$/);
    bars.stop();
  });
});
