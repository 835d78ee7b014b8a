import type { Cause } from '../../../lambda/facts/cause.ts';
import { answerTimeoutMillis } from '../../../lambda/facts/limits.ts';
import { type CheckRule, eventsOf, runOf, sends, wasTaken } from './events.ts';

/** Rules about the moment when a real truncate is written to the wire (safety rules 1, 4 and 5). */

const maxAgeMillis = 60_000;

export const sendingRules = {
  *'a dry run of the same fields under the record, at most 60 s before'(history) {
    for (const { sent, asked, reserved } of sends(history)) {
      const wrong = (text: string) => ({ at: sent.at, text: `${sent.index}: ${text}` });
      const { dryRun: _, ...fields } = sent.fields;
      if (asked?.kind !== 'dry-run' || JSON.stringify(asked.fields) !== JSON.stringify(fields)) {
        yield wrong('the last question before the truncate was no dry run of its fields');
        continue;
      }
      if (!reserved || reserved.at > asked.countedAt) yield wrong('its dry run was not made under a reservation');
      const seconds = Math.round((sent.at - asked.countedAt) / 1000);
      if (sent.at - asked.countedAt > maxAgeMillis) yield wrong(`its dry run was ${seconds} s old`);
    }
  },

  *'the ledger says "sending" by this very attempt'(history) {
    const writes = eventsOf(history, 'ledger').filter(({ next }) => next.state === 'sending');
    for (const { sent } of sends(history)) {
      const { record, index } = sent;
      const wrong = (text: string) => ({ at: sent.at, text: `${index}: ${text}` });
      const writer = writes.findLast(({ at, next }) => next.attemptId === record?.attemptId && at <= sent.at);
      if (record?.state !== 'sending' || runOf(record.attempt) !== runOf(sent.invocation)) {
        yield wrong(`sent while the ledger says ${record?.state ?? 'nothing'}`);
      } else if (writer?.invocation?.id !== sent.invocation.id) {
        yield wrong('sent on a record that another function wrote');
      } else {
        const { dryRun: _, ...fields } = sent.fields;
        const differs = Object.entries(record.attempt.fields).some(
          ([field, value]) => (fields as Record<string, unknown>)[field] !== value,
        );
        if (differs) yield wrong('sent other fields than the ledger holds');
      }
    }
  },

  *'at most one per run and index'(history) {
    const seen = new Set<string>();
    for (const { sent } of sends(history)) {
      const key = `${runOf(sent.invocation)} ${sent.index}`;
      if (seen.has(key)) yield { at: sent.at, text: `${key}: a second real truncate` };
      seen.add(key);
    }
  },

  *'at most one run for a scheduled time'(history) {
    const sender = new Map<unknown, string>();
    for (const { sent, execution } of sends(history)) {
      const scheduled = execution?.input['scheduledTime'];
      if (scheduled === undefined) continue;
      const run = runOf(sent.invocation);
      const first = sender.get(scheduled) ?? run;
      if (first !== run) yield { at: sent.at, text: `${run} and ${first} both sent for the time ${scheduled}` };
      sender.set(scheduled, first);
    }
  },

  *'nothing by an event that comes after a later one has sent'(history) {
    const taken: { at: number; run: string; time: number }[] = [];
    for (const { sent, execution } of sends(history)) {
      const scheduled = execution?.input['scheduledTime'];
      if (execution === undefined || scheduled === undefined) continue;
      const run = runOf(sent.invocation);
      const time = Date.parse(String(scheduled));
      const before = taken.find((other) => other.run !== run && other.at < execution.at && other.time >= time);
      if (before)
        yield { at: sent.at, text: `${run} sent for ${scheduled}, which is not later than that of ${before.run}` };
      taken.push({ at: sent.at, run, time });
    }
  },

  *'only by Truncate, in an enforcing run that clears nothing'(history) {
    for (const { sent, execution } of sends(history)) {
      const input = execution?.input ?? {};
      if (sent.invocation.step !== 'truncate') yield { at: sent.at, text: `${sent.invocation.step} sent a truncate` };
      if (input['clear'] !== undefined) yield { at: sent.at, text: 'a run that clears sent a truncate' };
      const enforces = eventsOf(history, 'invocation').some(
        ({ invocation }) =>
          invocation.step === 'plan' &&
          runOf(invocation) === runOf(sent.invocation) &&
          (input['mode'] ?? invocation.settings.mode) === 'enforce',
      );
      if (!enforces) yield { at: sent.at, text: `${sent.invocation.runId}: a preview sent a truncate` };
    }
  },

  *'only before sendBy, with time for the answer, in a young run'(history) {
    for (const { sent } of sends(history)) {
      const { record, invocation, index, wall } = sent;
      if (record?.state !== 'sending') continue;
      const { attempt } = record;
      if (wall >= attempt.sendBy) yield { at: sent.at, text: `${index}: sent after its sendBy` };
      if (invocation.endsAt - sent.at < answerTimeoutMillis) {
        yield { at: sent.at, text: `${index}: sent with less than the answer time-out left` };
      }
      if (wall - attempt.runStartMillis >= invocation.settings.maxRunHours * 3_600_000) {
        yield { at: sent.at, text: `${index}: sent by a run too old` };
      }
    }
  },

  *'what a run has decided stays decided'(history) {
    const decided = new Map<string, string>();
    for (const event of history.world.journal) {
      if (event.kind === 'taken') {
        for (const entry of event.state.entries) {
          const key = `${runOf(event)} ${entry.index}`;
          if (entry.phase === 'done' && !decided.has(key)) decided.set(key, entry.entry.outcome);
        }
      }
      if (event.kind !== 'truncate') continue;
      const outcome = decided.get(`${runOf(event.invocation)} ${event.index}`);
      // These two say that a truncate is under way, may have started, or may still start.
      if (outcome && outcome !== 'unknown' && outcome !== 'still-running') {
        yield { at: event.at, text: `${event.index}: sent by ${event.invocation.runId}, which had said ${outcome}` };
      }
    }
  },

  *'the circuit breaker holds'(history) {
    const broken = new Map<string, { index: string; at: number }>();
    for (const event of history.world.journal) {
      if (event.kind === 'taken') {
        const bad = event.state.entries.find(
          (entry) => entry.phase === 'done' && opensBreaker(entry.entry.outcome, entry.entry.cause),
        );
        if (bad && !broken.has(runOf(event))) broken.set(runOf(event), { index: bad.index, at: event.at });
      }
      if (event.kind !== 'truncate') continue;
      const { invocation, index } = event;
      const breaker = broken.get(runOf(invocation));
      if (breaker && invocation.startedAt >= breaker.at) {
        const text = `${invocation.runId} truncated ${index} after ${breaker.index} was rows-missing or unknown`;
        yield { at: event.at, text };
      }
    }
  },

  *'a run whose calls bring no task ids sends no more'(history) {
    const answers = eventsOf(history, 'answered');
    for (const { sent } of sends(history)) {
      const bad = answers.filter(
        ({ at, invocation, isTaskId }) =>
          !isTaskId &&
          invocation.id < sent.invocation.id &&
          at <= sent.invocation.startedAt &&
          runOf(invocation) === runOf(sent.invocation) &&
          wasTaken(history, invocation),
      );
      const refused = bad.some(({ status }) => status === 401 || status === 403);
      if (bad.length >= 2 || refused) {
        yield { at: sent.at, text: `${sent.index}: sent after ${bad.length} calls without a task id` };
      }
    }
  },
} satisfies Record<string, CheckRule>;

/**
 * Rows went missing in a truncation; or, for the first time, nobody knows what happened to one that may have copied.
 */
function opensBreaker(outcome: string, cause: Cause): boolean {
  const isEarlier = cause.kind === 'missing' && cause.since !== undefined;
  return (
    (outcome === 'rows-missing' && !isEarlier) ||
    (cause.kind === 'unsettled' && cause.copied === true && cause.closed === undefined)
  );
}
