import type { Screen } from './screen.ts';
import { widthOf } from './text.ts';

/**
 * What is being waited for, so that a slow server does not look like a hanging program: on a terminal one line that is
 * rewritten every second and disappears when there is other output, elsewhere a line whenever there was no output for a
 * while.
 */
export interface Status {
  /** A screen whose lines push the status line down. */
  screen: Screen;
  /**
   * Sets what is being waited for; undefined if something else (a bar) shows that the program is alive.
   * @param what the same for texts about one thing, whose seconds keep counting
   */
  waitFor(text: string | undefined, what?: string): void;
  stop(): void;
}

/** Drawn only by a timer, so that short waits do not flicker. */
const everyMillis = 500;
/** The longest that a log is silent while indices are counted. */
const silenceMillis = 5000;

export function createStatus(inner: Screen): Status {
  let text: string | undefined;
  let subject: string | undefined;
  let since = 0;
  let spokenAt = Date.now();
  let drawn = false;

  const clear = () => {
    if (drawn) inner.write('\r\u001b[2K');
    drawn = false;
  };
  const draw = () => {
    if (text === undefined) return;
    const seconds = Math.round((Date.now() - since) / 1000);
    const line = `  ${text}${seconds >= 2 ? ` (${seconds} s)` : ''} `;
    if (inner.terminal) {
      clear();
      // A line that wraps could not be erased.
      inner.write(widthOf(line) < inner.width ? line : [...line].slice(0, inner.width - 1).join(''));
      drawn = true;
    } else if (Date.now() - spokenAt >= silenceMillis) {
      inner.write(`${line.trimEnd()}\n`);
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
    waitFor(next, what = next) {
      if (what !== subject) since = Date.now();
      subject = what;
      text = next;
      if (next === undefined) clear();
    },
    stop() {
      clearInterval(timer);
      text = undefined;
      clear();
    },
  };
}
