import { resultOf } from '../../lambda/facts/outcomes.ts';
import type { DecidedFacts, EntryFacts } from '../../lambda/facts/report-schema.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import { percentOf } from '../../lambda/policy/percentage.ts';
import type { ApprovedEntry, Entry, Planned, RunState } from '../../lambda/run/state.ts';
import { counted, duration } from '../../lambda/wording/numbers.ts';
import { recovery } from '../../lambda/wording/recovery.ts';
import { causeSentence, errorSentence } from '../../lambda/wording/sentences.ts';
import type { Step } from '../state-machine.ts';
import { createBars } from './bars.ts';
import { type Paint, paintFor, plain } from './colour.ts';
import type { Screen } from './screen.ts';
import { type Column, freedExplained, freedMb, grouped, size, table, widthOf, wrap } from './text.ts';

export { type Screen, screenOn } from './screen.ts';

/** What people see of a run: the plan, a bar for each running task on a terminal, plain lines elsewhere. */

export interface Progress {
  /** One line alongside the bars. */
  line(text: string): void;
  onState(step: Step, state: RunState): void;
  /** Whether bars show that the run is alive. */
  hasBars(): boolean;
  /** Removes the bars, so that other text can follow. */
  stop(): void;
}

export function createProgress(screen: Screen): Progress {
  const bars = createBars(screen);
  const paint = paintFor(screen);
  const told = new Set<string>();
  /** Estimated seconds for each truncation, based on earlier ones. */
  const estimates = new Map<string, number | undefined>();
  const line = (text: string) => bars.line(text);
  const tellEnds = (state: RunState) => {
    for (const { index, phase, entry } of state.entries) {
      if (phase !== 'done' || told.has(index)) continue;
      told.add(index);
      bars.end(index);
      const outcome = paint(resultOf[entry.outcome], `${entry.outcome}.`);
      const first = `${dottedName(entry)}: ${outcome} ${causeSentence(entry, maxText)}`;
      for (const text of wrap(first, screen.width, '  ', '    ')) line(text);
      for (const text of renderRecovery(entry, screen.width, '    ')) line(text);
    }
  };
  return {
    line,
    onState(step, state) {
      // A run that clears an index has no plan.
      if (step === 'plan' && (state.entries.length > 0 || state.error !== undefined)) {
        for (const text of renderPlan(state, screen.width, paint)) line(text);
        for (const { index, phase } of state.entries) if (phase === 'done') told.add(index);
        for (const entry of state.entries) {
          if (entry.phase === 'approved') estimates.set(entry.index, entry.plan.seconds);
        }
        if (state.entries.some(({ phase }) => phase !== 'done')) line('Truncating, one index after another:');
      }
      tellEnds(state);
      const watched = state.entries.filter((entry) => entry.phase === 'watched');
      for (const entry of watched) bars.update(entry, estimates.get(entry.index));
      if (state.next === 'wait' && watched.length > 0) bars.wait(watched, state.waitSeconds);
    },
    hasBars: () => bars.isDrawn(),
    stop: () => bars.stop(),
  };
}

/** Keeps server text from filling the screen. */
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
  // Entries that only wait for the server or the token are reported with the error.
  const shown = state.entries.filter((entry) => !isToldWithError(entry, state));
  const rows = shown.map((entry) => [
    dottedName(entry.entry),
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
    ...shown.flatMap((entry, at) => {
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
      return [...first, ...(sameReason(entry, shown[at + 1]) ? [] : reasonOf(entry, width, '      '))];
    }),
    ...gainText(shown, width),
    ...toldWithError(state.entries.length - shown.length, width),
    ...(state.error === undefined ? [] : wrap(errorSentence(state.error, maxText), width, '  Error: ', '    ')),
    ...(state.breaker === undefined
      ? []
      : wrap(`Nothing is started: ${errorSentence(state.breaker, maxText)}`, width, '  ', '    ')),
  ];
}

const isToldWithError = ({ phase, entry }: Entry, { error }: RunState): boolean =>
  error !== undefined && phase === 'done' && entry.cause.kind === 'run-error';

const toldWithError = (entries: number, width: number): string[] =>
  entries === 0 ? [] : wrap(`${counted(entries, 'policy was', 'policies were')} not looked at.`, width, '  ', '    ');

/** Adjacent entries with the same reason share one line for it, below the last of them. */
const sameReason = (entry: Entry, next: Entry | undefined): boolean =>
  next !== undefined && entry.phase === 'done' && next.phase === 'done' && planText(entry) === planText(next);

const count = (rows: number | undefined): string => (rows === undefined ? '-' : grouped(rows));

/** The share that the threshold is compared with: of all that is past the retention, even if a bite deletes less. */
function percentText({ entry: { rowsToDelete, rowsPastRetention = rowsToDelete, rowsTotal } }: Entry): string {
  if (rowsPastRetention === undefined || rowsTotal === undefined) return '-';
  return `${percentOf(rowsPastRetention, rowsTotal).toFixed(2)} %`;
}

/** The outcome, if there is one already; otherwise what is being done. */
export function decisionOf(entry: Entry): string {
  if (entry.phase === 'done') return entry.entry.outcome;
  return entry.phase === 'approved' ? 'truncate' : 'watch';
}

/** Requests to the search cluster are not wrapped, so that they can be pasted. */
const renderRecovery = (entry: DecidedFacts, width: number, indent: string): string[] =>
  recovery(entry, Date.now()).flatMap(({ say, line }) =>
    line === undefined ? wrap(`${say}.`, width, indent) : [...wrap(`${say}:`, width, indent), `${indent}  ${line}`],
  );

function reasonOf(entry: Entry, width: number, indent: string): string[] {
  const text = wrap(planText(entry), width, indent);
  return entry.phase === 'done' ? [...text, ...renderRecovery(entry.entry, width, indent)] : text;
}

/** Why, and what it brings. */
function planText(entry: Entry): string {
  const mb = freedBy(entry);
  return mb === undefined ? whyOf(entry) : `${whyOf(entry)} Frees about ${size(mb)}.`;
}

/** Decimal megabytes, for what is to be truncated, or would be. */
function freedBy(entry: Entry): number | undefined {
  const isToGo = entry.phase === 'done' ? entry.entry.outcome === 'would-truncate' : entry.phase === 'approved';
  if (!isToGo) return undefined;
  const { rowsToDelete = 0, rowsTotal = 0, sizeBeforeMb } = entry.entry;
  return freedMb(rowsToDelete, rowsTotal, sizeBeforeMb);
}

/** All of it together. */
function gainText(entries: readonly Entry[], width: number): string[] {
  const freed = entries.flatMap((entry) => freedBy(entry) ?? []);
  if (freed.length === 0) return [];
  const going = entries.filter((entry) => freedBy(entry) !== undefined);
  const rows = going.reduce((sum, { entry: { rowsToDelete = 0 } }) => sum + rowsToDelete, 0);
  const mb = freed.reduce((sum, one) => sum + one, 0);
  return wrap(`${grouped(rows)} rows to delete in all, about ${size(mb)}. ${freedExplained}`, width, '  ');
}

/** The notification says how to approve and clear, with the commands for this machine. */
export function whyOf(entry: Entry): string {
  if (entry.phase === 'done') return causeSentence(entry.entry, maxText);
  return entry.phase === 'watched' ? watchedText : approvedText(entry);
}

const watchedText = 'An earlier run started a truncation here and did not see its end: this run watches it.';

function approvedText({ policy, plan, entry }: ApprovedEntry): string {
  const how = plan.strategy === 'reindex' ? 'reindexed' : 'deleted in place';
  const takes = plan.seconds === undefined ? '' : `; about ${duration(plan.seconds)} (last time)`;
  const so = `Older than ${policy.retentionDays} days; the threshold is ${policy.minDeletePercent} %. To be ${how}${takes}.`;
  return plan.bite === undefined ? so : `${so} ${biteText(plan.bite, entry)}`;
}

/** A bite's share of everything past the retention. */
function biteText({ rows, nights }: NonNullable<Planned['bite']>, { rowsPastRetention = rows }: EntryFacts): string {
  const inAll = nights === undefined ? '' : `, all of them in about ${counted(nights, 'night', 'nights')}`;
  return `${grouped(rows)} of ${grouped(rowsPastRetention)} rows past their retention go in this run (maxRowsPerRun)${inAll}.`;
}
