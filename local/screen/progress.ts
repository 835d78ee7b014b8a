import { resultOf } from '../../lambda/facts/outcome.ts';
import type { DecidedFacts } from '../../lambda/facts/report-schema.ts';
import { indexName } from '../../lambda/policy/aspects.ts';
import { percentOf } from '../../lambda/policy/percentage.ts';
import type { ApprovedEntry, Entry, RunState } from '../../lambda/run/state.ts';
import { recovery } from '../../lambda/wording/recovery.ts';
import { causeSentence, errorSentence } from '../../lambda/wording/sentences.ts';
import type { Step } from '../state-machine.ts';
import { createBars } from './bars.ts';
import { type Paint, paintFor, plain } from './colour.ts';
import type { Screen } from './screen.ts';
import { type Column, grouped, table, widthOf, wrap } from './text.ts';

export { type Screen, screenOn } from './screen.ts';

/** What a person sees of a run: the plan, a bar for each running task on a terminal, plain lines elsewhere. */

export interface Progress {
  /** One line beside the bars. */
  line(text: string): void;
  onState(step: Step, state: RunState): void;
  /** Whether bars show that the run goes on. */
  hasBars(): boolean;
  /** Takes the bars away, so that other text can follow. */
  stop(): void;
}

export function createProgress(screen: Screen): Progress {
  const bars = createBars(screen);
  const paint = paintFor(screen);
  const told = new Set<string>();
  const line = (text: string) => bars.line(text);
  const tellEnds = (state: RunState) => {
    for (const { index, phase, entry } of state.entries) {
      if (phase !== 'done' || told.has(index)) continue;
      told.add(index);
      bars.end(index);
      const outcome = paint(resultOf[entry.outcome], `${entry.outcome}.`);
      const first = `${indexName(entry)}: ${outcome} ${causeSentence(entry, maxText)}`;
      for (const text of wrap(first, screen.width, '  ', '    ')) line(text);
      for (const text of renderRecovery(entry, screen.width, '    ')) line(text);
    }
  };
  return {
    line,
    onState(step, state) {
      if (step === 'plan') {
        for (const text of renderPlan(state, screen.width, paint)) line(text);
        for (const { index, phase } of state.entries) if (phase === 'done') told.add(index);
        if (state.entries.some(({ phase }) => phase !== 'done')) line('Truncating, one index after another:');
      }
      tellEnds(state);
      const watched = state.entries.filter((entry) => entry.phase === 'watched');
      for (const entry of watched) bars.update(entry);
      if (state.next === 'wait' && watched.length > 0) bars.wait(watched, state.waitSeconds);
    },
    hasBars: () => bars.isDrawn(),
    stop: () => bars.stop(),
  };
}

/** Nothing that a server said fills the screen. */
const maxText = 2000;

/** The plan: every policy with its counts, the decision and why. On narrow terminals each gets a paragraph. */
export function renderPlan(state: RunState, width: number, paint: Paint = plain): string[] {
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
    entry.phase === 'done' ? paint(resultOf[entry.entry.outcome], entry.entry.outcome) : decisionOf(entry),
  ]);
  const [head, ...lines] = table(columns, rows).map((text) => `  ${text}`);
  const fits = Math.max(...[head!, ...lines].map(widthOf)) <= width;
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

/** The outcome, where there is one already; what is done otherwise. */
export function decisionOf(entry: Entry): string {
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
  const text = wrap(whyOf(entry), width, indent);
  return entry.phase === 'done' ? [...text, ...renderRecovery(entry.entry, width, indent)] : text;
}

/** How to approve and to clear is told by the notification, with the commands for this machine. */
export function whyOf(entry: Entry): string {
  if (entry.phase === 'done') return causeSentence(entry.entry, maxText);
  return entry.phase === 'watched' ? watchedText : approvedText(entry);
}

const watchedText = 'An earlier run started a truncation here and did not see its end: this run watches it.';

function approvedText({ policy, plan }: ApprovedEntry): string {
  const how = plan.strategy === 'reindex' ? 'by reindexing' : 'by deleting in place';
  return `Older than ${policy.retentionDays} days; the threshold is ${policy.minDeletePercent} %. To be done ${how}.`;
}
