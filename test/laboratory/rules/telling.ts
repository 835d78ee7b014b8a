import { resultOf } from '../../../lambda/facts/outcomes.ts';
import type { PolicyEntry } from '../../../lambda/facts/report-schema.ts';
import { isUnresolved } from '../../../lambda/ledger/record.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { Loss } from '../truth/track.ts';
import { type CheckRule, closings, type Event, eventsOf, isOurs, runOf } from './events.ts';

/** P1, P4 and rule 12: what people are told. A report that no subscriber gets tells nobody. */

const entriesOf = ({ report }: Event<'published'>, index: string): PolicyEntry[] =>
  report.policies.filter((entry) => searchIndex(entry) === index);

export const tellingRules = {
  *'every row that is lost through us is told'(history) {
    const { tracker } = history.world;
    for (const { at, index, track } of eventsOf(history, 'truncate')) {
      const loss = tracker.lossOf(track);
      if (loss.settled + loss.stragglers === 0) continue;
      const reports = eventsOf(history, 'published').filter((event) => event.told && event.at >= track.sentAt);
      const isTold = reports.some(
        (event) =>
          entriesOf(event, index).some((entry) => names(entry, loss)) ||
          (event.report.notes ?? []).some(
            (note) =>
              note.kind === 'released' &&
              searchIndexOf(note.index) === index &&
              (note.copied || note.running || note.rowsMissing),
          ),
      );
      if (!isTold)
        yield { at, text: `${index}: ${loss.settled} rows and ${loss.stragglers} late ones are lost, untold` };
    }
  },

  *'the run that judges a copy says that it copied'(history) {
    for (const { at, record, verdict, invocation } of closings(history)) {
      if (!verdict.copies) continue;
      for (const event of eventsOf(history, 'published')) {
        if (runOf(event) !== runOf(invocation) || event.at < at) continue;
        for (const { copies, outcome } of entriesOf(event, record.index)) {
          if (copies !== true && outcome === verdict.outcome)
            yield { at, text: `${record.index}: ${outcome}, no word of a copy` };
        }
      }
    }
  },

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
      const names = report.policies.map((entry) => `${searchIndex(entry)} ${entry.adopted ?? ''}`);
      const twice = names.find((name, place) => names.indexOf(name) !== place);
      const isDuplicate = report.policies.some(({ cause }) => cause.kind === 'policy');
      if (twice !== undefined && !isDuplicate) yield { at, text: `${runId} reports ${twice} twice` };
      const execution = eventsOf(history, 'execution').find((event) => runOf(event) === runOf(published));
      const isWhole = execution && !('only' in execution.input) && !('release' in execution.input) && !report.cause;
      const orders = eventsOf(history, 'orders').findLast(
        ({ invocation, policies }) => policies && invocation.step === 'plan' && runOf(invocation) === runOf(published),
      );
      for (const { name } of (isWhole && orders?.policies) || []) {
        const index = searchIndexOf(name.slice(name.lastIndexOf('/') + 1).replace(/-2$/, ''));
        if (entriesOf(published, index).length === 0) yield { at, text: `${runId} does not report ${index}` };
      }
    }
  },

  *'what is unresolved or quarantined is told in every report'(history) {
    for (const published of eventsOf(history, 'published')) {
      const { at, report, runId } = published;
      // The run could not read the ledger, or is about something else.
      const execution = eventsOf(history, 'execution').find((event) => runOf(event) === runOf(published));
      if (report.cause || !execution || 'release' in execution.input) continue;
      for (const [index, state] of heldBetween(history, execution.at, at)) {
        const [entry] = entriesOf(published, index);
        // A preview says what the verdict would be.
        const isForetold = report.mode === 'preview' && entry?.adopted === true && state !== 'quarantined';
        if (!entry || (resultOf[entry.outcome] === 'ok' && !isForetold)) {
          yield { at, text: `${index} is ${state}, and ${runId} says ${entry?.outcome ?? 'nothing'}` };
        }
      }
    }
  },

  *'a verdict is reported by the run that made it'(history) {
    for (const { at, record, verdict, invocation } of closings(history)) {
      const later = eventsOf(history, 'published').filter(
        (event) => runOf(event) === runOf(invocation) && event.at >= at && !event.report.cause,
      );
      for (const published of later) {
        const entries = entriesOf(published, record.index);
        const isSaid = entries.some(({ outcome }) => outcome === verdict.outcome);
        if (!isSaid)
          yield {
            at,
            text: `${record.index}: ${verdict.outcome}, reported as ${entries.map(({ outcome }) => outcome)}`,
          };
      }
    }
  },
} satisfies Record<string, CheckRule>;

/** Whether an entry names a loss: rows that counts show by their number or as an unknown, late ones as a copy. */
function names({ outcome, rowsMissing = 0, copies = false, cause }: PolicyEntry, { settled }: Loss): boolean {
  if (['rows-missing', 'quarantined', 'unknown'].includes(outcome)) return true;
  if (cause.kind === 'foreign') return true;
  return settled === 0 ? copies : rowsMissing >= settled;
}

const searchIndexOf = (name: string): string => {
  const [entityType = '', aspect = ''] = name.split('.');
  return searchIndex({ entityType, aspect });
};

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
