import { type LastVerdict, revisionOf } from '../../../lambda/ledger/record.ts';
import { resultOf, worst } from '../../../lambda/model/outcomes.ts';
import type { PolicyEntry } from '../../../lambda/model/report-schema.ts';
import { searchIndex, searchIndexOfName } from '../../../lambda/policy/aspects.ts';
import { isReadable, isSameDecision, unreportedOf } from '../world/records.ts';
import {
  about,
  type CheckRule,
  type Decision,
  decisions,
  type Event,
  eventsOf,
  lastWrite,
  ofRun,
  ofWrites,
  releaseOf,
  runOf,
  unreportedAt,
} from './events.ts';

/** Rule 15: what has been decided about an index is reported before anything else happens to it. */

type Published = Event<'published'>;

export const entriesOf = ({ report }: Published, index: string): PolicyEntry[] =>
  report.policies.filter((entry) => searchIndex(entry) === index);

const timeOf = (millis: number): string => new Date(millis).toISOString();

/** The entry that reports a verdict as it was decided. */
export const entryOfVerdict = (event: Published, index: string, last: LastVerdict): PolicyEntry | undefined =>
  entriesOf(event, index).find(
    ({ outcome, decidedAt }) => outcome === last.verdict.outcome && decidedAt === timeOf(last.decided.atMillis),
  );

/** Whether a report includes what was decided: the verdict as it was given, or the release. */
const includes = (event: Published, { index, by, last }: Omit<Decision, 'at'>): boolean =>
  last
    ? entryOfVerdict(event, index, last) !== undefined
    : (event.report.notes ?? []).some(
        (note) =>
          note.kind === 'released' && searchIndexOfName(note.index) === index && note.decidedAt === timeOf(by.atMillis),
      );

export const reportedRules: Record<string, CheckRule> = {
  'nothing takes the place of what is unreported': ofWrites(({ previous, next }) => {
    const before = unreportedOf(previous);
    if (!before || isSameDecision(before, unreportedOf(next))) return undefined;
    const isMark =
      isReadable(next) && !next.unreported && isSameDecision(before, unreportedOf({ ...next, unreported: true }));
    if (!isMark) return `it is ${next.state} now, and ${before.by.runId} had decided`;
    return next.state !== previous?.state && `marked as ${next.state}`;
  }),

  'what is marked was published, and nothing has been written since': ofWrites((event, history) => {
    const { at, previous, next, invocation } = event;
    const made = unreportedOf(previous);
    if (!made || unreportedOf(next)) return undefined;
    const own = ofRun(history, 'published', invocation).filter((one) => one.at <= at);
    const published = own.findLast((one) => one.confirmed && includes(one, { ...made, index: next.index }));
    if (!published) return 'marked, and no published report includes it';
    const written = about(history, 'ledger', next.index).findLast(
      (one) => revisionOf(one.next) === revisionOf(previous),
    );
    const isOther = written && runOf(written.invocation) !== runOf(invocation) && written.at > published.at;
    return isOther && 'another run has written since';
  }),

  'no verdict and no release ends unreported': ofWrites(({ previous, next, invocation }, history) => {
    if (!isReadable(next) || next.unreported) return undefined;
    const { lastVerdict, lastRelease } = next;
    const before = isReadable(previous) ? (previous.lastVerdict ?? previous.lastRelease)?.decided.atMillis : undefined;
    const now = (lastVerdict ?? lastRelease)?.decided;
    // If a call was never sent, only its own run has something to report.
    const isWithdrawn =
      lastVerdict && isReadable(previous) && previous.state === 'sending' && invocation.step === 'truncate';
    const isNew = now && now.atMillis !== before && !isWithdrawn;
    return isNew && `decided by ${now.runId}${releaseOf(history, invocation) ? ', a release' : ''}, and not flagged`;
  }),

  *'what is unreported is not counted'(history) {
    for (const { at, index, invocation } of eventsOf(history, 'dry-run')) {
      if (invocation.step === 'poll') continue;
      const before = lastWrite(history, index, at);
      const made = unreportedOf(before?.next);
      if (!before || !made || before.at >= invocation.startedAt) continue;
      // A preview tells today's rows beside the decision. One that died in Plan has told no mode: if it is redriven, the
      // stage may have another by then.
      const [ended] = ofRun(history, 'ended', invocation);
      const [taken] = ofRun(history, 'taken', invocation);
      const isUnknownMode = !taken || (ended && ended.at < taken.at);
      if (before.next?.state === 'idle' && (isUnknownMode || taken.state.mode === 'preview')) continue;
      yield { at, text: `${index}: counted by ${invocation.runId}, decided by ${made.by.runId}` };
    }
  },
};

/** Rules for a whole history: while it goes on, reports are still to come. */
export const reportRules = {
  *'every verdict and every release is reported'(history) {
    for (const made of decisions(history)) {
      const since = eventsOf(history, 'published').filter((event) => event.at >= made.at);
      if (since.some((event) => includes(event, made))) continue;
      // If a record became unreadable before its first report, nobody knows what was decided: the index is reported as
      // unreadable.
      const damage = about(history, 'damaged', made.index).find((event) => event.at >= made.at);
      const couldSay = (event: Published) =>
        event.confirmed &&
        event.at < (damage?.at ?? 0) &&
        (runOf(event) === runOf(made.by) || (ofRun(history, 'listed', event)[0]?.at ?? 0) >= made.at);
      if (damage && !since.some(couldSay)) continue;
      yield { at: made.at, text: `${made.index}: decided by ${made.by.runId}, and never reported` };
    }
  },

  *'what a run reports as its own was decided since it began'(history) {
    for (const published of eventsOf(history, 'published')) {
      const began = ofRun(history, 'invocation', published)[0]?.at ?? published.at;
      for (const { decidedAt, resumed, ...entry } of published.report.policies) {
        if (decidedAt === undefined || resumed || Date.parse(decidedAt) >= began) continue;
        yield { at: published.at, text: `${searchIndex(entry)}: decided at ${decidedAt}, by no run of this start` };
      }
    }
  },

  *'what is unreported is in every report'(history) {
    for (const published of eventsOf(history, 'published')) {
      const listed = ofRun(history, 'listed', published)[0];
      if (!listed || isBlind(published)) continue;
      for (const made of unreportedAt(history, listed.at)) {
        const isStill = unreportedAt(history, published.at).some((one) => isSameDecision(one, made));
        if (!isStill || includes(published, made)) continue;
        const [entry] = entriesOf(published, made.index);
        const text = `${made.index}: decided by ${made.by.runId}, and ${published.runId} says ${entry?.outcome ?? 'nothing'}`;
        yield { at: published.at, text };
      }
    }
  },

  /** Whichever run reports it: the one that judged, the next one, or both. */
  *'a verdict that is reported for the first time counts as what it is'(history) {
    const made = decisions(history);
    for (const published of eventsOf(history, 'published')) {
      const { at, runId, report } = published;
      if (isBlind(published)) continue;
      const earlier = eventsOf(history, 'published').filter((event) => event.at < at && event.confirmed);
      let missing = 0;
      for (const one of made) {
        const entry = one.last && entryOfVerdict(published, one.index, one.last);
        if (!one.last || !entry || earlier.some((event) => includes(event, one))) continue;
        const { outcome, rowsMissing } = one.last.verdict;
        if (worst([report.result, resultOf[outcome]]) !== report.result)
          yield { at, text: `${one.index} is ${outcome}, and ${runId} is ${report.result}` };
        if (outcome !== 'rows-missing') continue;
        if (entry.rowsMissing !== rowsMissing)
          yield { at, text: `${one.index} misses ${rowsMissing} rows, and ${runId} says ${entry.rowsMissing}` };
        missing += Math.max(1, rowsMissing ?? 1);
      }
      const counted = ofRun(history, 'counted', published).filter((event) => event.at >= at);
      const most = Math.max(0, ...counted.map(({ rowsMissing }) => rowsMissing));
      // A function that died when its message was out has counted nothing.
      if (counted.length > 0 && most < missing)
        yield { at, text: `${missing} rows are missing, and ${runId} counts ${most}` };
    }
  },

  *'metrics are written once for each report that is published'(history) {
    for (const event of eventsOf(history, 'counted')) {
      const { at, runId } = event;
      const own = (kind: 'published' | 'counted') => ofRun(history, kind, event).filter((one) => one.at <= at).length;
      const tries = ofRun(history, 'invocation', event).filter(({ invocation }) => invocation.step === 'report');
      // Each redrive counts once: in the try that publishes, or in its last. Of a call that began two functions, both do.
      const unpublished = Math.max(0, tries.length - own('published'));
      const twins = tries.length - new Set(tries.map((one) => one.at)).size;
      if (own('counted') > own('published') + Math.ceil(unpublished / 3) + twins)
        yield { at, text: `${runId} has counted ${own('counted')} times` };
    }
  },
} satisfies Record<string, CheckRule>;

/** A Plan that failed, or could not read the ledger, knows of nothing. */
export const isBlind = ({ report: { cause } }: Published): boolean =>
  cause?.kind === 'step-failed' ? cause.step === 'plan' : cause?.kind === 'setup' && cause.what === 'ledger';
