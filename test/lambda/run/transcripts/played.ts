import type { RunState } from '../../../../lambda/run/state.ts';
import type { Interruption, Run, Step, World } from '../../../support/world.ts';
import { dateText, reportText } from './journal.ts';

/** A run as text: what each step asked, wrote and waited for, and the report. */

export interface Recording {
  /** Takes the lines that the journal says. */
  say(line: string): void;
  /** When the run began, epoch milliseconds. */
  start: number;
}

export interface Playing {
  name?: string;
  input: Record<string, unknown>;
  byHand: boolean;
  interruption?: Interruption;
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
  const onStep = (step: Step, state: RunState | undefined, failure?: string, hasEnded = false): void => {
    if (!hasEnded) {
      since = world.clock.time;
      return;
    }
    if (failure) lines.push(failure === 'Stopped' ? 'THE RUN IS STOPPED' : `fails with ${failure}`);
    else if (state?.next === 'wait') lines.push(`waits ${state.waitSeconds} s`);
    if (step === 'report' && lines.length === 0) return;
    turns.push({ at: (since - start) / 1000, step: `${step[0]?.toUpperCase()}${step.slice(1)}`, lines });
    lines = [];
  };
  const { name, input, byHand, interruption } = playing;
  const run = await (from
    ? world.redrive(from, { onStep })
    : world.run({ ...(name && { name }), input, byHand, interruption, onStep }));
  Object.assign(recording, outer);
  const shown = Object.keys(input).length > 0 ? ` ${JSON.stringify(input)}` : '';
  return [
    run,
    [
      `${run.name} ${from ? 'is redriven' : 'begins'} ${dateText(start)}${shown}`,
      ...compressed(turns).flatMap(turnText),
      ...(run.report
        ? reportText(run.report, byHand)
        : [run.failed ? `the execution fails with ${run.failed}` : 'no report']),
    ],
  ];
}

/** From a series of polls without any other event, only the first and the last are printed. */
function compressed(turns: readonly Turn[]): Turn[] {
  const shown: Turn[] = [];
  const isQuiet = ({ step, lines }: Turn) => step === 'Poll' && !lines.some((line) => line.startsWith('ledger'));
  for (let at = 0; at < turns.length; at++) {
    let end = at;
    while (end + 1 < turns.length && isQuiet(turns[at] as Turn) && isQuiet(turns[end + 1] as Turn)) end++;
    shown.push(turns[at] as Turn);
    if (end - at < 3) continue;
    shown.push({ at: -1, step: '', lines: [`... ${end - at - 1} more polls`] }, turns[end] as Turn);
    at = end;
  }
  return shown;
}

function turnText({ at, step, lines }: Turn): string[] {
  const time = at < 0 ? '' : `+${clockText(at)}`;
  const head = `  ${time.padEnd(9)} ${step.padEnd(13)}`;
  return (lines.length === 0 ? ['-'] : repeated(lines)).map(
    (line, row) => `${row === 0 ? head : ' '.repeat(head.length)}${line}`,
  );
}

/** Repeated lines are printed once. */
function repeated(lines: readonly string[]): string[] {
  return lines.flatMap((line, at) => {
    if (at > 0 && lines[at - 1] === line) return [];
    let times = 1;
    while (lines[at + times] === line) times++;
    return [times === 1 ? line : `${line} (${times} times)`];
  });
}

function clockText(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}
