import type { Report } from '../../../lambda/model/report-schema.ts';
import { mailLines, plainLine } from '../../../lambda/report/destinations/mail.ts';
import type { Line } from '../../../lambda/report/render.ts';
import { duration, moment } from '../../../lambda/report/sentences/numbers.ts';
import type { WatchedEntry } from '../../../lambda/run/state.ts';
import type { Header, RunListener } from '../../events/run-listener.ts';
import { hanging, wrapped } from '../table.ts';
import { createProgress, waitingLine } from './progress.ts';
import { paintFor, type Screen, widthOf } from './screen.ts';
import { checkLines, surveyLines } from './survey.ts';
import { createWaiting } from './waiting.ts';

export function onScreen(screen: Screen): RunListener {
  const hidden: Array<(text: string) => string> = [];
  const waiting = createWaiting({
    ...screen,
    write: (text) => screen.write(hidden.reduce((rest, hide) => hide(rest), text)),
  });
  const print = (...lines: string[]) => waiting.write(`${lines.join('\n')}\n`);
  const paint = paintFor(screen);
  // On a terminal texts are wrapped between words, but never a command: what is pasted stays whole.
  const room = () => (screen.terminal ? widthOf(screen) : Number.POSITIVE_INFINITY);
  const printText = (text: string) => print(...wrapped(text, room()));
  const progress = createProgress(print, paint, { width: () => widthOf(screen), room });
  const fitted = (line: Line): string[] => (line.kind === 'command' ? [plainLine(line)] : wrapped(line.text, room()));
  const rule = () => '-'.repeat(Math.min(72, widthOf(screen)));
  const begunAt = Date.now();
  let counted: string | undefined;
  let watched: (() => string) | undefined;
  /** The last line of a log is read much later: a point in time stays true, a duration does not. */
  const nextCheck = (at: number): string => {
    const seconds = (at - Date.now()) / 1000;
    if (!screen.terminal) return `next check on ${moment(at)}`;
    return seconds < 1 ? 'checking' : `checks again in ${duration(seconds)}`;
  };
  return {
    addRedaction: (hide) => {
      hidden.push(hide);
    },
    header: (header) => {
      print(...headerLines(header).flatMap(([label, text]) => hanging(label.padEnd(8), text, room())));
      waiting.for(() => counted ?? watched?.());
    },
    ledger: (path) => print(...hanging('Ledger  ', path, room())),
    note: (text, more = []) => print('', ...wrapped(text, room()), ...more),
    counted: (done, of) => {
      counted = done < of ? `${done} of ${of} indices counted` : undefined;
    },
    state(step, state) {
      counted = undefined;
      if (step === 'plan') print('');
      progress.state(step, state);
      const unresolved = state.entries.filter((entry): entry is WatchedEntry => entry.phase === 'watched');
      const isWaiting = state.next === 'wait' && unresolved.length > 0;
      const until = Date.now() + state.waitSeconds * 1000;
      watched = isWaiting ? () => `${waitingLine(unresolved)}; ${nextCheck(until)}` : undefined;
    },
    task: progress.task,
    problem: progress.say,
    report: (message) => {
      waiting.for(undefined);
      print(
        '',
        rule(),
        ...wrapped(`Subject: ${message.subject}`, room()),
        '',
        ...mailLines(message).flatMap(fitted),
        rule(),
        ...runClockNote(message.report, Date.now() - begunAt).flatMap((line) => wrapped(line, room())),
      );
    },
    posted(posted) {
      if (posted.kind === 'failed') return printText(posted.problem);
      printText(`The message was posted to ${posted.host}.${posted.doubt ? ` But ${posted.doubt}` : ''}`);
    },
    checks: (checks) => print(...checkLines(checks, paint, room())),
    survey: (findings) => {
      waiting.for(undefined);
      print('', ...surveyLines(findings, widthOf(screen), room()));
    },
    written: (what, path) => {
      const verb = what === 'policies' || what === 'figures' ? 'are' : 'is';
      if (path !== '-') print('', `The ${what} ${verb} in ${path}.`);
    },
    stopped: () => {},
    close: () => waiting.stop(),
  };
}

/** A run that skips waits takes longer by its own clock than by the one on the wall. */
function runClockNote({ startedAt, finishedAt }: Report, tookMillis: number): string[] {
  const ownMillis = Date.parse(finishedAt) - Date.parse(startedAt);
  if (ownMillis < tookMillis + 5000) return [];
  return [`Times are by the run's clock, which skips waits: on this machine it took ${duration(tookMillis / 1000)}.`];
}

function headerLines({ server, from, mode, embedded, fast, ledger }: Header): [label: string, text: string][] {
  const modes: Record<typeof mode, string> = {
    survey: 'survey: only looks; nothing is changed',
    release: 'release: counts rows and changes the ledger; truncates nothing',
    preview: 'PREVIEW: nothing is changed; the verb enforce truncates for real',
    enforce: embedded ? 'enforce: really truncating, but sample data only' : 'ENFORCE: truncates for real',
  };
  return [
    ['Server', `${server}${embedded ? ' (the embedded operations service)' : ''}`],
    ...(from ? [['Access', [`address from ${from.url}`, ...from.identity].join(', ')] as [string, string]] : []),
    ['Mode', `${modes[mode]}${fast ? '; waits are cut short' : ''}`],
    ...(ledger === undefined ? [] : [['Ledger', ledger] as [string, string]]),
  ];
}
