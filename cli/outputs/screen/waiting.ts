import { clearLine, cursorTo } from 'node:readline';
import { hourMillis } from '../../../lambda/model/time.ts';
import { writeTo } from '../output-file.ts';
import { defaultWidth, wrapped } from '../table.ts';
import type { Screen } from './screen.ts';

/**
 * One line that says what the program waits for, so that a slow server does not make it look hung: on a
 * terminal it is rewritten and disappears when there is other output, in a log it comes once, when there has been no
 * other output for a while, and then every hour.
 */
interface Waiting {
  /** @param wait what is waited for at this moment; undefined for nothing */
  for(wait: (() => string | undefined) | undefined): void;
  /** Writes whole lines above it. */
  write(text: string): void;
  stop(): void;
}

/** Drawn only by a timer, so that short waits do not flicker. */
const everyMillis = 500;
/** A log that is silent for longer looks like a hanging process, so it says what it waits for. */
const silenceMillis = 20_000;
const longSilenceMillis = hourMillis;

export function createWaiting({ write, terminal }: Screen): Waiting {
  let wait: (() => string | undefined) | undefined;
  /** Without their figures, which may change. */
  const said = new Set<string>();
  const withoutFigures = (text: string) => text.replace(/\d+/g, '');
  let spokenAt = Date.now();
  let isDrawn = false;
  const clear = () => {
    if (!isDrawn || !terminal) return;
    cursorTo(terminal, 0);
    clearLine(terminal, 0);
    isDrawn = false;
  };
  const draw = () => {
    const now = wait?.();
    clear();
    if (now === undefined) return;
    if (terminal) {
      // A line that wraps could not be erased, so what has no room is left out, from a word on.
      const room = (terminal.columns ?? defaultWidth) - 4;
      const [fitting = '', ...more] = wrapped(now, room);
      writeTo(terminal, `  ${fitting.slice(0, room)}${more.length > 0 ? '…' : ''}`);
      isDrawn = true;
    } else if (Date.now() - spokenAt >= (said.has(withoutFigures(now)) ? longSilenceMillis : silenceMillis)) {
      said.add(withoutFigures(now));
      spokenAt = Date.now();
      write(`  ${now}\n`);
    }
  };
  const timer = setInterval(draw, everyMillis);
  timer.unref();
  return {
    for(next) {
      wait = next;
      if (next === undefined) clear();
    },
    write(text) {
      clear();
      spokenAt = Date.now();
      write(text);
    },
    stop() {
      clearInterval(timer);
      wait = undefined;
      clear();
    },
  };
}
