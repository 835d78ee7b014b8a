import { isDeepStrictEqual } from 'node:util';
import type { Interruption, Run, Step, World } from '../../../support/world.ts';
import { dateText, reportText } from './journal.ts';

/** A run as text: what each step asked, wrote and waited for, and the report. */

export interface Recording {
  /** Takes the lines that the journal says. */
  say(line: string): void;
  /** When the run began, epoch milliseconds. */
  start: number;
  /** The last list of indices that was printed, or that a stage begins with. */
  sizes: string;
}

export interface Playing {
  name?: string;
  input: Record<string, unknown>;
  byHand: boolean;
  interruption?: Interruption;
  /** What goes as it always goes is printed, too. */
  inFull?: boolean;
}

/** What one step did. */
interface Turn {
  /** Seconds since the run's start. */
  at: number;
  step: string;
  lines: string[];
}

/** Plays a run. @param recording is changed while it is played */
export async function played(
  world: World,
  recording: Recording,
  playing: Playing,
  from?: Run,
): Promise<[Run, string[]]> {
  const outer = { ...recording };
  const turns: Turn[] = [];
  let lines: string[] = [];
  let since = world.clock.time;
  const start = from?.startedAt ?? world.clock.time;
  Object.assign(recording, { start, say: (line: string) => void lines.push(line) });
  const onStep = (step: Step, hasEnded: boolean, failure?: string): void => {
    if (!hasEnded) {
      since = world.clock.time;
      return;
    }
    if (failure) lines.push(failure === 'Stopped' ? 'THE RUN IS STOPPED' : `fails with ${failure}`);
    if (step === 'report' && lines.length === 0) return;
    turns.push({ at: (since - start) / 1000, step: `${step[0]?.toUpperCase()}${step.slice(1)}`, lines });
    lines = [];
  };
  const { name, input, byHand, interruption, inFull = false } = playing;
  const run = await (from
    ? world.redrive(from, { onStep })
    : world.run({ ...(name && { name }), input, byHand, interruption, onStep }));
  Object.assign(recording, { say: outer.say, start: outer.start });
  const { left, isMarked } = inFull ? { left: turns, isMarked: false } : withoutMarks(turns);
  const shown = Object.keys(input).length > 0 ? ` ${JSON.stringify(input)}` : '';
  return [
    run,
    [
      `${run.name} ${from ? 'is redriven' : 'begins'} ${dateText(start)}${shown}`,
      ...turnsText(compressed(left), inFull ? undefined : recording),
      ...(run.report
        ? reportText(run.report, byHand, isMarked)
        : [run.failed ? `the execution fails with ${run.failed}` : 'no report']),
    ],
  ];
}

/** From a series of polls without any other event, the first and the last are printed; the first alone if all are alike. */
function compressed(turns: readonly Turn[]): Turn[] {
  const shown: Turn[] = [];
  const isQuiet = ({ step, lines }: Turn) => step === 'Poll' && !lines.some((line) => line.startsWith('ledger'));
  for (let at = 0; at < turns.length; at++) {
    let end = at;
    while (end + 1 < turns.length && isQuiet(turns[at] as Turn) && isQuiet(turns[end + 1] as Turn)) end++;
    const [first, last] = [turns[at] as Turn, turns[end] as Turn];
    shown.push(first);
    if (end - at < 3) continue;
    const { at: next = 0 } = turns[at + 1] ?? {};
    const areAlike = turns.slice(at, end + 1).every(({ lines }) => isDeepStrictEqual(lines, first.lines));
    if (areAlike)
      shown.push({
        at: next,
        step: '',
        lines: [`... ${end - at} more polls, all alike, until +${clockText(last.at)}`],
      });
    else shown.push({ at: next, step: '', lines: [`... ${end - at - 1} more polls`] }, last);
    at = end;
  }
  return shown;
}

/** If the last step did nothing but mark what this run has written, `marked` in its report says that. */
function withoutMarks(turns: readonly Turn[]): { left: readonly Turn[]; isMarked: boolean } {
  const last = turns.at(-1);
  const left = turns.slice(0, -1);
  const marks = left
    .flatMap(({ lines }) => lines)
    .flatMap((line) => {
      const [, revision, record] = /^ledger (\d+): (.*), unreported$/.exec(line) ?? [];
      return record ? [`ledger ${Number(revision) + 1}: ${record}`] : [];
    });
  const isMarked = last?.step === 'MarkReported' && isDeepStrictEqual([...last.lines].sort(), marks.sort());
  return isMarked ? { left, isMarked } : { left: turns, isMarked };
}

/** @param recording undefined: in full */
function turnsText(turns: readonly Turn[], recording: Recording | undefined): string[] {
  let before: readonly string[] = [];
  return turns.flatMap(({ at, step, lines }) => {
    const joined = lines.length === 0 ? ['-'] : countsJoined(repeated(lines));
    const isAsBefore =
      step === 'Poll' && before.length > 1 && isDeepStrictEqual(joined.slice(0, before.length), before);
    const shown = isAsBefore && recording ? ['as before', ...joined.slice(before.length)] : joined;
    const found = joined.findIndex((line) => !/^(?:status|count) /.test(line));
    before = step === 'Poll' ? joined.slice(0, found < 0 ? undefined : found) : [];
    const head = `  +${clockText(at)} ${step.padEnd(13)}`;
    return (recording ? asUsual(shown, recording) : shown).map(
      (line, row) => `${row === 0 ? head : ' '.repeat(head.length)}${line}`,
    );
  });
}

/**
 * Patterns over the lines of a step: their back references say what has to agree. With a row limit there is a count more:
 * of all that is past its retention.
 */
const baseline =
  /(?:sizes\n)?count (\S+ up to [^:]*): (\S+) of (\S+)(?:, (up to [^:]*: \S+) of \3)?, up to [^:]*: \3 of \3\ndry run \1: \2 of \3(.*)/g;
const sending =
  /baseline of (\S+) ([^:]*): (\S+) of (\S+?)(|, (?:up to [^:]*): \S+)(|, would reindex)\nledger (\d+): sending, \3 to delete, (\S+) to keep(|, reindexes)\nTRUNCATE \1 \2: (\S+)\nledger (\d+): running \10\9/g;
const window =
  /(?:sizes\n)?count \S+ up to ([^:]*): (\S+) of (\S+)(?:, up to [^:]*: \3 of \3)?\n(ledger .*, window of )(\S+)(, unreported)/g;
const ending =
  /status of (\S+): completed, (\S+) deleted of \2\ncount (\S+ up to [^:]*): 0 of (\S+)(?:, up to [^:]*: (\S+) of \4)?, up to [^:]*: \4 of \4\n(ledger \d+): idle, truncated, window of (\S+) \(22.5 d ago\), unreported/g;

const dryRuns = /dry run (\S+) (up to [^:\n]*): (\S+ of [\d,]+)((?:\ndry run \S+ \2: \S+ of [\d,]+$)+)/gm;

/** What went as it always goes is one line, as README.md says. */
function asUsual(lines: readonly string[], recording: Recording): string[] {
  const known = lines.map((line) => {
    if (!line.startsWith('sizes: ')) return line;
    const isKnown = line === recording.sizes;
    recording.sizes = line;
    return isKnown ? 'sizes' : line;
  });
  return withoutSearch(known)
    .join('\n')
    .replace(baseline, (_, what, old, rows, past, method) =>
      [`baseline of ${what}: ${old} of ${rows}`, ...(past ? [past] : [])].join(', ').concat(method),
    )
    .replace(sending, (all, index, cutoff, old, rows, past, method, first, kept, _, task, second) =>
      asNumber(kept) + asNumber(past.replace(/.* /, '') || old) === asNumber(rows) &&
      Number(first) + 1 === Number(second)
        ? `sends ${index} ${cutoff}: ${old} of ${rows}${past}${method}: ${task}, ledger ${second}`
        : all,
    )
    .replace(window, (all, from, old, rows, record, kept, unreported) =>
      asNumber(rows) - asNumber(old) === asNumber(kept) ? `${record}${kept} (${from})${unreported}` : all,
    )
    .replace(ending, (all, task, deleted, what, rows, rest, ledger, kept) =>
      asNumber(rows) - asNumber(rest ?? '0') === asNumber(kept)
        ? `ends ${what}: ${deleted} deleted, ${rows} left: ${task}, ${ledger}`
        : all,
    )
    .replace(
      dryRuns,
      (_, first, cutoff, rows, others) =>
        `dry run ${first} ${cutoff}: ${rows}${others.replaceAll('\ndry run ', ', ').replaceAll(` ${cutoff}:`, ':')}`,
    )
    .replace(/, would reindex\nstatus of no-such-node:1: not known/g, ', would reindex, and tells statuses')
    .replace(/^sizes\n/gm, 'sizes, ')
    .split('\n');
}

/** Of the search for a cutoff within a row limit, which asks again and again, the last dry run is printed. */
function withoutSearch(lines: readonly string[]): string[] {
  const indexOf = (line: string | undefined) => /^dry run (\S+) /.exec(line ?? '')?.[1];
  const shown: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    let end = at;
    while (indexOf(lines[at]) !== undefined && indexOf(lines[end + 1]) === indexOf(lines[at])) end++;
    shown.push(lines[at] as string);
    if (end - at < 3) continue;
    shown.push(`... ${end - at - 1} dry runs between`, lines[end] as string);
    at = end;
  }
  return shown;
}

const asNumber = (printed: string): number => Number(printed.replaceAll(',', ''));

/** Repeated lines are printed once. */
function repeated(lines: readonly string[]): string[] {
  return lines.flatMap((line, at) => {
    if (at > 0 && lines[at - 1] === line) return [];
    let times = 1;
    while (lines[at + times] === line) times++;
    return [times === 1 ? line : `${line} (${times} times)`];
  });
}

/** Counts of one index in a row, by several cutoffs, are one line. */
function countsJoined(lines: readonly string[]): string[] {
  const joined: string[] = [];
  let subject: string | undefined;
  for (const line of lines) {
    const [, counted, rest] = /^(count \S+) (.*)/.exec(line) ?? [];
    if (counted && counted === subject) joined.push(`${joined.pop()}, ${rest}`);
    else joined.push(line);
    subject = counted;
  }
  return joined;
}

function clockText(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}
