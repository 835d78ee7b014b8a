import { resultOf } from '../../../lambda/facts/outcomes.ts';
import type { PolicyEntry } from '../../../lambda/facts/report-schema.ts';
import { isUnresolved } from '../../../lambda/ledger/record.ts';
import { searchIndex, searchIndexOfName } from '../../../lambda/policy/aspects.ts';
import type { Loss, Track } from '../truth/track.ts';
import { type CheckRule, type Closing, type Event, eventsOf, isOurs, ofClosings, runOf } from './events.ts';
import { carriesVerdict, entriesOf, isBlind } from './judged.ts';

/** P1, P4 and rule 12: what people are told. A report that no subscriber gets tells nobody. */

export const tellingRules = {
  *'every row that is lost through us is told'(history) {
    const { tracker } = history.world;
    for (const { at, index, track } of eventsOf(history, 'truncate')) {
      const loss = tracker.lossOf(track);
      if (loss.settled + loss.stragglers === 0) continue;
      const reports = eventsOf(history, 'published').filter((event) => event.told && event.at >= track.sentAt);
      const isTold = reports.some(
        (event) =>
          entriesOf(event, index).some((entry) => isAbout(entry, track) && names(entry, loss)) ||
          (event.report.notes ?? []).some(
            (note) =>
              note.kind === 'released' &&
              searchIndexOfName(note.index) === index &&
              (note.copied || note.running || note.uncounted || note.rowsMissing),
          ),
      );
      if (!isTold)
        yield { at, text: `${index}: ${loss.settled} rows and ${loss.stragglers} late ones are lost, untold` };
    }
  },

  'the run that judges a copy says that it copied': ofClosings((closing, history) => {
    const { record, verdict } = closing;
    const said = saidAfter(history, closing).map((event) =>
      entriesOf(event, record.index).filter(({ outcome }) => outcome === verdict.outcome),
    );
    const isSilent = said.some((one) => one.length > 0 && one.every(({ reindexes }) => reindexes !== true));
    return verdict.reindexes && isSilent && 'no word of a copy';
  }),

  *'one message for every run that finishes'(history) {
    for (const { at, runId } of eventsOf(history, 'ended').filter(({ how }) => how === 'succeeded')) {
      const published = eventsOf(history, 'published').filter((event) => event.runId === runId && event.at <= at);
      if (!published.some(({ confirmed }) => confirmed))
        yield { at, text: `${runId} succeeded, and nothing was published` };
    }
  },

  *'every policy is in the report, once'(history) {
    for (const published of eventsOf(history, 'published')) {
      const { at, runId, report } = published;
      const names = report.policies.map((entry) => `${searchIndex(entry)} ${entry.resumed ?? ''}`);
      const twice = names.find((name, place) => names.indexOf(name) !== place);
      const isDuplicate = report.policies.some(({ cause }) => cause.kind === 'policy');
      if (twice !== undefined && !isDuplicate) yield { at, text: `${runId} reports ${twice} twice` };
      // A release is about something else.
      const execution = eventsOf(history, 'execution').find((event) => runOf(event) === runOf(published));
      const isWhole = execution && !('indices' in execution.input) && !('release' in execution.input) && !report.cause;
      // Of two Plans side by side, one is not the run's: a policy counts that each of them has read.
      const read = eventsOf(history, 'orders').flatMap(({ invocation, policies }) =>
        policies && invocation.step === 'plan' && runOf(invocation) === runOf(published) ? [policies] : [],
      );
      const inEach = (read[0] ?? []).filter(({ name }) =>
        read.every((one) => one.some((other) => other.name === name)),
      );
      for (const { name } of isWhole ? inEach : []) {
        const index = searchIndexOfName(name.slice(name.lastIndexOf('/') + 1).replace(/-2$/, ''));
        if (entriesOf(published, index).length === 0) yield { at, text: `${runId} does not report ${index}` };
      }
    }
  },

  *'what is unresolved or quarantined is told in every report'(history) {
    for (const published of eventsOf(history, 'published')) {
      const { at, report, runId } = published;
      // A release is about something else.
      const execution = eventsOf(history, 'execution').find((event) => runOf(event) === runOf(published));
      if (isBlind(published) || !execution || 'release' in execution.input) continue;
      for (const [index, state] of heldBetween(history, execution.at, at)) {
        const [entry] = entriesOf(published, index);
        // A preview says what the verdict would be.
        const isForetold = report.mode === 'preview' && entry?.resumed === true && state !== 'quarantined';
        if (!entry || (resultOf[entry.outcome] === 'ok' && !isForetold)) {
          yield { at, text: `${index} is ${state}, and ${runId} says ${entry?.outcome ?? 'nothing'}` };
        }
      }
    }
  },

  'a verdict is reported by the run that made it': ofClosings((closing, history) => {
    const { at, record, last, verdict, invocation } = closing;
    const carrying = eventsOf(history, 'published').find(
      (event) => event.at >= at && carriesVerdict(event, record.index, last),
    );
    const silent = saidAfter(history, closing).find(
      (event) =>
        !event.report.cause &&
        entriesOf(event, record.index).every(({ outcome }) => outcome !== verdict.outcome) &&
        // Since another run has told it, later ones have taken its place.
        !(carrying && carrying.at < event.at),
    );
    // Of two functions that one call began, the other one's result may have been taken.
    return silent && invocation.step !== 'truncate' && 'its report says something else';
  }),
} satisfies Record<string, CheckRule>;

/** What the run that judged has published since. */
const saidAfter = (history: Parameters<CheckRule>[0], { at, invocation }: Closing): Event<'published'>[] =>
  eventsOf(history, 'published').filter((event) => runOf(event) === runOf(invocation) && event.at >= at);

/** Whether an entry names a loss: rows that counts show by their number or as an unknown, late ones as a copy. */
function names({ outcome, rowsMissing = 0, reindexes = false, cause }: PolicyEntry, { settled }: Loss): boolean {
  if (['rows-missing', 'quarantined', 'unknown'].includes(outcome)) return true;
  if (cause.kind === 'foreign' || cause.kind === 'decided-by-version') return true;
  // What its task says it left out is in the entry, too.
  const isSaidShort = 'done' in cause && 'total' in cause && (cause.done ?? 0) < (cause.total ?? 0);
  // Rows of any age may have come in; a failed entry says as well that it may have copied.
  return settled === 0 || isSaidShort || outcome === 'failed' ? reindexes : rowsMissing >= settled;
}

/** Whether an entry is about this truncation: each run has its own cutoff. */
const isAbout = ({ outcome, cause, cutoffMillis }: PolicyEntry, track: Track): boolean =>
  outcome === 'quarantined' ||
  cause.kind === 'foreign' ||
  cause.kind === 'decided-by-version' ||
  cutoffMillis === track.cutoffMillis;

/** Indices that were closed, or had one and the same unresolved truncation, during all of a run. */
function heldBetween(history: Parameters<CheckRule>[0], from: number, until: number): Map<string, string> {
  const held = new Map<string, string>();
  for (const event of history.world.journal) {
    if (event.at > until) break;
    if (event.kind === 'foreign') held.delete(event.index);
    if (event.kind !== 'ledger') continue;
    const { next, at } = event;
    const isHeld = isOurs(next) && (next.state === 'quarantined' || isUnresolved(next));
    if (isHeld && at < from) held.set(next.index, next.state);
    else if (!isHeld) held.delete(next.index);
  }
  return held;
}
