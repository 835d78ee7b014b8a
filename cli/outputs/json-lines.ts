import { errorText } from '../../lambda/report/sentences/server-errors.ts';
import { safeJson } from '../../lambda/report/sentences/text.ts';
import { decisionOf } from '../../lambda/run/entries.ts';
import type { Entry, RunState, WatchedEntry } from '../../lambda/run/state.ts';
import { view } from '../../lambda/run/view.ts';
import { progressShown } from '../../lambda/truncation/watch.ts';
import { jobVersion } from '../../version.ts';
import { actionOf, type RunListener } from '../events/run-listener.ts';

/** Counting is reported at most this often, apart from its end. */
const countingMillis = 1000;

/**
 * `--log json`, for log collectors: each line is one JSON object with `time`, `event` and the fields of that event.
 * Later versions may add events and fields.
 */
export function jsonLines(write: (line: string) => void): RunListener {
  const hidden: Array<(text: string) => string> = [];
  const emit: Emit = (event, fields) => {
    const line = safeJson({ time: new Date().toISOString(), event, ...fields });
    write(`${hidden.reduce((text, hide) => hide(text), line)}\n`);
  };
  let countedAt = 0;
  return {
    addRedaction: (hide) => {
      hidden.push(hide);
    },
    header: (header) => emit('header', { version: jobVersion(), ...header }),
    ledger: (path) => emit('ledger', { path }),
    note: (text, more = []) => emit('note', { text: [text, ...more].join('\n') }),
    counted(done, of) {
      if (done < of && Date.now() - countedAt < countingMillis) return;
      countedAt = Date.now();
      emit('counting', { done, of });
    },
    state: stateChanges(emit),
    task: (index, taskId) => emit('task', { index, taskId }),
    problem: (text) => emit('problem', { text }),
    report: ({ report, subject }) => emit('report', { subject, report }),
    posted(posted) {
      const { host } = posted;
      if (posted.kind === 'posted') emit('posted', { host, status: posted.status, doubt: posted.doubt });
      else emit('not-posted', { host, text: posted.problem });
    },
    checks: (checks) => {
      for (const check of checks) emit('check', check);
    },
    survey({ survey, damage, hints, suggestions }) {
      for (const { counts, ...index } of survey.indices) {
        if (counts.kind === 'failed') emit('surveyed', { ...index, problem: errorText(counts.error) });
        else emit('surveyed', { ...index, rowsTotal: counts.rowsTotal, older: counts.older });
      }
      if (survey.stopped) emit('problem', { text: errorText(survey.stopped) });
      for (const text of [...damage.map((line) => line.text), ...hints]) emit('hint', { text });
      for (const { policy, why } of suggestions) emit('suggested', { policy, reason: why });
    },
    written: (what, path) => emit('written', { what, path }),
    stopped: (lines) => emit('stopped', { text: [...lines] }),
    close: () => {},
  };
}

type Emit = (event: string, fields: object) => void;

/** Only what is new in a run state is reported. */
function stateChanges(emit: Emit): RunListener['state'] {
  const phases = new Map<string, Entry['phase']>();
  const rowsDone = new Map<string, number | undefined>();
  let notes = 0;
  const watching = (entry: WatchedEntry, state: RunState) => {
    const { entityType, aspect, taskId, rowsToDelete, resumed } = view(entry, state);
    const { done, total, work } = progressShown(entry.record.attempt, entry.watch);
    if (phases.get(entry.index) !== 'watched') emit('started', { entityType, aspect, taskId, rowsToDelete, resumed });
    if (rowsDone.get(entry.index) !== done) emit('progress', { entityType, aspect, done, total, work });
    rowsDone.set(entry.index, done);
  };
  return (step, state: RunState) => {
    for (const entry of state.entries) {
      const isNews = entry.phase === 'done' && phases.get(entry.index) !== 'done';
      if (step === 'plan') {
        const decided = entry.phase === 'done' ? decisionOf(entry) : {};
        emit('planned', { ...view(entry, state), ...decided, decision: actionOf(entry) });
      } else if (isNews) emit('verdict', { ...view(entry, state), ...decisionOf(entry) });
      if (entry.phase === 'watched') watching(entry, state);
      phases.set(entry.index, entry.phase);
    }
    for (const note of state.notes.slice(notes)) emit('note', { note });
    notes = state.notes.length;
  };
}
