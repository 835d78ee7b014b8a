import { isUnresolved, type LastVerdict, type LedgerRecord, type Unresolved } from '../../../lambda/ledger/record.ts';
import type { History } from '../histories/history.ts';
import { type WrittenPolicy, writtenFor } from '../truth/policies.ts';
import type { Track } from '../truth/track.ts';
import type { Event, InvocationInfo, JournalEvent } from '../world/journal.ts';
import { isReadable, isSameDecision, type Unreported, unreportedOf } from '../world/records.ts';
import { trackOf } from '../world/world.ts';

/** How rules read a history. */

export type { Event } from '../world/journal.ts';

/** One rule: yields what breaks it. */
export type CheckRule = (history: History) => Iterable<{ at: number; text: string }>;

/** What rules ask of a history again and again, made once, and again only after its journal has grown. */
interface Read {
  length: number;
  events: Partial<Record<JournalEvent['kind'], JournalEvent[]>>;
  /** By kind and what they share: three months have a million events, and rules ask for the few of one index or run. */
  groups: Map<string, Map<unknown, JournalEvent[]>>;
  givenVerdicts?: GivenVerdict[];
  sends?: Send[];
}

const reads = new WeakMap<History, Read>();

function readOf(history: History): Read {
  const { journal } = history.world;
  const before = reads.get(history);
  if (before?.length === journal.length) return before;
  const events: Read['events'] = {};
  for (const event of journal) {
    const same = events[event.kind];
    if (same) same.push(event);
    else events[event.kind] = [event];
  }
  const read: Read = { length: journal.length, events, groups: new Map() };
  reads.set(history, read);
  return read;
}

export const eventsOf = <Kind extends JournalEvent['kind']>(history: History, kind: Kind): readonly Event<Kind>[] =>
  (readOf(history).events[kind] ?? []) as Event<Kind>[];

type Kind = JournalEvent['kind'];

function grouped(history: History, kind: Kind, by: keyof typeof shared, value: unknown): readonly JournalEvent[] {
  const { groups, events } = readOf(history);
  const name = `${kind} by ${by}`;
  let group = groups.get(name);
  if (!group) {
    group = new Map();
    for (const event of events[kind] ?? []) {
      const key = shared[by](event);
      const same = group.get(key);
      if (same) same.push(event);
      else group.set(key, [event]);
    }
    groups.set(name, group);
  }
  return group.get(value) ?? [];
}

const shared = {
  index: (event: JournalEvent) =>
    event.kind === 'ledger' ? event.next.index : 'index' in event ? event.index : undefined,
  task: (event: JournalEvent) => (event.kind === 'status' ? event.taskId : undefined),
  call: (event: JournalEvent) => ('invocation' in event ? event.invocation.id : undefined),
  run: (event: JournalEvent) =>
    'invocation' in event ? runOf(event.invocation) : 'runStartMillis' in event ? runOf(event) : undefined,
};

/** Events of a kind about one index. */
export const about = <K extends Kind>(history: History, kind: K, index: string): readonly Event<K>[] =>
  grouped(history, kind, 'index', index) as Event<K>[];

/** Answers about a task. */
export const statusesOfTask = (history: History, taskId: string): readonly Event<'status'>[] =>
  grouped(history, 'status', 'task', taskId) as Event<'status'>[];

/** Events of a kind in one call of a function. */
export const ofCall = <K extends Kind>(history: History, kind: K, { id }: { id: number }): readonly Event<K>[] =>
  grouped(history, kind, 'call', id) as Event<K>[];

/** Events of a kind in all calls of a run. */
export const ofRun = <K extends Kind>(history: History, kind: K, run: Run): readonly Event<K>[] =>
  grouped(history, kind, 'run', runOf(run)) as Event<K>[];

/** The last write to an index's record until a time. */
export const lastWrite = (history: History, index: string, at: number): Event<'ledger'> | undefined =>
  about(history, 'ledger', index).findLast((event) => event.at <= at);

interface Run {
  runId: string;
  runStartMillis: number;
}

/** A run is its id and its start, because names are reused. */
export const runOf = ({ runId, runStartMillis }: Run): string => `${runId} of ${runStartMillis}`;

const executionOf = (history: History, run: Run): Event<'execution'> | undefined => ofRun(history, 'execution', run)[0];

/** The mode in which the run planned: another deployment may have come since its execution began. */
export const modeOf = (history: History, run: Run): string | undefined => ofRun(history, 'taken', run)[0]?.state.mode;

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
  policy: WrittenPolicy | undefined;
  /** The policy as its function has read it again. */
  now: WrittenPolicy | undefined;
  /** What happened before it, since its run began. */
  before: readonly JournalEvent[];
}

/** The real truncates of a history: each rule asks for them, and three months have hundreds. */
function sends(history: History): readonly Send[] {
  const read = readOf(history);
  read.sends ??= [...readSends(history)];
  return read.sends;
}

/** What a run has read cannot be older than its start, whatever its clock says. */
const runMargin = 2 * 86_400_000;

/** The place of the first event at or after a moment, by halving: three months have a million events. */
function firstSince(journal: readonly JournalEvent[], millis: number): number {
  let low = 0;
  let high = journal.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((journal[middle]?.at ?? 0) < millis) low = middle + 1;
    else high = middle;
  }
  return low;
}

function* readSends(history: History): Generator<Send> {
  const { journal } = history.world;
  for (const [place, event] of journal.entries()) {
    if (event.kind !== 'truncate') continue;
    const sent = event;
    const begin = firstSince(journal, sent.invocation.runStartMillis - runMargin);
    const before = journal.slice(begin, place);
    const asked = before.findLast(
      (event): event is Event<'dry-run'> => event.kind === 'dry-run' && event.invocation.id === sent.invocation.id,
    );
    const { invocation } = sent;
    const read = before.findLast(
      (event): event is Event<'settings'> =>
        event.kind === 'settings' && event.policies !== undefined && event.invocation.id === invocation.id,
    );
    const now = read?.policies && writtenFor(read.policies, sent.index, invocation.settings.maxRowsPerRun);
    const planned = policiesOfPlan(before, invocation).map(({ policies, maxRows }) =>
      writtenFor(policies, sent.index, maxRows),
    );
    // If one call began two Plans, the execution may have taken over the state of either.
    const policy =
      planned.find((one) => compared(one) === compared(now)) ?? planned.findLast((one) => one !== undefined);
    yield {
      sent,
      // Made anew each time: a copy of the journal kept for each truncate would fill the memory.
      get before() {
        return journal.slice(begin, place);
      },
      asked,
      execution: executionOf(history, invocation),
      policy,
      now,
    };
  }
}

/** The part of a policy that must not change between Plan and the call, as a text to compare. */
export const compared = (policy: WrittenPolicy | undefined): string =>
  JSON.stringify(Object.entries({ ...policy, owner: undefined, note: undefined }).sort()).toLowerCase();

/** What the Plans of a run have read, oldest first: a Plan may be retried. */
const policiesOfPlan = (events: readonly JournalEvent[], run: Run) =>
  events.flatMap((event) => {
    const isOfPlan = event.kind === 'settings' && event.invocation.step === 'plan';
    if (!isOfPlan || !event.policies || runOf(event.invocation) !== runOf(run)) return [];
    return [{ policies: event.policies, maxRows: event.invocation.settings.maxRowsPerRun }];
  });

/** A record that held a truncation, and the write that ended it with a verdict. */
export interface GivenVerdict {
  at: number;
  event: Event<'ledger'>;
  record: Unresolved;
  /** Of this truncation. */
  last: LastVerdict;
  verdict: LastVerdict['verdict'];
  state: LedgerRecord['state'];
  track: Track | undefined;
  invocation: InvocationInfo;
}

export function givenVerdicts(history: History): readonly GivenVerdict[] {
  const read = readOf(history);
  read.givenVerdicts ??= verdictsIn(history);
  return read.givenVerdicts;
}

function verdictsIn(history: History): GivenVerdict[] {
  return eventsOf(history, 'ledger').flatMap((event) => {
    const { at, previous, next, invocation } = event;
    if (!isReadable(previous) || !isUnresolved(previous) || !isReadable(next) || isUnresolved(next)) return [];
    const { lastVerdict: last } = next;
    if (releaseOf(history, invocation) || !last) return [];
    const track = trackOf(history.world.tracker, next.index, previous.attempt);
    return [{ at, event, record: previous, last, verdict: last.verdict, state: next.state, track, invocation }];
  });
}

/** A verdict or a release that a run has written down, and that has to be reported (rule 15). */
export interface Decision extends Unreported {
  at: number;
  index: string;
}

export const decisions = (history: History): Decision[] =>
  eventsOf(history, 'ledger').flatMap(({ at, previous, next }) => {
    const made = unreportedOf(next);
    return made && !isSameDecision(made, unreportedOf(previous)) ? [{ ...made, at, index: next.index }] : [];
  });

/** What was decided and not marked as reported at a time, by the records that were written before it. */
export function unreportedAt(history: History, at: number): Decision[] {
  const found = new Map<string, Decision>();
  for (const event of history.world.journal) {
    if (event.at >= at) break;
    // Nobody knows what was decided in a record that cannot be read.
    if (event.kind === 'damaged') found.delete(event.index);
    if (event.kind !== 'ledger') continue;
    const { index } = event.next;
    const made = unreportedOf(event.next);
    const before = found.get(index);
    if (before && made && isSameDecision(made, before)) continue;
    found.delete(index);
    if (made) found.set(index, { ...made, at: event.at, index });
  }
  return [...found.values()];
}

/** Whether another process touched an index in a span of time, bounds included. */
export const othersBetween = (history: History, index: string, from: number, until: number): boolean =>
  about(history, 'others', index).some((event) => event.at >= from && event.at <= until);

type Why = string | false | undefined;

/** A rule about each real truncate. @param why what is wrong with it */
export const ofSends = (why: (send: Send, history: History) => Why): CheckRule =>
  function* (history) {
    for (const send of sends(history)) {
      const text = why(send, history);
      if (text) yield { at: send.sent.at, text: `${send.sent.index}: ${text}` };
    }
  };

/** A rule about each verdict. @param why what is wrong with it */
export const ofVerdicts = (why: (given: GivenVerdict, history: History) => Why): CheckRule =>
  function* (history) {
    for (const given of givenVerdicts(history)) {
      const text = why(given, history);
      if (text) yield { at: given.at, text: `${given.record.index}: ${given.verdict.outcome}, ${text}` };
    }
  };

/** A rule about each write to the ledger. @param why what is wrong with it */
export const ofWrites = (why: (event: Event<'ledger'>, history: History) => Why): CheckRule =>
  function* (history) {
    for (const event of eventsOf(history, 'ledger')) {
      const text = why(event, history);
      if (text) yield { at: event.at, text: `${event.next.index}: ${text}` };
    }
  };
