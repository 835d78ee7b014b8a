import { safeJson } from '../../lambda/facts/text.ts';
import { percentOf } from '../../lambda/policy/percentage.ts';
import type { Entry, RunState } from '../../lambda/run/state.ts';
import { checkWords } from '../../lambda/wording/checks.ts';
import { errorText } from '../../lambda/wording/errors.ts';
import { noteText } from '../../lambda/wording/notes.ts';
import { wordedEntry } from '../../lambda/wording/worded.ts';
import packageManifest from '../../package.json' with { type: 'json' };
import { doneOf } from '../screen/bars.ts';
import { decisionOf, whyOf } from '../screen/progress.ts';
import { damage } from '../survey/damage.ts';
import { hints } from '../survey/hints.ts';
import { reasonOf, suggest } from '../survey/suggestion.ts';
import type { EventFields, EventName } from './events.ts';
import type { Output } from './output.ts';

/** Counting progress is reported at most this often; each planned index is reported anyway. */
const countingMillis = 1000;

/** `--log json`: one line for each event, as defined in `events.ts`, for log collectors. */
export function jsonLines(write: (line: string) => void): Output {
  const hidden: Array<(text: string) => string> = [];
  const tell = <Name extends EventName>(event: Name, fields: EventFields<Name>) => {
    const line = safeJson({ time: new Date().toISOString(), event, ...fields });
    write(`${hidden.reduce((text, hide) => hide(text), line)}\n`);
  };
  const watch = stateChanges(tell);
  let countedAt = 0;
  return {
    neverShow: (hide) => {
      hidden.push(hide);
    },
    header: (header) => tell('header', { version: packageManifest.version, ...header }),
    ledger: (path) => tell('ledger', { path }),
    note: (text) => tell('note', { text }),
    preflight(checks, isComplete) {
      if (!isComplete) return;
      const worded = checks.map((check) => ({
        name: check.name,
        state: check.state,
        ...checkWords(check, 'machine', Date.now()),
      }));
      tell('preflight', { checks: worded });
    },
    asking: () => {},
    counted(done, of) {
      if (done < of && Date.now() - countedAt < countingMillis) return;
      countedAt = Date.now();
      tell('counting', { done, of });
    },
    state: watch,
    problem: (text) => tell('problem', { text }),
    report: (report, { subject }) => tell('report', { subject, report }),
    posted(posted) {
      const { host } = posted;
      if (posted.kind === 'posted') tell('posted', { host, status: posted.status });
      else tell('not-posted', { host, text: posted.problem });
    },
    sizes: (sizes) => {
      for (const size of sizes) tell('surveyed', size);
    },
    survey(survey, now) {
      for (const { counts, ...index } of survey.indices) {
        if (counts.kind === 'failed') tell('surveyed', { ...index, problem: errorText(counts.error) });
        else tell('surveyed', { ...index, rowsTotal: counts.rowsTotal, older: counts.older });
      }
      if (survey.stopped) tell('problem', { text: errorText(survey.stopped) });
      for (const text of [...damage(survey, now).map((line) => line.text), ...hints(survey)]) tell('hint', { text });
      for (const one of suggest(survey, now)) tell('suggested', { policy: one.policy, reason: reasonOf(one) });
    },
    written: (what, path) => tell('written', { what, path }),
    stopped: (lines) => tell('stopped', { text: [...lines] }),
    close: () => {},
  };
}

type Tell = <Name extends EventName>(event: Name, fields: EventFields<Name>) => void;

/** Only what is new in a run state is reported. */
function stateChanges(tell: Tell): Output['state'] {
  const phases = new Map<string, Entry['phase']>();
  const rowsDone = new Map<string, number>();
  let notes = 0;
  const watching = (entry: Entry & { phase: 'watched' }, { entityType, aspect, ...facts }: Entry['entry']) => {
    const { done, total } = doneOf(entry);
    if (phases.get(entry.index) !== 'watched') {
      const { taskId, rowsToDelete, adopted } = facts;
      tell('started', {
        entityType,
        aspect,
        ...(taskId !== undefined && { taskId }),
        ...(rowsToDelete !== undefined && { rowsToDelete }),
        ...(adopted && { adopted }),
      });
    }
    if (rowsDone.get(entry.index) !== done) tell('progress', { entityType, aspect, done, total });
    rowsDone.set(entry.index, done);
  };
  return (step, state: RunState) => {
    for (const entry of state.entries) {
      if (step === 'plan') tell('planned', planned(entry));
      else if (entry.phase === 'done' && phases.get(entry.index) !== 'done') {
        tell('verdict', wordedEntry(entry.entry, Date.now()));
      }
      if (entry.phase === 'watched') watching(entry, entry.entry);
      phases.set(entry.index, entry.phase);
    }
    for (const note of state.notes.slice(notes)) tell('note', { text: noteText(note), note });
    notes = state.notes.length;
  };
}

function planned(entry: Entry): EventFields<'planned'> {
  const { entityType, aspect, retentionDays, cutoffMillis, rowsTotal, rowsToDelete, strategy } = entry.entry;
  return {
    entityType,
    aspect,
    decision: decisionOf(entry),
    reason: whyOf(entry),
    ...(retentionDays !== undefined && { retentionDays }),
    ...(cutoffMillis !== undefined && { cutoffMillis }),
    ...(rowsTotal !== undefined && { rowsTotal }),
    ...(rowsToDelete !== undefined && { rowsToDelete }),
    ...(rowsTotal !== undefined && rowsToDelete !== undefined && { percent: percentOf(rowsToDelete, rowsTotal) }),
    ...(strategy !== undefined && { strategy }),
    ...(entry.phase === 'done' && { cause: entry.entry.cause }),
  };
}
