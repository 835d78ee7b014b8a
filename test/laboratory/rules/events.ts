import { isUnresolved, type LedgerRecord, type StoredRecord, type Unresolved } from '../../../lambda/ledger/record.ts';
import type { History } from '../histories/history.ts';
import { type Ordered, orderedFor } from '../truth/orders.ts';
import type { Track } from '../truth/track.ts';
import type { Event, InvocationInfo, JournalEvent } from '../world/journal.ts';
import { trackOf } from '../world/world.ts';

/** How rules read a history. */

export type { Event } from '../world/journal.ts';

/** One rule: yields what breaks it. */
export type CheckRule = (history: History) => Iterable<{ at: number; text: string }>;

export const eventsOf = <Kind extends JournalEvent['kind']>({ world }: History, kind: Kind): Event<Kind>[] =>
  world.journal.filter((event): event is Event<Kind> => event.kind === kind);

interface Run {
  runId: string;
  runStartMillis: number;
}

/** A run is its id and its start, because names are reused. */
export const runOf = ({ runId, runStartMillis }: Run): string => `${runId} of ${runStartMillis}`;

export const isOurs = (record: StoredRecord | undefined): record is LedgerRecord =>
  record !== undefined && record.state !== 'other-version';

export const executionOf = (history: History, run: Run): Event<'execution'> | undefined =>
  eventsOf(history, 'execution').find((event) => runOf(event) === runOf(run));

/** The input of a run that releases. */
export const releaseOf = (history: History, run: Run): Record<string, unknown> | undefined => {
  const input = executionOf(history, run)?.input;
  return input?.['release'] === undefined ? undefined : input;
};

/** A real truncate, with what its function and its run asked and read before it. */
export interface Send {
  sent: Event<'truncate'>;
  /** The last dry run of its function before it. */
  asked: Event<'dry-run'> | undefined;
  execution: Event<'execution'> | undefined;
  /** The policy on which Plan decided, as the operator had written it when Plan read it. */
  policy: Ordered | undefined;
  /** What happened before it. */
  before: readonly JournalEvent[];
}

export function* sends(history: History): Generator<Send> {
  const { journal } = history.world;
  for (const [place, sent] of journal.entries()) {
    if (sent.kind !== 'truncate') continue;
    const before = journal.slice(0, place);
    const asked = before.findLast(
      (event): event is Event<'dry-run'> => event.kind === 'dry-run' && event.invocation.id === sent.invocation.id,
    );
    const policy = policiesOfPlan(before, sent.invocation)
      .map(({ policies, bite }) => orderedFor(policies, sent.index, bite))
      .findLast((one) => one !== undefined);
    yield { sent, before, asked, execution: executionOf(history, sent.invocation), policy };
  }
}

/** What the Plans of a run have read, oldest first: a Plan may be retried. */
export const policiesOfPlan = (events: readonly JournalEvent[], run: Run) =>
  events.flatMap((event) => {
    const isOfPlan = event.kind === 'orders' && event.invocation.step === 'plan';
    if (!isOfPlan || !event.policies || runOf(event.invocation) !== runOf(run)) return [];
    return [{ policies: event.policies, bite: event.invocation.settings.maxRowsPerRun }];
  });

/** A record that held a truncation, and the write that ended it with a verdict. */
export interface Closing {
  at: number;
  event: Event<'ledger'>;
  record: Unresolved;
  verdict: NonNullable<LedgerRecord['lastVerdict']>['verdict'];
  track: Track | undefined;
  invocation: InvocationInfo;
}

export function closings(history: History): Closing[] {
  return eventsOf(history, 'ledger').flatMap((event) => {
    const { at, previous, next, invocation } = event;
    if (!isOurs(previous) || !isUnresolved(previous) || isUnresolved(next)) return [];
    const { lastVerdict } = next;
    if (releaseOf(history, invocation) || !lastVerdict) return [];
    const track = trackOf(history.world.tracker, next.index, previous.attempt);
    return [{ at, event, record: previous, verdict: lastVerdict.verdict, track, invocation }];
  });
}

/** Whether another process touched an index in a span of time, bounds included. */
export const othersBetween = (history: History, index: string, from: number, until: number): boolean =>
  eventsOf(history, 'others').some((event) => event.index === index && event.at >= from && event.at <= until);
