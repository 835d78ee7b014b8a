import type { Screen } from './screen.ts';
import { widthOf } from './text.ts';

/**
 * What is being waited for, so that a slow server does not look like a hanging program: on a terminal one line that is
 * rewritten twice a second and disappears when there is other output, elsewhere a line whenever there was no output for
 * a while.
 */
export interface Status {
  /** A screen whose lines push the status line down. */
  screen: Screen;
  /**
   * Sets what is being waited for, as a function that gives the same text in several lengths, the longest first, at the
   * moment it is drawn; undefined if something else (a bar) shows that the program is alive.
   */
  waitFor(forms: (() => string[]) | undefined): void;
  stop(): void;
}

/** Drawn only by a timer, so that short waits do not flicker. */
const everyMillis = 500;
/** The longest that a log is silent while indices are counted. */
const silenceMillis = 5000;

export function createStatus(inner: Screen): Status {
  let forms: (() => string[]) | undefined;
  let spokenAt = Date.now();
  /** Columns of the line on a terminal. */
  let drawn = 0;

  const clear = () => {
    if (drawn === 0) return;
    // If the window has become narrower since, the terminal has wrapped the line.
    const rows = Math.ceil(drawn / Math.max(1, inner.terminal?.columns ?? inner.width));
    inner.write(rows > 1 ? `\r\u001b[${rows - 1}A\u001b[J` : '\r\u001b[2K');
    drawn = 0;
  };
  const draw = () => {
    const lines = (forms?.() ?? []).map((text) => `  ${text} `);
    const [longest] = lines;
    if (longest === undefined) return clear();
    if (inner.terminal) {
      // A line that wraps could not be erased.
      const line =
        lines.find((one) => widthOf(one) < inner.width) ?? [...lines.at(-1)!].slice(0, inner.width - 1).join('');
      clear();
      inner.write(line);
      drawn = widthOf(line);
    } else if (Date.now() - spokenAt >= silenceMillis) {
      inner.write(`${longest.trimEnd()}\n`);
      spokenAt = Date.now();
    }
  };
  const timer = setInterval(draw, everyMillis);
  timer.unref();

  return {
    screen: {
      write(lines) {
        clear();
        inner.write(lines);
        spokenAt = Date.now();
      },
      get width() {
        return inner.width;
      },
      ...(inner.terminal && { terminal: inner.terminal }),
      ...(inner.colour && { colour: true }),
    },
    waitFor(next) {
      forms = next;
      if (next === undefined) clear();
    },
    stop() {
      clearInterval(timer);
      forms = undefined;
      clear();
    },
  };
}
