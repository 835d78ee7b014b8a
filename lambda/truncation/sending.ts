import { look, refreshPatienceMillis } from '../facts/limits.ts';
import type { Attempt, LedgerRecord } from '../ledger/record.ts';
import { conclude, markRunning, noteAnswer } from '../ledger/transitions.ts';
import { attemptFields, done, watched } from '../run/entries.ts';
import type { RunServices } from '../run/services.ts';
import type { ApprovedEntry, Entry } from '../run/state.ts';
import { firstLookSeconds } from './looks.ts';

/**
 * Sends the one real truncate of a record in `sending`, and writes down what came back.
 * @returns the entry: watched, unless it is certain that nothing was done
 */
export async function send(target: ApprovedEntry, record: LedgerRecord, services: RunServices): Promise<Entry> {
  const { operations, ledger, clock } = services;
  const attempt = record.attempt!;
  const truncation = await operations.truncate(attempt.fields, () => clock.now() < attempt.sendBy);
  const now = clock.now();
  const watch = (changed: Attempt, seconds: number) => watched(target, changed, now, now + seconds * 1000);
  switch (truncation.kind) {
    case 'started': {
      const running = markRunning(record, truncation.taskId, truncation.pollable);
      await ledger.replace(record, running);
      return watch(running.attempt!, firstLookSeconds);
    }
    case 'not-sent':
    case 'rejected':
      return close(target, record, truncation.reason, services);
    case 'bad-request':
    case 'unresolved': {
      services.log.warn(`no task id: ${truncation.reason}`, { index: target.index });
      const answered = truncation.kind === 'bad-request' || truncation.answered;
      if (!answered) return watch(attempt, look.minSeconds);
      const answer = { kind: truncation.kind, reason: truncation.reason, receivedAt: now };
      // An answer about reindexing contradicts a dry run that promised a delete by query.
      const strategy =
        truncation.mentionsReindex && attempt.strategy === 'delete-by-query' ? 'unknown' : attempt.strategy;
      const noted = noteAnswer(record, answer, strategy);
      await ledger.replace(record, noted);
      const compares = truncation.kind === 'bad-request' ? refreshPatienceMillis / 1000 : look.minSeconds;
      return watch(noted.attempt!, compares);
    }
  }
}

/** Nothing was done: the record is free again, and a later run may try. */
async function close(
  target: ApprovedEntry,
  record: LedgerRecord,
  reason: string,
  { ledger, clock }: RunServices,
): Promise<Entry> {
  const attempt = record.attempt!;
  const { entry, ...rest } = done(
    target,
    'failed',
    `${reason.replace(/\.$/, '')}; nothing was started`,
    attemptFields(attempt),
  );
  const verdict = {
    attemptId: attempt.attemptId,
    runId: attempt.runId,
    decidedAt: clock.now(),
    entry,
    ...(attempt.baseline && { rowsAfter: attempt.baseline.rowsTotal - attempt.baseline.rowsToDelete }),
  };
  await ledger.replace(record, conclude(record, verdict));
  return { ...rest, entry };
}
