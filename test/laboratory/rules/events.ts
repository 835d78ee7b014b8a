import type { RunState } from '../../../lambda/run/state.ts';
import type { History } from '../histories/history.ts';
import { type Ordered, orderedFor } from '../truth/orders.ts';
import type { InvocationInfo, JournalEvent } from '../world/journal.ts';

/** How rules read a history. */

export type Event<Kind extends JournalEvent['kind']> = Extract<JournalEvent, { kind: Kind }>;

/** One rule: yields what breaks it. */
export type CheckRule = (history: History) => Iterable<{ at: number; text: string }>;

export const eventsOf = <Kind extends JournalEvent['kind']>({ world }: History, kind: Kind): Event<Kind>[] =>
  world.journal.filter((event): event is Event<Kind> => event.kind === kind);

/** A run is its id and its start, because names are reused. */
export const runOf = ({ runId, runStartMillis }: { runId: string; runStartMillis: number }): string =>
  `${runId} of ${runStartMillis}`;

/** A real truncate, with what its function and its run asked and read before it. */
export interface Send {
  sent: Event<'truncate'>;
  /** Its position in the journal. */
  place: number;
  /** The last thing that its function asked the server before it. */
  asked: Event<'dry-run'> | Event<'read'> | undefined;
  /** The write with which its function reserved the index. */
  reserved: Event<'ledger'> | undefined;
  execution: Event<'execution'> | undefined;
  /** The policy on which Plan decided, as the operator had written it when Plan read it. */
  policy: Ordered | undefined;
}

export function* sends(history: History): Generator<Send> {
  const { journal } = history.world;
  const executions = new Map(eventsOf(history, 'execution').map((execution) => [runOf(execution), execution]));
  for (const [place, sent] of journal.entries()) {
    if (sent.kind !== 'truncate') continue;
    const before = journal.slice(0, place);
    const own = (event: JournalEvent): boolean => 'invocation' in event && event.invocation?.id === sent.invocation.id;
    const asked = before.findLast(
      (event): event is Event<'dry-run'> | Event<'read'> =>
        (event.kind === 'dry-run' || event.kind === 'read') && own(event),
    );
    const reserved = before.findLast(
      (event): event is Event<'ledger'> =>
        event.kind === 'ledger' && own(event) && event.next.state === 'reserved' && event.next.index === sent.index,
    );
    const policy = policiesOfPlan(before, sent.invocation)
      .map(({ policies, bite }) => orderedFor(policies, sent.index, bite))
      .findLast((one) => one !== undefined);
    yield { sent, place, asked, reserved, execution: executions.get(runOf(sent.invocation)), policy };
  }
}

/** What the Plans of a run have read, oldest first: a Plan may be retried. */
export const policiesOfPlan = (
  events: readonly JournalEvent[],
  run: Pick<InvocationInfo, 'runId' | 'runStartMillis'>,
) =>
  events.flatMap((event) => {
    const isOfPlan = event.kind === 'orders' && event.invocation.step === 'plan';
    if (!isOfPlan || !event.policies || runOf(event.invocation) !== runOf(run)) return [];
    return [{ policies: event.policies, bite: event.invocation.settings.maxRowsPerRun }];
  });

/** What the sentence of a dry run says. */
export function countsIn(sentence: string): { rows: number; total: number; reindexes: boolean } | undefined {
  const said = /^Delete (\d+) out of (\d+) rows \([^)]*\)\. (Reindexing|Issuing)/.exec(sentence);
  return said ? { rows: Number(said[1]), total: Number(said[2]), reindexes: said[3] === 'Reindexing' } : undefined;
}

/** Whether another process touched an index in a span of time, bounds included. */
export const othersBetween = (history: History, name: string, from: number, until: number): boolean =>
  eventsOf(history, 'others').some(
    ({ at, index }) => at >= from && at <= until && (index === undefined || index === name),
  );

/** The function lived long enough to tell its execution what it had done and seen. */
export function wasTaken(history: History, invocation: InvocationInfo): boolean {
  // Turns alone are not enough: after a redrive they are counted again.
  const known = ({ turns, entries, callsWithoutTask }: RunState) => JSON.stringify([turns, entries, callsWithoutTask]);
  const told = eventsOf(history, 'state').find((event) => event.invocation.id === invocation.id);
  return (
    told !== undefined &&
    eventsOf(history, 'taken').some(
      (event) => event.at >= told.at && runOf(event) === runOf(invocation) && known(event.state) === known(told.state),
    )
  );
}
