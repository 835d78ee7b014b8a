import { functionTimeoutSeconds, maxClockSkewMillis } from '../../../lambda/facts/limits.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import { longestStillMillis } from '../../../lambda/truncation/watch.ts';
import type { Truth } from '../truth/track.ts';
import { type CheckRule, countsIn, eventsOf, othersBetween, runOf } from './events.ts';
import { type Closing, closings, hasNotBegun, isHidden, isOurs, limitOf, wasSilent } from './unresolved.ts';

/** Rules about single rows, and about verdicts that the rows contradict (safety rules 7 and 8). */

const minute = 60_000;

/** What subscribers received about an index, in order: a report that nobody gets informs nobody. */
export const entriesOf = (history: Parameters<CheckRule>[0], index: string) =>
  eventsOf(history, 'published').flatMap(({ at, report, told }) =>
    told ? report.policies.filter((entry) => searchIndex(entry) === index).map((entry) => ({ at, entry })) : [],
  );

export const rowRules = {
  *'every row that is lost through us is named'(history) {
    const verdicts = new Map(closings(history).map((closing) => [closing.record.attemptId, closing]));
    for (const { at, index, track } of eventsOf(history, 'truncate')) {
      const loss = track.loss ?? history.world.servers[0].truth.lossOf(track);
      if (loss.rows === 0) continue;
      const closing = track.attemptId === undefined ? undefined : verdicts.get(track.attemptId);
      const told = closing && namedBy(closing, loss);
      if (told === undefined) {
        // docs/testing.md, `twin-task`.
        if (closing && isProvenByTwin(history, closing)) continue;
        // docs/testing.md, `silent-reindex`.
        if (closing && wasSilent(history, closing)) continue;
        // Unresolved at the end: other rules report that. With a verdict that does not mention it, nobody will ever
        // look.
        const outcome = closing?.verdict.entry.outcome;
        if (closing)
          yield { at, text: `${index}: ${loss.rows} rows are lost (${loss.unseen} unseen), and it was ${outcome}` };
        continue;
      }
      const published = entriesOf(history, index).some(({ at: then, entry }) => then >= track.sentAt && told(entry));
      // Its run's last Poll crashed, and a person released the index before the next run, with the number.
      if (!published && !isNamedByRelease(history, index, track.sentAt, loss.rows - loss.unseen))
        yield { at, text: `${index}: ${loss.rows} rows are lost, and nobody was sent a word of it` };
    }
  },

  *'truncated is true'(history) {
    for (const closing of closings(history)) {
      const { at, record, verdict, event } = closing;
      if (verdict.entry.outcome !== 'truncated' || wasTouched(history, closing)) continue;
      const { rowsToDelete: planned, indexName } = record.attempt.baseline;
      const { oldLeft, isAside } = event.truth;
      // docs/testing.md, `nameless-replacement`.
      if (isAside && indexName === undefined) continue;
      if (oldLeft > limitOf(planned)) {
        yield { at, text: `${record.index}: truncated, and ${oldLeft} of ${planned} old rows are there` };
      }
    }
  },

  *'incomplete is true'(history) {
    for (const closing of closings(history)) {
      const { at, record, verdict, event } = closing;
      const { outcome, cause } = verdict.entry;
      if (
        outcome !== 'incomplete' ||
        (cause.kind === 'remains' && cause.why === 'conflicts') ||
        wasTouched(history, closing)
      )
        continue;
      const { oldFound, oldTaken, unrefreshed } = event.truth;
      // If not one row went, it was not done, however few rows there are.
      if (oldTaken === 0 && oldFound > 0) continue;
      const planned = record.attempt.baseline.rowsToDelete;
      // The refresh came while its Poll took minutes to record what it had counted.
      const hadCounted = cause.kind === 'not-refreshed' && (lastCount(history, closing) ?? 0) > limitOf(planned);
      if (!unrefreshed && !hadCounted && oldFound <= limitOf(planned)) {
        yield { at, text: `${record.index}: incomplete, and ${oldFound} of ${planned} rows are left` };
      }
    }
  },

  *'rows-missing is true'(history) {
    for (const event of eventsOf(history, 'ledger')) {
      const { at, previous, next, truth } = event;
      const verdict = next.lastVerdict;
      if (!isOurs(previous) || verdict?.entry.outcome !== 'rows-missing') continue;
      if (verdict.attemptId === previous.lastVerdict?.attemptId) continue;
      const { cause } = verdict.entry;
      // Rows that arrived between the count and the verdict hide nothing.
      const isShort = truth.loss.rows > 0 || truth.windows.some(({ recorded, found }) => found < recorded);
      const since = at - functionTimeoutSeconds.poll * 1000;
      const name = history.world.servers[0].nameOf(next.index);
      // A copy that had paused continued while it was being counted.
      const wentOn = truth.movedAt !== undefined && truth.movedAt >= since;
      if (isShort || wentOn || truth.unrefreshed || othersBetween(history, name, since, at)) continue;
      yield { at, text: `${next.index}: rows-missing (${cause.kind}), and searches find as many as before` };
    }
  },

  *'a verdict comes after the end'(history) {
    for (const closing of closings(history)) {
      const { at, record, verdict, event } = closing;
      const { truth } = event;
      const { outcome } = verdict.entry;
      // A truncation whose end nobody could see is closed at 20 h, whatever it does, but not by a run that has seen it delete.
      if (!truth.working || (outcome === 'unknown' && !wasSeenToDelete(history, closing))) continue;
      const { acted, oldLeft, stalledMillis, unrefreshed, loss, isAside } = truth;
      if (isTooEarlyByClock(truth)) continue;
      if (acted === 'delete' && outcome === 'failed' && (hasNotBegun(closing) || isHidden(history, closing))) continue;
      // Another process has put another index behind the alias: what ours deletes from the old one no longer matters.
      if (acted === 'delete' && isAside) continue;
      if (acted === 'delete') {
        // It has nothing left to do; or rows are gone that it does not delete.
        if (outcome === 'truncated' && oldLeft <= limitOf(record.attempt.baseline.rowsToDelete)) continue;
        if (outcome === 'rows-missing') continue;
        // Nobody can see it working.
        if (unrefreshed) continue;
      }
      // Others have deleted what a late copy would have copied: even with everything that it still brings, as many are
      // missing.
      const areGone = truth.windows.some(({ recorded, found }) => recorded - found > loss.rows);
      // A copy without a readable status that makes no progress or cannot be seen has ended, as far as anyone can know.
      if (
        acted === 'reindex' &&
        outcome === 'rows-missing' &&
        (stalledMillis >= 10 * minute || unrefreshed || loss.mixed || areGone)
      )
        continue;
      yield { at, text: `${record.index}: ${outcome} (${verdict.entry.cause.kind}) while it was at work (${acted})` };
    }
  },

  *'failed means that nothing can be seen to have been done'(history) {
    for (const closing of closings(history)) {
      const { at, record, verdict, event } = closing;
      if (verdict.entry.outcome !== 'failed' || event.truth.unrefreshed || wasTouched(history, closing)) continue;
      const { acted, oldTaken, onSource, loss } = event.truth;
      const planned = record.attempt.baseline.rowsToDelete;
      const isNothing = acted === 'never' || acted === 'nothing';
      const isUndone = acted === 'reindex' && onSource && loss.rows === 0;
      if (isTooEarlyByClock(event.truth)) continue;
      if (isNothing || isUndone || (acted === 'delete' && oldTaken <= limitOf(planned))) continue;
      // docs/testing.md, `slow-first-batch`.
      if (acted === 'delete' && hasNotBegun(closing)) continue;
      if (acted === 'delete' && isHidden(history, closing)) continue;
      // docs/testing.md, `nameless-replacement` and `silent-reindex`.
      if (event.truth.isElsewhere && record.attempt.baseline.indexName === undefined) continue;
      if (acted === 'reindex' && wasSilent(history, closing)) continue;
      yield { at, text: `${record.index}: failed, and ${acted} took ${oldTaken} of ${planned} rows` };
    }
  },

  *'a verdict is about its own cutoff'(history) {
    for (const { at, record, verdict, track } of closings(history)) {
      const { cutoffMillis } = verdict.entry;
      if (track && cutoffMillis !== track.cutoffMillis) {
        yield { at, text: `${record.index}: judged by ${cutoffMillis}, sent with ${track.cutoffMillis}` };
      }
    }
  },
} satisfies Record<string, CheckRule>;

type Entry = Closing['verdict']['entry'];

/** docs/testing.md, `clock-across-looks`: by a clock slightly ahead, its time to act is over. */
const isTooEarlyByClock = ({ acted, aheadMillis }: Truth): boolean => acted === 'not yet' && aheadMillis > 0;

/** How a verdict names lost rows: which report must say so; undefined if it names none. */
function namedBy(
  { event, verdict }: Closing,
  { rows, unseen }: { rows: number; unseen: number },
): ((entry: Entry) => boolean) | undefined {
  const { outcome, rowsMissing = 0, cause } = verdict.entry;
  if (event.next.state === 'quarantined') {
    return (entry) => ['rows-missing', 'quarantined', 'unknown'].includes(entry.outcome);
  }
  if (outcome === 'unknown') return (entry) => entry.outcome === 'unknown';
  const straggles = (cause.kind === 'verified' || cause.kind === 'remains') && cause.stragglersIn !== undefined;
  if (rowsMissing >= rows - unseen && (unseen === 0 || straggles)) {
    return (entry) => entry.outcome === outcome && (entry.rowsMissing ?? 0) === rowsMissing;
  }
  return undefined;
}

const searchIndexOf = (name: string): string => {
  const [entityType = '', aspect = ''] = name.split('.');
  return searchIndex({ entityType, aspect });
};

const isNamedByRelease = (history: Parameters<CheckRule>[0], index: string, since: number, rows: number): boolean =>
  eventsOf(history, 'published').some(
    ({ at, report, told }) =>
      told &&
      at >= since &&
      (report.notes ?? []).some(
        (note) =>
          note.kind === 'released' && searchIndexOf(note.index) === index && note.rowsMissing >= rows && rows > 0,
      ),
  );

/**
 * When the status was read, another process's complete copy, with no more rows than ours could have, had our task's
 * number.
 */
function isProvenByTwin({ world }: Parameters<CheckRule>[0], { at, record, verdict, track }: Closing): boolean {
  const { cause } = verdict.entry;
  // A proven copy that left old rows is incomplete.
  const isIncompleteCopy = cause.kind === 'remains' && record.attempt.strategy !== 'delete-by-query';
  const isProven = isIncompleteCopy || (cause.kind === 'verified' && cause.by === 'proof');
  if (!isProven || record.state !== 'running') return false;
  const serials = track?.acted?.serials ?? [];
  const { taskId, baseline } = record.attempt;
  const most = baseline.rowsTotal + limitOf(baseline.rowsTotal);
  return world.servers[0].engine
    .everyTask()
    .some(
      ({ id, serial, kind, total, completedAt = Number.POSITIVE_INFINITY }) =>
        id === taskId && kind === 'reindex' && completedAt <= at && total <= most && !serials.includes(serial),
    );
}

/** Rows to delete in the last dry run of the function that decided, with the record's own cutoff. */
function lastCount(history: Parameters<CheckRule>[0], { record, event }: Closing): number | undefined {
  const { endTimeMillis } = record.attempt.fields;
  const last = eventsOf(history, 'dry-run').findLast(
    ({ at, invocation, fields }) =>
      at <= event.at &&
      invocation.id === event.invocation?.id &&
      searchIndex(fields) === record.index &&
      fields.endTimeMillis === endTimeMillis,
  );
  return last && countsIn(last.sentence)?.rows;
}

/**
 * In the run that closed it, its own status has just shown more deleted rows than before: such a run leaves it to the
 * next, unless it hangs.
 */
function wasSeenToDelete(history: Parameters<CheckRule>[0], { record, event }: Closing): boolean {
  const { invocation } = event;
  if (record.state !== 'running' || invocation === undefined) return false;
  const { taskId } = record.attempt;
  const reads = eventsOf(history, 'read').filter(
    (read) => read.task === taskId && runOf(read.invocation) === runOf(invocation) && read.at <= event.at,
  );
  const hung = longestStillMillis(invocation.settings.maxRunHours) - maxClockSkewMillis;
  let most: number | undefined;
  let roseAt = Number.NEGATIVE_INFINITY;
  for (const { at, deleted } of reads) {
    if (deleted === undefined) continue;
    if (most !== undefined && deleted > most) roseAt = at;
    most = Math.max(deleted, most ?? deleted);
  }
  return event.at - roseAt < hung;
}

/** Another process acted on the index while the verdict was being made. */
function wasTouched(history: Parameters<CheckRule>[0], { at, record }: Closing): boolean {
  const name = history.world.servers[0].nameOf(record.index);
  return othersBetween(history, name, at - functionTimeoutSeconds.poll * 1000, at);
}
