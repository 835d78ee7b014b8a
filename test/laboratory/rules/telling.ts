import { isUnresolved } from '../../../lambda/ledger/record.ts';
import { resultOf } from '../../../lambda/model/outcomes.ts';
import type { PolicyEntry } from '../../../lambda/model/report-schema.ts';
import { searchIndex, searchIndexOfName } from '../../../lambda/policy/aspects.ts';
import type { History } from '../histories/history.ts';
import type { Loss, Track } from '../truth/track.ts';
import { isReadable } from '../world/records.ts';
import {
  about,
  type CheckRule,
  type Event,
  eventsOf,
  type GivenVerdict,
  lastWrite,
  ofRun,
  ofVerdicts,
  statusesOfTask,
} from './events.ts';
import { entriesOf, entryOfVerdict, isBlind } from './reported.ts';

/** P1, P4 and rules 11, 12 and 14: what people receive. A report without a subscriber reaches nobody. */

export const tellingRules = {
  *'every row that is lost through us is reported'(history) {
    const { tracker } = history.world;
    for (const { at, index, track, record } of eventsOf(history, 'truncate')) {
      const loss = tracker.lossOf(track);
      if (loss.settled + loss.stragglers === 0) continue;
      // A small loss may go unreported if the truncate was announced as a delete and no status was seen; the assumption
      // is silent-reindex.
      const attempt = record?.state === 'sending' ? record.attempt : undefined;
      const isSilent = attempt?.announced === 'delete' && !isSeen(history, track);
      if (isSilent && loss.settled <= Math.max(10, attempt.baseline.rowsToKeep * 0.02)) continue;
      const reports = eventsOf(history, 'published').filter((event) => event.isDelivered && event.at >= track.sentAt);
      const isReported = reports.some(
        (event) =>
          entriesOf(event, index).some((entry) => isAbout(entry, track) && names(entry, loss)) ||
          (event.report.notes ?? []).some(
            (note) =>
              note.kind === 'released' &&
              searchIndexOfName(note.index) === index &&
              (note.unknown !== undefined || note.method === 'reindex' || (note.missing ?? 0) > 0),
          ),
      );
      if (!isReported)
        yield { at, text: `${index}: ${loss.settled} rows and ${loss.stragglers} late ones are lost, unreported` };
    }
  },

  'the run that judges a reindex says that it was one': ofVerdicts((given, history) => {
    const { record, verdict } = given;
    const said = saidAfter(history, given).map((event) =>
      entriesOf(event, record.index).filter(({ outcome }) => outcome === verdict.outcome),
    );
    const isSilent = said.some((one) => one.length > 0 && one.every(({ method }) => method !== 'reindex'));
    return verdict.method === 'reindex' && isSilent && 'no word of a reindex';
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
      const execution = ofRun(history, 'execution', published)[0];
      const isWhole = execution && !('indices' in execution.input) && !('release' in execution.input) && !report.cause;
      // Of two Plans side by side, only one is the run's, so only policies that both have read are expected.
      const read = ofRun(history, 'settings', published).flatMap(({ invocation, policies }) =>
        policies && invocation.step === 'plan' ? [policies] : [],
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

  *'what is unresolved or quarantined is in every report'(history) {
    for (const published of eventsOf(history, 'published')) {
      const { at, runId } = published;
      // A release is about something else.
      const execution = ofRun(history, 'execution', published)[0];
      if (isBlind(published) || !execution || 'release' in execution.input) continue;
      for (const [index, state] of heldBetween(history, execution.at, at)) {
        const [entry] = entriesOf(published, index);
        if (!entry || resultOf[entry.outcome] === 'ok') {
          yield { at, text: `${index} is ${state}, and ${runId} says ${entry?.outcome ?? 'nothing'}` };
        }
      }
    }
  },

  *'rows that have gone between two nights are a note'(history) {
    for (const published of eventsOf(history, 'published')) {
      const { at, report } = published;
      if (report.cause) continue;
      for (const { index, window, found } of recounted(history, published)) {
        const isNoted = (report.notes ?? []).some(
          (note) => note.kind === 'fewer-rows' && searchIndexOfName(note.index) === index && note.found === found,
        );
        const isFew = window.rows - found > Math.max(10, window.rows / 10);
        if (isFew !== isNoted)
          yield { at, text: `${index}: ${found} of ${window.rows} rows, ${isNoted ? 'and a note' : 'and no note'}` };
        if (isNoted && report.result === 'ok') yield { at, text: `${index}: rows are fewer, and the run is ok` };
      }
    }
  },

  *'the rows that the last verdict has left are counted beside the dry run'(history) {
    for (const { at, index, invocation, fields, answer } of eventsOf(history, 'dry-run')) {
      const isOfPolicy = invocation.step === 'plan' && fields.forceDeleteByQuery !== undefined;
      // An index that the search engine does not know has no rows to count.
      if (!isOfPolicy || !answer?.rowsTotal || at - invocation.startedAt > 10 * 60_000) continue;
      const record = lastWrite(history, index, at)?.next;
      // Plan may have read the record before a write that came after Plan began.
      if (record !== lastWrite(history, index, invocation.startedAt)?.next) continue;
      if (record?.state !== 'idle' || record.server !== invocation.settings.gmsUrl) continue;
      const { window } = record;
      const isTaken = ofRun(history, 'taken', invocation).some(({ state }) => !state.error);
      if (!window || fields.cutoffMillis > window.afterMillis || !isTaken) continue;
      const own = ofRun(history, 'dry-run', invocation).filter(
        (one) => one.index === index && one.invocation.step === 'plan',
      );
      const isCounted = own.some((one) => one.fields.cutoffMillis === window.afterMillis);
      // A dry run with an older cutoff than another one searches for the cutoff of a limited run.
      const isLimited = own.some(
        (one) => one.fields.forceDeleteByQuery && one.fields.cutoffMillis > fields.cutoffMillis,
      );
      if (!isCounted && !isLimited) yield { at, text: `${index}: not by ${invocation.runId}` };
    }
  },

  *'a quarantined reindex that is in place says how many rows are missing'(history) {
    for (const published of eventsOf(history, 'published')) {
      for (const { cause, ...entry } of published.report.policies) {
        if (cause.kind !== 'quarantined' || cause.method === 'delete' || !cause.today || 'error' in cause.today)
          continue;
        const index = searchIndex(entry);
        const { expected, found, inPlace } = cause.today;
        const own = ofRun(history, 'dry-run', published).filter(
          (one) => one.index === index && one.invocation.step === 'plan',
        );
        const answers = own.flatMap(({ answer }) => (answer ? [answer.rowsToDelete] : []));
        const isCounted = answers.some((until) => answers.some((after) => until - after === found || found === 0));
        if (!isCounted)
          yield { at: published.at, text: `${index}: ${found} of ${expected} (${inPlace}), not as counted` };
      }
    }
  },

  'a verdict is reported by the run that made it': ofVerdicts((given, history) => {
    const { at, record, last, verdict, invocation } = given;
    const carrying = eventsOf(history, 'published').find(
      (event) => event.at >= at && entryOfVerdict(event, record.index, last),
    );
    const silent = saidAfter(history, given).find(
      (event) =>
        !event.report.cause &&
        entriesOf(event, record.index).every(({ outcome }) => outcome !== verdict.outcome) &&
        // Once another run has reported it, a later verdict may have taken its place.
        !(carrying && carrying.at < event.at),
    );
    // Nobody knows what a record said that was damaged meanwhile.
    const isDamaged = about(history, 'damaged', record.index).some(
      (one) => one.at >= at && one.at <= (silent?.at ?? 0),
    );
    // If one call began two functions, the execution may have taken over the other's result.
    return silent && !isDamaged && invocation.step !== 'truncate' && 'its report says something else';
  }),
} satisfies Record<string, CheckRule>;

/** What the run that judged has published since. */
const saidAfter = (history: History, { at, invocation }: GivenVerdict): Event<'published'>[] =>
  ofRun(history, 'published', invocation).filter((event) => event.at >= at);

/**
 * Whether an entry names a loss: settled rows by their number, as not verified, or as skipped by the reindex (late rows
 * hide some in the counts); stragglers by a reindex or by the name of a replaced index.
 */
function names(entry: PolicyEntry, { settled }: Loss): boolean {
  const { outcome, rowsMissing = 0, rowsNotVisible = 0, method, indexNow, cause } = entry;
  if (['rows-missing', 'quarantined', 'unknown'].includes(outcome)) return true;
  if (settled === 0) return method === 'reindex' || indexNow !== undefined;
  const skipped = method === 'reindex' && cause.kind === 'verified' ? (cause.conflicts ?? 0) : 0;
  return Math.max(rowsMissing + rowsNotVisible, skipped) >= settled;
}

/** Whether a status of its task has been read. */
const isSeen = (history: History, { task }: Track): boolean =>
  task !== undefined &&
  statusesOfTask(history, task.id).some(({ answer }) => typeof answer === 'object' && answer.kind === 'found');

/** Whether an entry is about this truncation: each run has its own cutoff. */
const isAbout = ({ outcome, cause, cutoffMillis }: PolicyEntry, track: Track): boolean =>
  outcome === 'quarantined' || cause.kind === 'left-alone' || cutoffMillis === track.cutoffMillis;

/** Indices that were quarantined, or had one and the same unresolved truncation, during all of a run. */
function heldBetween(history: History, from: number, until: number): Map<string, string> {
  const held = new Map<string, string>();
  for (const event of history.world.journal) {
    if (event.at > until) break;
    if (event.kind === 'damaged') held.delete(event.index);
    if (event.kind !== 'ledger') continue;
    const { next, at } = event;
    const isHeld = isReadable(next) && (next.state === 'quarantined' || isUnresolved(next));
    if (isHeld && at < from) held.set(next.index, next.state);
    else if (!isHeld) held.delete(next.index);
  }
  return held;
}

/** What Plan counted of the windows that earlier verdicts had left, as far as both counts came back. */
function recounted(history: History, published: Event<'published'>) {
  const plans = ofRun(history, 'dry-run', published).filter(({ invocation }) => invocation.step === 'plan');
  return [...new Set(plans.map(({ index }) => index))].flatMap((index) => {
    const own = plans.filter((one) => one.index === index);
    const before = lastWrite(history, index, own[0]?.at ?? 0);
    const window = before?.next.state === 'idle' ? before.next.window : undefined;
    const rows = (cutoff: number | undefined) =>
      own.filter(({ fields, answer }) => answer && fields.cutoffMillis === cutoff);
    const [until, after] = [rows(window?.untilMillis), rows(window?.afterMillis)];
    const isOnce =
      until.length === 1 && after.length === 1 && new Set(own.map(({ invocation }) => invocation.id)).size === 1;
    if (!window || !isOnce || until[0]?.answer?.rowsTotal === 0 || after[0]?.answer?.rowsTotal === 0) return [];
    const found = Math.max(0, (until[0]?.answer?.rowsToDelete ?? 0) - (after[0]?.answer?.rowsToDelete ?? 0));
    return [{ index, window, found }];
  });
}
