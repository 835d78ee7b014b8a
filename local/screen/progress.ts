import { MultiBar, type Options, type SingleBar } from 'cli-progress';
import type { DecidedFacts } from '../../lambda/facts/report-schema.ts';
import { indexName } from '../../lambda/policy/aspects.ts';
import { percentOf } from '../../lambda/policy/percentage.ts';
import type { ApprovedEntry, Entry, RunState, WatchedEntry } from '../../lambda/run/state.ts';
import { duration } from '../../lambda/wording/numbers.ts';
import { recovery } from '../../lambda/wording/recovery.ts';
import { causeSentence, errorSentence } from '../../lambda/wording/sentences.ts';
import type { Step } from '../state-machine.ts';
import { type Column, grouped, table, wrap } from './text.ts';

/** What a person sees of a run: the plan, a bar for each running task on a terminal, plain lines elsewhere. */

export interface Screen {
  write(text: string): void;
  /** Characters in a line. */
  width: number;
  /** Where bars may be drawn; without it nothing but text and line breaks is written. */
  terminal?: NodeJS.WriteStream;
}

/** A screen on a stream. `TERM=dumb` and CI logs get plain lines. */
export function screenOn(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Screen {
  const isTerminal = stream.isTTY === true && env['TERM'] !== 'dumb' && !env['CI'];
  return {
    write: (text) => {
      stream.write(text);
    },
    // A log file has no width; 100 columns are read well everywhere.
    width: Math.max(40, stream.isTTY ? (stream.columns ?? 100) : 100),
    ...(isTerminal && { terminal: stream }),
  };
}

export interface Progress {
  /** One line beside the bars. */
  line(text: string): void;
  onState(step: Step, state: RunState): void;
  /** Takes the bars away, so that other text can follow. */
  stop(): void;
}

export function createProgress(screen: Screen): Progress {
  const bars = screen.terminal ? terminalBars(screen.terminal, screen.width) : lineBars(screen);
  const told = new Set<string>();
  const line = (text: string) => bars.line(text);
  const tellEnds = (state: RunState) => {
    for (const { index, phase, entry } of state.entries) {
      if (phase !== 'done' || told.has(index)) continue;
      told.add(index);
      bars.end(index);
      const first = `${indexName(entry)}: ${entry.outcome}. ${causeSentence(entry, maxText)}`;
      for (const text of wrap(first, screen.width, '  ', '    ')) line(text);
      for (const text of renderRecovery(entry, screen.width, '    ')) line(text);
    }
  };
  return {
    line,
    onState(step, state) {
      if (step === 'plan') {
        for (const text of renderPlan(state, screen.width)) line(text);
        for (const { index, phase } of state.entries) if (phase === 'done') told.add(index);
        if (state.entries.some(({ phase }) => phase !== 'done')) line('Truncating, one index after another:');
      }
      tellEnds(state);
      const watched = state.entries.filter((entry) => entry.phase === 'watched');
      for (const entry of watched) bars.update(entry);
      if (state.next === 'wait' && watched.length > 0) bars.wait(watched, state.waitSeconds);
    },
    stop: () => bars.stop(),
  };
}

/** Nothing that a server said fills the screen. */
const maxText = 2000;

/** The plan: every policy with its counts, the decision and why. On narrow terminals each gets a paragraph. */
export function renderPlan(state: RunState, width: number): string[] {
  const columns: Column[] = [
    { title: 'Index' },
    { title: 'Rows', align: 'right' },
    { title: 'To delete', align: 'right' },
    { title: 'Percent', align: 'right' },
    { title: 'Decision' },
  ];
  const rows = state.entries.map((entry) => [
    indexName(entry.entry),
    count(entry.entry.rowsTotal),
    count(entry.entry.rowsToDelete),
    percentText(entry),
    decisionOf(entry),
  ]);
  const [head, ...lines] = table(columns, rows).map((text) => `  ${text}`);
  const fits = Math.max(head!.length, ...lines.map((text) => text.length)) <= width;
  return [
    'Plan:',
    ...(fits && rows.length > 0 ? [head!] : []),
    ...state.entries.flatMap((entry, at) => {
      const [name, total, toDelete, percent, decision] = rows[at]!;
      const first = fits
        ? [lines[at]!]
        : wrap(
            entry.entry.rowsTotal === undefined
              ? `${name}: ${decision}`
              : `${name}: ${decision}; ${toDelete} of ${total} rows to delete, ${percent}`,
            width,
            '  ',
            '    ',
          );
      return [...first, ...reasonOf(entry, width, '      ')];
    }),
    ...(state.error === undefined ? [] : wrap(errorSentence(state.error, maxText), width, '  Error: ', '    ')),
    ...(state.breaker === undefined
      ? []
      : wrap(`Nothing is started: ${errorSentence(state.breaker, maxText)}`, width, '  ', '    ')),
  ];
}

const count = (rows: number | undefined): string => (rows === undefined ? '-' : grouped(rows));

function percentText({ entry: { rowsToDelete, rowsTotal } }: Entry): string {
  if (rowsToDelete === undefined || rowsTotal === undefined) return '-';
  return `${percentOf(rowsToDelete, rowsTotal).toFixed(2)} %`;
}

function decisionOf(entry: Entry): string {
  if (entry.phase === 'done') return entry.entry.outcome;
  return entry.phase === 'approved' ? 'truncate' : 'watch';
}

/** Requests to the search cluster stay whole, to be pasted. */
const renderRecovery = (entry: DecidedFacts, width: number, indent: string): string[] =>
  recovery(entry, Date.now()).flatMap(({ say, request }) => [
    ...wrap(say, width, indent),
    ...(request === undefined ? [] : [`${indent}  ${request}`]),
  ]);

function reasonOf(entry: Entry, width: number, indent: string): string[] {
  // How to approve and to clear is told by the notification, with the commands for this machine.
  if (entry.phase === 'done') {
    return [...wrap(causeSentence(entry.entry, maxText), width, indent), ...renderRecovery(entry.entry, width, indent)];
  }
  return wrap(entry.phase === 'watched' ? watchedText : approvedText(entry), width, indent);
}

const watchedText = 'An earlier run started a truncation here and did not see its end: this run watches it.';

function approvedText({ policy, plan }: ApprovedEntry): string {
  const how = plan.strategy === 'reindex' ? 'by reindexing' : 'by deleting in place';
  return `Older than ${policy.retentionDays} days; the threshold is ${policy.minDeletePercent} %. To be done ${how}.`;
}

interface Bars {
  line(text: string): void;
  update(entry: WatchedEntry): void;
  /** Nothing is asked for so many seconds. */
  wait(entries: WatchedEntry[], seconds: number): void;
  end(index: string): void;
  stop(): void;
}

/** Rows done and to do, as far as any look has told. */
function doneOf({ entry, watch }: WatchedEntry): { done: number; total: number } {
  const total = watch.progress?.total ?? entry.rowsToDelete ?? 0;
  return { total, done: Math.min(watch.progress?.done ?? 0, total) };
}

function terminalBars(stream: NodeJS.WriteStream, width: number): Bars {
  const options: Options = {
    stream,
    format: '  {bar} {percentage} %  {rows}  {name}',
    barsize: Math.max(8, Math.min(30, width - 70)),
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    // An ended bar makes room for the line that says how it ended.
    clearOnComplete: true,
    linewrap: false,
    gracefulExit: false,
    autopadding: true,
  };
  const bars = new Map<string, SingleBar>();
  // The library keeps counting lines after its last bar has gone, so each group of bars gets a drawing of its own.
  let drawing: MultiBar | undefined;
  const stop = () => {
    drawing?.stop();
    drawing = undefined;
    bars.clear();
  };
  return {
    line: (text) => (drawing ? drawing.log(`${text}\n`) : stream.write(`${text}\n`)),
    update(watched) {
      const { done, total } = doneOf(watched);
      const payload = { rows: `${grouped(done)} of ${grouped(total)} rows`, name: indexName(watched.entry) };
      drawing ??= new MultiBar(options);
      const bar = bars.get(watched.index);
      if (bar) {
        bar.setTotal(total);
        bar.update(done, payload);
      } else bars.set(watched.index, drawing.create(total, done, payload));
    },
    // A bar stays where it is.
    wait: () => {},
    end(index) {
      const bar = bars.get(index);
      if (!bar) return;
      bars.delete(index);
      if (bars.size === 0) stop();
      else drawing?.remove(bar);
    },
    stop,
  };
}

/** A log that is silent for longer reads as a process that hangs. */
const silenceMillis = 60_000;

/** Lines for logs and pipes: one when a task is first seen, one for every tenth that is done, and one where nothing else was to be said for a minute. */
function lineBars(screen: Screen): Bars {
  const tenths = new Map<string, number>();
  let spokenAt = Date.now();
  const line = (text: string) => {
    spokenAt = Date.now();
    screen.write(`${text}\n`);
  };
  const rowsDone = (watched: WatchedEntry) => {
    const { done, total } = doneOf(watched);
    return `${indexName(watched.entry)}: ${grouped(done)} of ${grouped(total)} rows done`;
  };
  return {
    line,
    update(watched) {
      const { done, total } = doneOf(watched);
      const tenth = total === 0 ? 0 : Math.floor((done / total) * 10);
      if ((tenths.get(watched.index) ?? -1) >= tenth) return;
      tenths.set(watched.index, tenth);
      line(`  ${rowsDone(watched)}`);
    },
    wait(entries, seconds) {
      if (Date.now() - spokenAt < silenceMillis) return;
      line(`  ${entries.map(rowsDone).join(', ')}; looks again in ${duration(seconds)}`);
    },
    end: () => {},
    stop: () => {},
  };
}
