import { dayMillis } from '../../lambda/facts/limits.ts';
import type { History, PolicyOf } from './history.ts';
import type { JournalEvent } from './journal.ts';
import type { CheckRule } from './rules.ts';

/** Rules about the moment in which a real truncate is written to the wire (safety rules 1 to 6). */

type Event<Kind extends JournalEvent['kind']> = Extract<JournalEvent, { kind: Kind }>;
export const eventsOf = <Kind extends JournalEvent['kind']>({ world }: History, kind: Kind): Event<Kind>[] =>
  world.journal.filter((event): event is Event<Kind> => event.kind === kind);

/** Real truncates, each with its place in the journal. */
function* sends(history: History): Generator<{ sent: Event<'truncate'>; place: number; policy: PolicyOf | undefined }> {
  for (const [place, event] of history.world.journal.entries()) {
    if (event.kind !== 'truncate') continue;
    yield { sent: event, place, policy: history.policies.find(({ index }) => index === event.index) };
  }
}

const sentence = /^Delete (\d+) out of (\d+) rows \([^)]*\)\. (Reindexing|Issuing)/;

/** The dry run that justified a truncate: the last thing that its function asked the server before it. */
function lastQuestion(history: History, sent: Event<'truncate'>, place: number): Event<'dry-run' | 'read'> | undefined {
  for (let before = place - 1; before >= 0; before--) {
    const event = history.world.journal[before]!;
    if ((event.kind === 'dry-run' || event.kind === 'read') && event.invocation.id === sent.invocation.id) return event;
  }
  return undefined;
}

const minRetentionDays = 7;
const maxSkewMillis = 10 * 60_000;

export const sendingRules = {
  *'dry run of the same fields under the record, just before'(history) {
    for (const { sent, place } of sends(history)) {
      const asked = lastQuestion(history, sent, place);
      const { dryRun: _, ...fields } = sent.fields;
      const same = asked?.kind === 'dry-run' && JSON.stringify(asked.fields) === JSON.stringify(fields);
      if (!same) {
        yield {
          at: sent.at,
          text: `${sent.index}: the last question before the truncate was no dry run of its fields`,
        };
        continue;
      }
      const reserved = eventsOf(history, 'ledger').find(
        ({ next, invocation }) =>
          next.state === 'reserved' && next.index === sent.index && invocation?.id === sent.invocation.id,
      );
      if (!reserved || reserved.at > asked.at) {
        yield { at: sent.at, text: `${sent.index}: its dry run was not made under a reservation of its own` };
      }
    }
  },

  *'the ledger says "sending" by this very attempt'(history) {
    for (const { sent } of sends(history)) {
      const { record } = sent;
      const writer = eventsOf(history, 'ledger').findLast(
        ({ at, next }) => next.state === 'sending' && next.attemptId === record?.attemptId && at <= sent.at,
      );
      if (record?.state !== 'sending' || record.attempt?.runId !== sent.invocation.runId) {
        yield { at: sent.at, text: `${sent.index}: sent while the ledger says ${record?.state ?? 'nothing'}` };
      } else if (writer?.invocation?.id !== sent.invocation.id) {
        yield { at: sent.at, text: `${sent.index}: sent on a record that another function wrote` };
      } else if (
        JSON.stringify({ ...record.attempt.fields, dryRun: false }) !== canonical(sent, record.attempt.fields)
      ) {
        yield { at: sent.at, text: `${sent.index}: sent other fields than the ledger holds` };
      }
    }
  },

  *'at most one per execution and index'(history) {
    const seen = new Set<string>();
    for (const { sent } of sends(history)) {
      const key = `${sent.invocation.runId} ${sent.index}`;
      if (seen.has(key)) yield { at: sent.at, text: `${key}: a second real truncate` };
      seen.add(key);
    }
  },

  *'at most one for a scheduled time'(history) {
    const runs = new Map(eventsOf(history, 'execution').map(({ runId, input }) => [runId, input['scheduledTime']]));
    const sender = new Map<unknown, string>();
    for (const { sent } of sends(history)) {
      const scheduled = runs.get(sent.invocation.runId);
      if (scheduled === undefined) continue;
      const first = sender.get(scheduled) ?? sent.invocation.runId;
      if (first !== sent.invocation.runId) {
        yield { at: sent.at, text: `${sent.invocation.runId} and ${first} both sent for the time ${scheduled}` };
      }
      sender.set(scheduled, first);
    }
  },

  *'only by Truncate, in an enforcing execution'(history) {
    const modes = new Map(eventsOf(history, 'execution').map(({ runId, mode }) => [runId, mode]));
    for (const { sent } of sends(history)) {
      if (sent.invocation.step !== 'truncate') yield { at: sent.at, text: `${sent.invocation.step} sent a truncate` };
      if (modes.get(sent.invocation.runId) !== 'enforce') yield { at: sent.at, text: 'a preview sent a truncate' };
    }
  },

  *'only before sendBy, with time for the answer, in a young run'(history) {
    for (const { sent } of sends(history)) {
      const attempt = sent.record?.attempt;
      const age = sent.at - (attempt?.runStartMillis ?? sent.at);
      if (attempt && sent.at >= attempt.sendBy) yield { at: sent.at, text: `${sent.index}: sent after its sendBy` };
      if (sent.invocation.deadline - sent.at < 120_000) {
        yield { at: sent.at, text: `${sent.index}: sent with less than the answer time-out left` };
      }
      if (age >= history.scenario.maxRunHours * 3_600_000)
        yield { at: sent.at, text: `${sent.index}: sent by a run too old` };
    }
  },

  *'cutoff of the policy, never beyond the floor'(history) {
    const runs = new Map(eventsOf(history, 'execution').map(({ runId, startedAt }) => [runId, startedAt]));
    for (const { sent, policy } of sends(history)) {
      const start = runs.get(sent.invocation.runId)!;
      const cutoff = sent.fields.endTimeMillis;
      if (!policy) yield { at: sent.at, text: `${sent.index} has no policy` };
      else if (cutoff !== start - policy.retentionDays * dayMillis) {
        yield {
          at: sent.at,
          text: `${sent.index}: the cutoff ${cutoff} is not ${policy.retentionDays} days before the run`,
        };
      }
      if (cutoff > start - minRetentionDays * dayMillis) yield { at: sent.at, text: `${sent.index}: beyond the floor` };
    }
  },

  *'threshold, ceiling and guards held in the last dry run'(history) {
    const approvals = new Map(eventsOf(history, 'execution').map(({ runId, input }) => [runId, input['approveRows']]));
    for (const { sent, place, policy } of sends(history)) {
      const asked = lastQuestion(history, sent, place);
      const said = asked?.kind === 'dry-run' ? sentence.exec(asked.sentence) : undefined;
      if (!said || !policy || asked?.kind !== 'dry-run') continue;
      const [rows, total] = [Number(said[1]), Number(said[2])];
      const wrong = (text: string) => ({ at: sent.at, text: `${sent.index}: ${text} (${rows} of ${total})` });
      const approved = Number(approvals.get(sent.invocation.runId) ?? -1) >= rows;
      const ceiling =
        policy.maxDeletePercent === undefined ? rows >= total : rows * 100 > policy.maxDeletePercent * total;
      if (ceiling && !approved) yield wrong('above the ceiling');
      if (rows === 0 || rows * 100 < policy.minDeletePercent * total) yield wrong('below the threshold');
      if (rows > total) yield wrong('more rows to delete than there are');
      if (Math.abs(asked.clockSkewMillis ?? 0) > maxSkewMillis) yield wrong('the clocks differ');
      if (said[3] === 'Reindexing' && policy.strategy === 'delete-by-query-only') yield wrong('would reindex');
      if (said[3] === 'Reindexing' && sent.fields.timeoutSeconds === undefined)
        yield wrong('reindexes without a time-out');
      const rowsAfter = sent.record?.lastVerdict?.rowsAfter ?? 0;
      if (rowsAfter > 0 && total < rowsAfter / 2) yield wrong(`the last verdict left ${rowsAfter}`);
      const planned = plannedRows(history, sent, place);
      if (planned !== undefined && rows < planned * 0.99) yield wrong(`Plan counted ${planned}`);
      if (!policy.enabled || policy.twice) yield wrong('its policy is switched off or not to be read');
      const { forceReindex, forceDeleteByQuery, batchSize } = sent.fields;
      const flags =
        policy.strategy === 'reindex'
          ? forceReindex && forceDeleteByQuery === undefined
          : forceDeleteByQuery && forceReindex === undefined;
      if (!flags || batchSize !== policy.batchSize) yield wrong('flags or batch size are not those of the policy');
    }
  },

  *'paused means none'(history) {
    for (const { sent, place } of sends(history)) {
      const before = history.world.journal.slice(0, place);
      const paused = before.findLast((event): event is Event<'paused'> => event.kind === 'paused');
      if (paused?.paused && paused.at <= sent.invocation.startedAt) {
        yield { at: sent.at, text: `${sent.index}: sent by a function that began when the job was paused` };
      }
    }
  },

  *'nothing is started beside a newer version'(history) {
    const runs = new Map(eventsOf(history, 'execution').map(({ runId, startedAt }) => [runId, startedAt]));
    for (const { sent, place } of sends(history)) {
      const before = history.world.journal.slice(0, place);
      const foreign = before.findLast((event): event is Event<'foreign'> => event.kind === 'foreign');
      if (foreign?.present && foreign.at < runs.get(sent.invocation.runId)!) {
        yield { at: sent.at, text: `${sent.index}: sent while a record of a newer version was there` };
      }
    }
  },

  *'what a run has decided stays decided'(history) {
    const decided = new Map<string, string>();
    for (const event of history.world.journal) {
      if (event.kind === 'taken') {
        for (const { index, phase, entry } of event.state.entries) {
          const key = `${event.runId} ${index}`;
          if (phase === 'done' && !decided.has(key)) decided.set(key, (entry as { outcome: string }).outcome);
        }
      }
      if (event.kind !== 'truncate') continue;
      const { runId } = event.invocation;
      const outcome = decided.get(`${runId} ${event.index}`);
      // These two say that a truncate is under way, or may have started, or may yet.
      if (outcome && outcome !== 'unknown' && outcome !== 'still-running') {
        yield { at: event.at, text: `${event.index}: sent by ${runId}, which had said ${outcome}` };
      }
    }
  },

  *'the circuit breaker holds'(history) {
    const broken = new Map<string, { index: string; at: number }>();
    for (const event of history.world.journal) {
      if (event.kind === 'taken') {
        const bad = event.state.entries.find(
          ({ phase, entry }) =>
            phase === 'done' && /^(rows-missing|unknown)$/.test((entry as { outcome: string }).outcome),
        );
        if (bad && !broken.has(event.runId)) broken.set(event.runId, { index: bad.index, at: event.at });
      }
      if (event.kind !== 'truncate') continue;
      const { runId, startedAt } = event.invocation;
      const breaker = broken.get(runId);
      if (breaker && startedAt >= breaker.at) {
        yield {
          at: event.at,
          text: `${runId} truncated ${event.index} after ${breaker.index} was rows-missing or unknown`,
        };
      }
    }
  },
} satisfies Record<string, CheckRule>;

function canonical(sent: Event<'truncate'>, like: object): string {
  const fields = sent.fields as unknown as Record<string, unknown>;
  return JSON.stringify({ ...Object.fromEntries(Object.keys(like).map((key) => [key, fields[key]])), dryRun: false });
}

function plannedRows(history: History, sent: Event<'truncate'>, place: number): number | undefined {
  const plan = history.world.journal
    .slice(0, place)
    .findLast(
      (event): event is Event<'state'> =>
        event.kind === 'state' && event.invocation.step === 'plan' && event.invocation.runId === sent.invocation.runId,
    );
  return plan?.state.entries.find(({ index }) => index === sent.index)?.entry.rowsToDelete;
}
