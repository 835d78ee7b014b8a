import type { PolicyEntry } from '../../../lambda/facts/report-schema.ts';
import { decisionOf, headOf, type LastVerdict } from '../../../lambda/ledger/record.ts';
import { searchIndex, searchIndexOfName } from '../../../lambda/policy/aspects.ts';
import {
  type CheckRule,
  decisions,
  type Event,
  eventsOf,
  isOurs,
  type Made,
  ofWrites,
  releaseOf,
  runOf,
} from './events.ts';

/** Rules 11 and 15: what has been decided about an index is told before anything else happens to it. */

const second = 1000;

export const entriesOf = ({ report }: Event<'published'>, index: string): PolicyEntry[] =>
  report.policies.filter((entry) => searchIndex(entry) === index);

const timeOf = (millis: number): string => new Date(millis).toISOString();

export const carriesVerdict = (event: Event<'published'>, index: string, { decided, verdict }: LastVerdict): boolean =>
  hasEntry(event, index, verdict.outcome, decided.atMillis);

const hasEntry = (event: Event<'published'>, index: string, outcome: string, atMillis: number): boolean =>
  entriesOf(event, index).some((one) => one.outcome === outcome && one.decidedAt === timeOf(atMillis));

type Untold = Omit<Made, 'at'>;

/** Whether a report carries the verdict, if there is one to tell. Of another version's, only the decision is known. */
const tellsVerdict = (event: Event<'published'>, { index, decision, last }: Untold): boolean =>
  decision.outcome === undefined ||
  (last !== undefined && carriesVerdict(event, index, last)) ||
  hasEntry(event, index, decision.outcome, (decision.verdictBy ?? decision).atMillis);

/** Whether it carries the release, if there is one to tell. */
const tellsRelease = ({ report }: Event<'published'>, { index, decision: { released, atMillis } }: Untold): boolean =>
  !released ||
  (report.notes ?? []).some(
    (note) =>
      note.kind === 'released' && searchIndexOfName(note.index) === index && note.decidedAt === timeOf(atMillis),
  );

export const judgedRules: Record<string, CheckRule> = {
  'nothing takes the place of what nobody has been told': ofWrites(({ previous, next, invocation }, history) => {
    const before = decisionOf(previous);
    const now = decisionOf(next);
    if (!before || before.id === now?.id) return undefined;
    const { state } = headOf(next);
    if (!now) return state !== before.becomes && `it was to become ${before.becomes}, and is ${state}`;
    if (!now.released || !releaseOf(history, invocation)) return 'another decision has taken its place';
    const isKept =
      before.outcome === undefined ||
      (now.outcome === before.outcome && isOurs(next) && (next.lastVerdict ?? now.verdictBy));
    return !isKept && 'its release has forgotten the verdict';
  }),

  'what is marked was published': ofWrites(({ at, previous, next, invocation }, history) => {
    const decision = decisionOf(previous);
    if (!decision || decisionOf(next)) return undefined;
    const last = isOurs(previous) && decision.outcome !== undefined ? previous.lastVerdict : undefined;
    const own = eventsOf(history, 'published').filter((event) => runOf(event) === runOf(invocation) && event.at <= at);
    if (!own.some(({ confirmed }) => confirmed)) return 'marked, and nothing was published';
    const made = { index: next.index, decision, last };
    const isTold = own.some((event) => tellsVerdict(event, made) && tellsRelease(event, made));
    return !isTold && 'marked, and not in the report';
  }),

  'rows that went between two runs were counted low twice, 90 s apart': ofWrites((event, history) => {
    const { previous, next, invocation } = event;
    const window = isOurs(previous) && previous.state === 'idle' ? previous.lastVerdict?.window : undefined;
    if (!window || !isOurs(next) || next.state !== 'judged' || !next.counted) return undefined;
    let before = 0;
    const counts = eventsOf(history, 'dry-run').flatMap(({ at, index, invocation: { id }, fields, answer }) => {
      if (id !== invocation.id || index !== next.index || !answer) return [];
      if (fields.cutoffMillis === window.afterMillis) before = answer.rowsToDelete;
      return fields.cutoffMillis === window.untilMillis
        ? [{ at, found: Math.max(0, answer.rowsToDelete - before) }]
        : [];
    });
    const low = counts.filter(({ found }) => found < window.rows / 2 && window.rows - found > 10);
    const [first, last] = [low[0]?.at ?? 0, low.at(-1)?.at ?? 0];
    return last - first < 85 * second && `${low.length} low counts in ${Math.round((last - first) / second)} s`;
  }),

  *'what nobody has been told is not asked about'(history) {
    for (const { at, index, invocation } of eventsOf(history, 'dry-run')) {
      if (invocation.step !== 'plan' || releaseOf(history, invocation)) continue;
      const before = eventsOf(history, 'ledger').findLast((event) => event.next.index === index && event.at <= at);
      const decision = decisionOf(before?.next);
      if (!before || !decision || before.at >= invocation.startedAt) continue;
      yield { at, text: `${index}: counted by ${invocation.runId}, judged by ${decision.runId}` };
    }
  },
};

/** Only where a history is over has everything been told that will be. */
export const toldRules = {
  *'every verdict and every release is told'(history) {
    for (const made of decisions(history)) {
      const { at, index, decision } = made;
      const later = eventsOf(history, 'published').filter((event) => event.at >= at);
      const isVerdictTold = later.some((event) => tellsVerdict(event, made));
      const isReleaseTold = later.some((event) => tellsRelease(event, made));
      if (!isVerdictTold) yield { at, text: `${index}: ${decision.outcome} by ${decision.runId}, and never told` };
      if (!isReleaseTold) yield { at, text: `${index}: released by ${decision.runId}, and never told` };
    }
  },

  *'what nobody has been told is in every report'(history) {
    for (const published of eventsOf(history, 'published')) {
      const { at, runId } = published;
      const listed = eventsOf(history, 'listed').find(({ invocation }) => runOf(invocation) === runOf(published));
      if (!listed || isBlind(published)) continue;
      for (const made of untoldBetween(history, listed.at, at)) {
        const { decision, index } = made;
        if (tellsVerdict(published, made) && tellsRelease(published, made)) continue;
        yield {
          at,
          text: `${index} is judged by ${decision.runId}, and ${runId} says ${entriesOf(published, index)[0]?.outcome ?? 'nothing'}`,
        };
      }
    }
  },
} satisfies Record<string, CheckRule>;

/** A Plan that failed, or could not read the ledger, knows of nothing. */
export const isBlind = ({ report: { cause } }: Event<'published'>): boolean =>
  cause?.kind === 'step-failed' ? cause.step === 'plan' : cause?.kind === 'setup' && cause.what === 'ledger';

/** What was decided and not told during all of a run. */
function untoldBetween(history: Parameters<CheckRule>[0], from: number, until: number): Made[] {
  const untold = new Map<string, Made>();
  for (const event of history.world.journal) {
    if (event.at > until) break;
    if (event.kind !== 'ledger') continue;
    const { next, at } = event;
    const decision = decisionOf(next);
    const before = untold.get(next.index);
    if (before && before.decision.id === decision?.id) continue;
    untold.delete(next.index);
    const last = isOurs(next) && decision?.outcome !== undefined ? next.lastVerdict : undefined;
    if (decision && at < from) untold.set(next.index, { at, index: next.index, decision, last });
  }
  return [...untold.values()];
}
