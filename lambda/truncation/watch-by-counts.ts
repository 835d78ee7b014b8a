import { grouped } from '../facts/grouped.ts';
import { abandonAfterMillis, refreshPatienceMillis } from '../facts/limits.ts';
import { done, judgeableAt } from '../run/entries.ts';
import type { Entry } from '../run/state.ts';
import { close } from './closing.ts';
import { gather, type Look } from './evidence.ts';
import { isStill, noteMovement, noteProgress } from './looks.ts';
import { type Evidence, judge, remainderText } from './verdict.ts';

/**
 * Watches a truncation that has no status to go by. Rows-to-delete tell of a delete by query; for a reindex only the
 * kept rows do, because a swapped alias shows "0 to delete" at once. It has ended only when it is still.
 * @returns a decided entry, or undefined to go on watching. Throws OperationsError.
 */
export async function watchByCounts(look: Look): Promise<Entry | undefined> {
  const { entry, record, services, signal } = look;
  const { watch } = entry;
  const attempt = record.attempt!;
  const baseline = attempt.baseline!;
  const badRequest = attempt.answer?.kind === 'bad-request';
  // Stillness is told by the time before the counts: a slow answer shows what was, not what is.
  const countedSince = services.clock.now();
  if (attempt.strategy === 'delete-by-query' && !badRequest) {
    const { rowsToDelete } = await services.operations.dryRun(attempt.fields, { signal });
    noteMovement(watch, { toDelete: rowsToDelete }, services.clock.now());
    noteProgress(watch, Math.max(0, baseline.rowsToDelete - rowsToDelete), baseline.rowsToDelete, look.now);
  } else {
    const evidence = await gather(look, undefined);
    if (!evidence) return undefined;
    if (badRequest && look.now >= attempt.answer!.receivedAt + refreshPatienceMillis && nothingChanged(evidence)) {
      const reason = `${attempt.answer!.reason}; nothing has changed since (same index, same counts)`;
      return close({ ...look, ...evidence, judgement: { outcome: 'failed', reason }, endedAt: look.now });
    }
    const { rowsKept, rowsToDelete } = evidence.after;
    noteMovement(watch, { kept: rowsKept, toDelete: rowsToDelete }, services.clock.now());
    noteProgress(watch, Math.min(rowsKept, baseline.rowsKept), baseline.rowsKept, look.now);
  }
  if (!isStill(watch, countedSince, services.settings.maxRunHours)) return undefined;
  return countedSince < judgeableAt(record) ? undefined : judgeStill(look);
}

/** After a 400: the same physical index, which must be known, and no row gone; more rows to delete may hide some. */
function nothingChanged({ attempt, after, indexName }: Evidence): boolean {
  const { baseline } = attempt;
  const sameIndex = indexName !== undefined && indexName === baseline.indexName;
  return sameIndex && after.rowsKept >= baseline.rowsKept && after.rowsToDelete === baseline.rowsToDelete;
}

/** Nothing moves any more. Proven by counts it is closed; otherwise it stays unresolved until it is 20 h old. */
async function judgeStill(look: Look): Promise<Entry | undefined> {
  const { entry, record, services } = look;
  const evidence = await gather(look, undefined);
  if (!evidence) return undefined;
  const stillSince = entry.watch.movedAt;
  const { rowsKept, rowsToDelete } = evidence.after;
  const kept = entry.watch.highestKept === undefined ? {} : { kept: rowsKept };
  noteMovement(entry.watch, { toDelete: rowsToDelete, ...kept }, services.clock.now());
  if (entry.watch.movedAt !== stillSince) return undefined; // it went on between the two counts
  const judgement = judge(evidence);
  const endedAt = stillSince ?? look.now;
  if (judgement.outcome !== 'incomplete') return close({ ...look, ...evidence, judgement, endedAt });
  const { baseline, answer, strategy, sendingSince = look.now } = record.attempt!;
  const outcome = entry.watch.vanished ? 'lost' : 'unknown';
  const left = `${remainderText(evidence.after.rowsToDelete, baseline!.rowsToDelete)}, and nothing moves`;
  const { rowsMissing } = judgement;
  const gone = rowsMissing > 0 ? `; ${grouped(rowsMissing)} rows newer than the cutoff are gone as well` : '';
  const reason = entry.watch.vanished
    ? `the server no longer knows the task (a node of the search engine may have restarted); ${left}${gone}`
    : `${answer ? `${answer.reason.replace(/\.$/, '')}; ` : ''}${left}${gone}`;
  if (services.clock.now() - sendingSince < abandonAfterMillis) {
    return done(entry, outcome, `${reason}; nothing is started for this index until a later run sees an end`, {
      ...afterFields(evidence),
      ...(rowsMissing > 0 && { rowsMissing }),
    });
  }
  const closing =
    strategy === 'delete-by-query'
      ? 'after 20 h this truncation is given up; the next run may truncate the index again'
      : 'after 20 h the index is quarantined until you have looked at it and cleared it';
  // What was given up is no clean verdict: earlier shrinks of the index go on counting.
  const shrunk = rowsMissing > 0 ? { rowsMissing, shrunkRows: rowsMissing } : {};
  return close({
    ...look,
    ...evidence,
    judgement: { outcome, reason: `${reason}; ${closing}`, ...shrunk },
    endedAt,
  });
}

const afterFields = ({ attempt, after, indexName }: Evidence) => ({
  rowsDeleted: Math.max(0, attempt.baseline.rowsToDelete - after.rowsToDelete),
  rowsRemaining: after.rowsToDelete,
  ...(indexName !== undefined && { indexName }),
});
