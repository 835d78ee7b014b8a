import { functionTimeoutSeconds } from '../../lambda/facts/limits.ts';
import type { History } from './history.ts';
import type { Track } from './journal.ts';
import type { CheckRule } from './rules.ts';
import { eventsOf } from './rules-sending.ts';

/** Rules about single rows, and about verdicts that the rows contradict (safety rules 7 and 8). */

/** The entries of all published reports that tell of an index, in order. */
export const entriesOf = (history: History, index: string) =>
  eventsOf(history, 'published').flatMap(({ at, runId, report }) =>
    report.policies
      .filter(({ entityType, aspect }) => `${entityType}.${aspect}`.toLowerCase() === index)
      .map((entry) => ({ at, runId, entry })),
  );

/** Whether a report names rows that this truncation cost: as `rows-missing`, as its quarantine, or as a number in a note. */
function isNamed(history: History, track: Track, rows: number): boolean {
  return entriesOf(history, track.index).some(({ at, entry }) => {
    if (at < track.sentAt) return false;
    if (entry.outcome === 'rows-missing' || entry.outcome === 'quarantined') return true;
    const noted = /([\d,]+) rows newer than the cutoff are gone/.exec(entry.reason);
    return noted !== null && Number(noted[1]!.replaceAll(',', '')) >= rows;
  });
}

/** The real truncates by their attempts. */
const tracksOf = (history: History): Map<string | undefined, Track> =>
  new Map(eventsOf(history, 'truncate').map(({ track }) => [track.attemptId, track]));

export const rowRules = {
  *'every row that is gone through our doing is named'(history) {
    for (const { at, index, track } of eventsOf(history, 'truncate')) {
      const gone = track.gone;
      if (!gone || gone.mixed || gone.counted === 0) continue;
      if (!isNamed(history, track, gone.counted)) {
        yield { at, text: `${index}: ${gone.counted} rows newer than the cutoff are gone, and no report names them` };
      }
    }
  },

  *'truncated is true'(history) {
    for (const { at, next, truth } of eventsOf(history, 'ledger')) {
      if (!truth || next.lastVerdict?.entry.outcome !== 'truncated') continue;
      if (truth.oldRowsLeft > Math.max(10, truth.planned * 0.01)) {
        yield { at, text: `${next.index}: truncated, and ${truth.oldRowsLeft} of ${truth.planned} old rows are there` };
      }
    }
  },

  *'rows-missing is true'(history) {
    const others = eventsOf(history, 'others').map(({ at }) => at);
    for (const { at, previous, next, truth } of eventsOf(history, 'ledger')) {
      const verdict = next.lastVerdict;
      if (!truth || verdict?.entry.outcome !== 'rows-missing' || previous?.attempt?.sendingSince === undefined)
        continue;
      // A function counts for as long as it may, and what it counts may not show yet what others did a moment before.
      const since = previous.attempt.sendingSince - functionTimeoutSeconds.truncate * 1000;
      const explained =
        truth.windowRowsGone > 0 ||
        (previous.attempt.strategy !== 'delete-by-query' && truth.keptRowsGone > 0) ||
        truth.hidden > 0 ||
        truth.ghosts ||
        // A server that reindexes where it was to delete: all rows may be there, and the rule closes the index.
        (previous.attempt.strategy === 'delete-by-query' && truth.moved) ||
        others.some((moment) => moment >= since && moment <= at) ||
        /over several runs/.test(verdict.entry.reason);
      if (!explained) {
        yield { at, text: `${next.index}: rows-missing, and no row is (${verdict.entry.reason.slice(0, 120)})` };
      }
    }
  },

  *'a verdict comes after the end'(history) {
    const tracks = tracksOf(history);
    for (const { at, previous, next, truth } of eventsOf(history, 'ledger')) {
      const outcome = next.lastVerdict?.entry.outcome;
      // What nobody could see end is closed at 20 h, whatever it does.
      if (!truth || truth.running === 0 || outcome === 'lost' || outcome === 'unknown') continue;
      const attempt = previous?.attempt;
      // Where refreshing is off nobody can see it at work; and a moved alias no end of the task will undo.
      if (outcome === 'rows-missing' && truth.hidden > 0) continue;
      if (outcome === 'rows-missing' && attempt?.strategy === 'delete-by-query') continue;
      // Somebody else has deleted what it was to delete: it goes on, and finds nothing.
      if (outcome === 'truncated' && attempt?.strategy === 'delete-by-query' && truth.oldRowsLeft === 0) continue;
      // Somebody else has reindexed what the copy had brought until then: the copy goes on into an index of nobody's.
      if (outcome === 'rows-missing' && tracks.get(next.lastVerdict?.attemptId)?.gone?.mixed) continue;
      yield { at, text: `${next.index}: ${outcome} while its task was at work` };
    }
  },

  *'failed means that nothing was done'(history) {
    const tracks = tracksOf(history);
    for (const { at, next, truth } of eventsOf(history, 'ledger')) {
      if (!truth || next.lastVerdict?.entry.outcome !== 'failed') continue;
      // What has gone all the same was somebody else's doing.
      if (tracks.get(next.lastVerdict.attemptId)?.acted === false) continue;
      const { oldRowsLeft, planned, moved, running } = truth;
      if (running === 0 && oldRowsLeft >= planned && !moved) continue;
      const what = moved ? 'the alias moved' : `${planned - oldRowsLeft} old rows went, or are about to`;
      yield { at, text: `${next.index}: failed, and ${what}` };
    }
  },

  *'a verdict is about its own cutoff'(history) {
    const tracks = tracksOf(history);
    for (const { at, next, previous } of eventsOf(history, 'ledger')) {
      const verdict = next.lastVerdict;
      const track = verdict && tracks.get(verdict.attemptId);
      if (!track || verdict.attemptId === previous?.lastVerdict?.attemptId) continue;
      if (verdict.entry.cutoffMillis !== track.cutoffMillis) {
        yield { at, text: `${next.index}: judged by ${verdict.entry.cutoffMillis}, sent with ${track.cutoffMillis}` };
      }
    }
  },
} satisfies Record<string, CheckRule>;
