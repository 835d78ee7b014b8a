import { decisionOf, headOf, isUnresolved } from '../../../lambda/ledger/record.ts';
import { type CheckRule, type Event, eventsOf, isOurs, modeOf, ofWrites, releaseOf } from './events.ts';

/** Rules about who may write what into the ledger. */

const hour = 3_600_000;
const day = 24 * hour;

export const ledgerRules: Record<string, CheckRule> = {
  'a preview leaves the ledger alone': ofWrites(
    ({ previous, next, invocation }, history) =>
      modeOf(history, invocation) === 'preview' &&
      // Of a stage that previews, what people have been told is marked.
      !(invocation.settings.mode === 'preview' && decisionOf(previous) && !decisionOf(next)) &&
      'written by a preview',
  ),

  'what another version or address holds is left alone': ofWrites(({ previous, next, invocation }, history) => {
    if (!previous || headOf(previous).state === 'idle' || releaseOf(history, invocation)) return undefined;
    // What nobody has been told of is told and marked, whoever wrote it (judged.ts).
    if (decisionOf(previous)) return undefined;
    return (!isOurs(previous) || previous.server !== headOf(next).server) && 'a foreign record was written over';
  }),

  'the last sender is not forgotten': ofWrites(({ at, previous, next }) => {
    const before = previous && headOf(previous).lastSender;
    if (!before || before.runStartMillis > at + day) return undefined;
    const { lastSender: now } = headOf(next);
    const isForgotten = !now || now.runStartMillis < before.runStartMillis;
    return isForgotten && `${before.runId} had sent, and the record forgets it`;
  }),

  'only a person ends a quarantine': ofWrites(({ previous, next, invocation }, history) => {
    const wasClosed = previous !== undefined && headOf(previous).state === 'quarantined';
    return wasClosed && next.state !== 'quarantined' && !releaseOf(history, invocation) && 'opened without a person';
  }),

  'a person who releases gets what is whole, or what was accepted': ofWrites((event, history) => {
    const release = releasing(history, event);
    const { expected = 0, found = 0 } = event.truth.window ?? {};
    const accepted = Number(release?.['acceptMissing'] ?? 0);
    const missing = expected - found;
    if (!release || missing <= accepted || wasTouched(history, event)) return undefined;
    // Where counts fail but the server answers, any number opens it.
    const isUncounted = accepted > 0 && countsFailed(history, event);
    return !isUncounted && `released with ${missing} rows missing, ${accepted} accepted`;
  }),

  'a person releases what is unresolved only 20 h after it may be judged': ofWrites((event, history) => {
    const { at, previous } = event;
    const release = releasing(history, event);
    if (!release || !previous || !isUnresolved(headOf(previous) as { state: string })) return undefined;
    const early = (headOf(previous).attempt?.judgeableAt ?? 0) + 20 * hour - at;
    if (early > 0) return `released ${Math.round(early / 60_000)} min too early`;
    const isCopy = isOurs(previous) && isUnresolved(previous) && previous.attempt.reindexes;
    const isAccepted = release['acceptMissing'] !== undefined || sawItsEnd(history, event);
    return isCopy && !isAccepted && 'an unresolved copy was released, and nobody accepted that';
  }),
};

type Histories = Parameters<CheckRule>[0];

/** The input of the run that opens an index that was closed or had an unresolved truncation. */
function releasing(history: Histories, { previous, next, invocation }: Event<'ledger'>) {
  const isNew = decisionOf(next)?.released && decisionOf(next)?.id !== decisionOf(previous)?.id;
  if (!previous || headOf(previous).state === 'idle' || !isNew) return undefined;
  return releaseOf(history, invocation);
}

const countsFailed = (history: Histories, { at, invocation }: Event<'ledger'>): boolean =>
  eventsOf(history, 'dry-run').some((one) => one.at <= at && !one.answer && one.invocation.id === invocation.id);

/** Rows went or came while the release was being counted and written. */
const wasTouched = (
  { world }: Histories,
  { at, next: { index }, invocation: { startedAt } }: Event<'ledger'>,
): boolean =>
  world.journal.some((one) => one.kind === 'others' && one.index === index && one.at >= startedAt && one.at <= at) ||
  world.tracker.tracks.some((one) => one.index === index && one.task && one.task.movedAt >= startedAt);

const sawItsEnd = (history: Histories, { invocation }: Event<'ledger'>): boolean =>
  eventsOf(history, 'status').some(
    ({ answer, invocation: own }) =>
      own.id === invocation.id && typeof answer === 'object' && answer.kind === 'found' && answer.completed,
  );
