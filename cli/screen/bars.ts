import { MultiBar, type Options, type Params, type SingleBar } from 'cli-progress';
import { dottedName } from '../../lambda/policy/aspects.ts';
import type { WatchedEntry } from '../../lambda/run/state.ts';
import { duration } from '../../lambda/wording/numbers.ts';
import type { Screen } from './screen.ts';
import { grouped, widthOf } from './text.ts';

/** How far the tasks on the server have got: a bar for each on a terminal, plain lines elsewhere. */
export interface Bars {
  line(text: string): void;
  /** @param seconds how long the whole truncation takes, based on earlier ones */
  update(entry: WatchedEntry, seconds?: number): void;
  /** Nothing is requested for this many seconds. */
  wait(entries: WatchedEntry[], seconds: number): void;
  end(index: string): void;
  /** Whether a terminal is showing one now. */
  isDrawn(): boolean;
  stop(): void;
}

export const createBars = (screen: Screen): Bars =>
  screen.terminal ? terminalBars(screen, screen.terminal) : lineBars(screen);

/** Rows done and to do, as far as any look has shown. */
export function doneOf({ entry, watch }: WatchedEntry): { done: number; total: number } {
  const total = watch.progress?.total ?? entry.rowsToDelete ?? 0;
  return { total, done: Math.min(watch.progress?.done ?? 0, total) };
}

interface Payload {
  name: string;
  rows: string;
  /** How long the rest takes, in words, based on earlier truncations; empty if unknown. */
  left: string;
  /** Epoch milliseconds. */
  seenAt: number;
  /** The next look, if one is being waited for. */
  looksAt?: number;
}

function terminalBars(screen: Screen, stream: NodeJS.WriteStream): Bars {
  /** Columns of each bar's line as it was drawn last, by name. */
  const drawnWidths = new Map<string, number>();
  const options: Options = {
    stream,
    format: (all, params, payload: Payload) => {
      const line = barLine(all, params, payload);
      drawnWidths.set(payload.name, widthOf(line));
      return line;
    },
    hideCursor: true,
    // A finished bar makes room for the line that says how the truncation ended.
    clearOnComplete: true,
    linewrap: false,
    gracefulExit: false,
  };
  const bars = new Map<string, { bar: SingleBar; payload: Payload }>();
  // The library keeps counting lines after its last bar has gone, so each group of bars gets its own instance.
  let drawing: MultiBar | undefined;
  /** When a window becomes narrower, the terminal wraps lines, and the library does not know of the extra rows. */
  const unfold = () => {
    const rows = [...drawnWidths.values()].map((width) => Math.max(1, Math.ceil(width / Math.max(1, stream.columns))));
    const folded = rows.reduce((sum, count) => sum + count - 1, 0);
    if (drawing && folded > 0) stream.write(`\r\u001b[${folded}A\u001b[J`);
  };
  const draw = (): MultiBar => {
    if (drawing === undefined) stream.on('resize', unfold);
    drawing ??= new MultiBar(options);
    return drawing;
  };
  const stop = () => {
    drawing?.stop();
    drawing = undefined;
    bars.clear();
    drawnWidths.clear();
    stream.off('resize', unfold);
  };
  return {
    line: (text) => (drawing ? drawing.log(`${text}\n`) : screen.write(`${text}\n`)),
    update(watched, seconds) {
      const { done, total } = doneOf(watched);
      const rows = `${grouped(done)} of ${grouped(total)} rows`;
      const payload: Payload = {
        rows,
        left: leftOf({ done, total }, seconds),
        name: dottedName(watched.entry),
        seenAt: Date.now(),
      };
      const known = bars.get(watched.index);
      const bar = known?.bar ?? draw().create(total, done, payload);
      bars.set(watched.index, { bar, payload });
      if (!known) return;
      bar.setTotal(total);
      bar.update(done, payload);
    },
    wait(entries, seconds) {
      for (const { index } of entries) {
        const { bar, payload } = bars.get(index) ?? {};
        bar?.update({ ...payload, looksAt: Date.now() + seconds * 1000 });
      }
    },
    end(index) {
      const known = bars.get(index);
      if (!known) return;
      bars.delete(index);
      drawnWidths.delete(known.payload.name);
      if (bars.size === 0) stop();
      else drawing?.remove(known.bar);
    },
    isDrawn: () => drawing !== undefined,
    stop,
  };
}

/** Redrawn several times a second, for the terminal's current width; what does not fit is left out. */
function barLine(_options: Options, { progress, maxWidth }: Params & { maxWidth?: number }, payload: Payload): string {
  const width = maxWidth ?? 80;
  const size = Math.max(8, Math.min(30, width - 70));
  const full = Math.round(size * Math.min(1, progress));
  const bar = `${'█'.repeat(full)}${'░'.repeat(size - full)} ${String(Math.floor(progress * 100)).padStart(3)} %`;
  const { rows, left, name } = payload;
  const lines = [
    [bar, rows, name, left, when(payload)],
    [bar, rows, name, left],
    [bar, rows, name],
    [bar, name],
    [name],
  ].map((parts) => `  ${parts.filter((part) => part !== '').join('  ')}`);
  return lines.find((line) => widthOf(line) <= width) ?? lines.at(-1)!;
}

/** `about 2 h 10 min left, as last time`; empty if there are no earlier nights, or nothing is left. */
function leftOf({ done, total }: { done: number; total: number }, seconds: number | undefined): string {
  if (seconds === undefined || total === 0 || done >= total) return '';
  return `about ${duration(seconds * (1 - done / total))} left, as last time`;
}

/** Shows that the program is alive while a bar does not move for minutes. */
function when({ seenAt, looksAt }: Payload): string {
  const now = Date.now();
  if (looksAt !== undefined && looksAt > now) return `looks again in ${duration(Math.ceil((looksAt - now) / 1000))}`;
  const since = Math.floor((now - Math.max(seenAt, looksAt ?? 0)) / 1000);
  return since < 3 ? '' : `looking for ${duration(since)}`;
}

/** A log that is silent for longer looks like a hanging process. */
const silenceMillis = 60_000;

/**
 * Lines for logs and pipes: one when a task is first seen, one for every tenth that is done, and one after a minute
 * without any other output.
 */
function lineBars(screen: Screen): Bars {
  const tenths = new Map<string, number>();
  let spokenAt = Date.now();
  const line = (text: string) => {
    spokenAt = Date.now();
    screen.write(`${text}\n`);
  };
  const rowsDone = (watched: WatchedEntry, seconds?: number) => {
    const { done, total } = doneOf(watched);
    const left = leftOf({ done, total }, seconds);
    return `${dottedName(watched.entry)}: ${grouped(done)} of ${grouped(total)} rows done${left && `, ${left}`}`;
  };
  return {
    line,
    update(watched, seconds) {
      const { done, total } = doneOf(watched);
      const tenth = total === 0 ? 0 : Math.floor((done / total) * 10);
      if ((tenths.get(watched.index) ?? -1) >= tenth) return;
      tenths.set(watched.index, tenth);
      line(`  ${rowsDone(watched, seconds)}`);
    },
    wait(entries, seconds) {
      if (Date.now() - spokenAt < silenceMillis) return;
      line(`  ${entries.map((entry) => rowsDone(entry)).join(', ')}; looks again in ${duration(seconds)}`);
    },
    end: () => {},
    isDrawn: () => false,
    stop: () => {},
  };
}
