import { headOf, isUnresolved } from '../../../lambda/ledger/record.ts';
import { type CheckRule, type Event, eventsOf, executionOf, isOurs, releaseOf } from './events.ts';

/** Rules about who may write what into the ledger. */

const hour = 3_600_000;
const day = 24 * hour;

export const ledgerRules = {
  *'a preview leaves the ledger alone'(history) {
    for (const { at, invocation, next } of eventsOf(history, 'ledger')) {
      const execution = executionOf(history, invocation);
      if (execution?.mode === 'preview')
        yield { at, text: `${next.index}: written by the preview ${invocation.runId}` };
    }
  },

  *'what another version or address holds is left alone'(history) {
    for (const { at, previous, next, invocation } of eventsOf(history, 'ledger')) {
      if (!previous || headOf(previous).state === 'idle' || releaseOf(history, invocation)) continue;
      const isForeign = !isOurs(previous) || previous.server !== next.server;
      // A run that is given up is noted in the record as it is.
      const isNote = isOurs(previous) && next.server === previous.server;
      if (isForeign && !isNote) yield { at, text: `${next.index}: a foreign record was written over` };
    }
  },

  *'the last sender is not forgotten'(history) {
    for (const { at, previous, next } of eventsOf(history, 'ledger')) {
      const before = previous && headOf(previous).lastSender;
      if (!before || before.runStartMillis > at + day) continue;
      const isForgotten = !next.lastSender || next.lastSender.runStartMillis < before.runStartMillis;
      if (isForgotten) yield { at, text: `${next.index}: ${before.runId} had sent, and the record forgets it` };
    }
  },

  *'only a person ends a quarantine'(history) {
    for (const { at, previous, next, invocation } of eventsOf(history, 'ledger')) {
      const wasClosed = previous !== undefined && headOf(previous).state === 'quarantined';
      if (wasClosed && next.state !== 'quarantined' && !releaseOf(history, invocation)) {
        yield { at, text: `${next.index}: no longer quarantined, without a person` };
      }
    }
  },

  *'a person who releases gets what is whole, or what was accepted'(history) {
    for (const event of eventsOf(history, 'ledger')) {
      const release = releasing(history, event);
      if (!release) continue;
      const { at, next, truth, invocation } = event;
      const accepted = Number(release['acceptMissing'] ?? 0);
      const { expected = 0, found = 0 } = truth.window ?? {};
      const missing = expected - found;
      // Where counts fail but the server answers, any number opens it.
      const isUncounted = accepted > 0 && countsFailed(history, invocation, at);
      if (missing > accepted && !isUncounted && !wasTouched(history, event)) {
        yield { at, text: `${next.index}: released with ${missing} rows missing, ${accepted} accepted` };
      }
    }
  },

  *'a person releases what is unresolved only 20 h after it may be judged'(history) {
    for (const event of eventsOf(history, 'ledger')) {
      const { at, previous, next } = event;
      const release = releasing(history, event);
      if (!release || !previous || !isUnresolved(headOf(previous) as { state: string })) continue;
      const { judgeableAt = 0 } = headOf(previous).attempt ?? {};
      const early = judgeableAt + 20 * hour - at;
      if (early > 0) yield { at, text: `${next.index}: released ${Math.round(early / 60_000)} min too early` };
      const isCopy = isOurs(previous) && isUnresolved(previous) && previous.attempt.copies;
      if (isCopy && release['acceptMissing'] === undefined && !sawItsEnd(history, event)) {
        yield { at, text: `${next.index}: an unresolved copy was released, and nobody accepted that` };
      }
    }
  },
} satisfies Record<string, CheckRule>;

/** The input of the run that opens an index that was closed or had an unresolved truncation. */
function releasing(history: Parameters<CheckRule>[0], { previous, next, invocation }: Event<'ledger'>) {
  if (!previous || headOf(previous).state === 'idle' || next.state !== 'idle') return undefined;
  return releaseOf(history, invocation);
}

const countsFailed = (
  history: Parameters<CheckRule>[0],
  { id }: Event<'ledger'>['invocation'],
  before: number,
): boolean =>
  eventsOf(history, 'dry-run').some(({ at, answer, invocation }) => at <= before && !answer && invocation.id === id);

/** Rows went or came while the release was being counted and written. */
const wasTouched = (history: Parameters<CheckRule>[0], { at, next, invocation }: Event<'ledger'>): boolean =>
  history.world.journal.some(
    (event) =>
      event.kind === 'others' && event.index === next.index && event.at >= invocation.startedAt && event.at <= at,
  ) ||
  history.world.tracker.tracks.some(
    ({ index, task }) =>
      index === next.index && task !== undefined && task.movedAt >= invocation.startedAt && task.startedAt <= at,
  );

const sawItsEnd = (history: Parameters<CheckRule>[0], { invocation }: Event<'ledger'>): boolean =>
  eventsOf(history, 'status').some(
    ({ answer, invocation: own }) =>
      own.id === invocation.id && typeof answer === 'object' && answer.kind === 'found' && answer.completed,
  );
