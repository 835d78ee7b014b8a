import type { Cause } from '../../../lambda/facts/cause.ts';
import { isUnresolved } from '../../../lambda/ledger/record.ts';
import { orderedFor } from '../truth/orders.ts';
import type { Track } from '../truth/track.ts';
import { type CheckRule, closings, type Event, eventsOf, isOurs, runOf, type Send, sends } from './events.ts';

/** Rules 1 to 5: what must be so when a real truncate is sent. */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** A small difference between two counts of a delete. */
const slack = (rows: number): number => Math.max(10, rows * 0.01);

export const sendingRules = {
  *'a real truncate follows a passed dry run of the same fields'(history) {
    for (const { sent, asked } of sends(history)) {
      const why = whyUnjustified(sent, asked);
      if (why) yield { at: sent.at, text: `${sent.index}: ${why}` };
    }
  },

  *'the request is what the policy orders'(history) {
    for (const send of sends(history)) {
      const { sent } = send;
      const why = whyNotOrdered(send);
      if (why) yield { at: sent.at, text: `${sent.index}: ${why}` };
    }
  },

  *'guards are judged by the last dry run'(history) {
    for (const send of sends(history)) {
      const why = whyGuarded(send);
      if (why) yield { at: send.sent.at, text: `${send.sent.index}: ${why}` };
    }
  },

  *'threshold and ceiling hold in Plan'(history) {
    for (const send of sends(history)) {
      if (!isWorthIt(send)) yield { at: send.sent.at, text: `${send.sent.index}: no dry run of Plan makes it due` };
    }
  },

  *'orders are read again just before'(history) {
    for (const { sent, before, policy } of sends(history)) {
      const own = before.filter(
        (event): event is Event<'orders'> => event.kind === 'orders' && event.invocation.id === sent.invocation.id,
      );
      const paused = own.findLast((event) => event.paused !== undefined);
      const read = own.findLast((event) => event.policies !== undefined);
      if (paused?.paused !== false) yield { at: sent.at, text: `${sent.index}: the pause was not read, or it was on` };
      const bite = sent.invocation.settings.maxRowsPerRun;
      const now = read?.policies && orderedFor(read.policies, sent.index, bite);
      if (JSON.stringify(compared(now)) !== JSON.stringify(compared(policy))) {
        yield { at: sent.at, text: `${sent.index}: the policy is not the one that Plan decided on` };
      }
    }
  },

  *'a copy is sent only where statuses may be read'(history) {
    for (const { sent, asked, before } of sends(history)) {
      if (asked?.answer?.deletesInPlace !== false) continue;
      const statuses = before.filter(
        (event) => event.kind === 'status' && runOf(event.invocation) === runOf(sent.invocation),
      );
      const isDenied = statuses.every((event) => event.kind === 'status' && event.answer === 'denied');
      if (isDenied) yield { at: sent.at, text: `${sent.index}: no status was asked for, or all were denied` };
    }
  },

  *'sending is in the ledger, and its time is not over'(history) {
    for (const { at, index, record, invocation, fields } of eventsOf(history, 'truncate')) {
      const isOwn = record?.state === 'sending' && runOf(record.attempt) === runOf(invocation);
      if (!isOwn) {
        yield { at, text: `${index}: sent by ${invocation.runId}, the ledger says ${record?.state}` };
        continue;
      }
      const { sendBy, judgeableAt, fields: written } = record.attempt;
      if (at >= sendBy) yield { at, text: `${index}: sent ${Math.round((at - sendBy) / 1000)} s after sendBy` };
      if (judgeableAt < sendBy + 10 * minute) yield { at, text: `${index}: it may be judged before it has ended` };
      if (sendBy > invocation.endsAt - 2 * minute) yield { at, text: `${index}: sendBy leaves no time for the answer` };
      if (JSON.stringify(written) !== JSON.stringify(fields))
        yield { at, text: `${index}: other fields in the ledger` };
    }
  },

  *'at most one real truncate per index and run, and by no run older than the last sender'(history) {
    const senders = new Map<string, Track[]>();
    for (const { at, index, track } of eventsOf(history, 'truncate')) {
      const before = senders.get(index) ?? [];
      senders.set(index, [...before, track]);
      const later = before.find(
        ({ runStartMillis, sentAt }) => runStartMillis >= track.runStartMillis && runStartMillis <= sentAt + day,
      );
      if (later) yield { at, text: `${index}: ${track.runId} sent after ${later.runId}` };
    }
  },

  *'a run that was given up never sends'(history) {
    const spent = new Map<string, number>();
    for (const event of history.world.journal) {
      if (event.kind === 'ledger' && event.next.lastSender && event.next.state !== 'sending') {
        const { runStartMillis } = event.next.lastSender;
        if (runStartMillis <= event.at + day) spent.set(event.next.index, runStartMillis);
      }
      if (event.kind !== 'truncate') continue;
      const { record, index, at, track } = event;
      const isFirst = record?.state === 'sending' && runOf(record.attempt) === runOf(track);
      if (!isFirst && track.runStartMillis <= (spent.get(index) ?? 0))
        yield { at, text: `${index}: sent though spent` };
    }
  },

  *'none while another of the index is unresolved'(history) {
    const unresolved = new Map<string, Track>();
    for (const event of history.world.journal) {
      if (event.kind === 'ledger' && !isUnresolved(event.next)) unresolved.delete(event.next.index);
      if (event.kind !== 'truncate') continue;
      const { index, track, invocation, at } = event;
      const open = unresolved.get(index);
      if (open) yield { at, text: `${index}: ${invocation.runId} sent, that of ${open.runId} is unresolved` };
      unresolved.set(index, track);
    }
  },

  *'never beside a copy of ours that is at work'(history) {
    const before: Track[] = [];
    const ended = new Map(closings(history).map(({ track, verdict }) => [track, verdict]));
    for (const { at, track } of eventsOf(history, 'truncate')) {
      for (const earlier of before) {
        if (earlier.index !== track.index || !earlier.owed || !earlier.task) continue;
        const { startedAt, endedAt = Number.POSITIVE_INFINITY } = earlier.task;
        const isReleased = !ended.has(earlier) || ended.get(earlier)?.outcome !== 'truncated';
        if (startedAt < at && endedAt > at && !(isReleased && wasReleased(history, earlier, at))) {
          yield { at, text: `${track.index}: ${track.runId} sent while the copy of ${earlier.runId} was at work` };
        }
      }
      before.push(track);
    }
  },

  *'only an enforcing run sends'(history) {
    for (const { sent, execution } of sends(history)) {
      const isPreview = execution?.mode !== 'enforce' || execution.input['release'] !== undefined;
      if (isPreview) yield { at: sent.at, text: `${sent.index}: sent by ${sent.invocation.runId}, which may not` };
    }
  },

  *'nothing is sent after bad news of the same run'(history) {
    for (const { sent, before } of sends(history)) {
      const run = runOf(sent.invocation);
      const news = before.flatMap((event) => {
        if (event.kind !== 'taken' || runOf(event) !== run) return [];
        return event.state.entries.flatMap((entry) => (entry.phase === 'done' ? [entry.entry] : []));
      });
      const bad = news.find(({ outcome, cause, copies }) => opensBreaker(outcome, cause, copies === true));
      if (bad)
        yield { at: sent.at, text: `${sent.index}: sent after ${bad.entityType}.${bad.aspect} was ${bad.outcome}` };
      const answered = before.filter(
        (event): event is Event<'answered'> => event.kind === 'answered' && runOf(event.invocation) === run,
      );
      const without = answered.filter(({ isTaskId }) => !isTaskId);
      const refused = without.some(({ status }) => status === 401 || status === 403);
      // The answer that a function died with is known to nobody.
      const isKnown = before.some(
        (event) => event.kind === 'ledger' && runOf(event.invocation) === run && event.next.state === 'sending',
      );
      if (isKnown && (without.length >= 2 || refused)) {
        yield { at: sent.at, text: `${sent.index}: sent after ${without.length} calls without a task id` };
      }
    }
  },

  *'nothing is sent where rows of the window between two runs are gone'(history) {
    for (const { sent, before } of sends(history)) {
      const run = runOf(sent.invocation);
      const record = before.findLast(
        (event): event is Event<'ledger'> => event.kind === 'ledger' && event.next.index === sent.index,
      )?.previous;
      const window = isOurs(record) && record.state === 'idle' ? record.lastVerdict?.window : undefined;
      const planned = before.find((event) => event.kind === 'execution' && runOf(event) === run);
      // Counts from another server say nothing about this one.
      const isElsewhere = isOurs(record) && isOurs(sent.record) && record.server !== sent.record.server;
      if (!window || !planned || isElsewhere || policyCutoff(sent) > window.afterMillis) continue;
      const counts = before.filter(
        (event): event is Event<'dry-run'> =>
          event.kind === 'dry-run' &&
          event.invocation.step === 'plan' &&
          runOf(event.invocation) === run &&
          event.index === sent.index,
      );
      const at = (cutoff: number) =>
        counts.findLast(({ fields, answer }) => answer && fields.cutoffMillis === cutoff)?.answer?.rowsToDelete;
      const [until, after] = [at(window.untilMillis), at(window.afterMillis)];
      if (until === undefined || after === undefined) {
        yield { at: sent.at, text: `${sent.index}: the window between two runs was not counted` };
        continue;
      }
      const lost = window.rows - (until - after);
      if (lost > 10 && until - after < window.rows / 2) {
        yield {
          at: sent.at,
          text: `${sent.index}: sent, and ${lost} of ${window.rows} rows are gone since the last verdict`,
        };
      }
    }
  },
} satisfies Record<string, CheckRule>;

function whyUnjustified(sent: Event<'truncate'>, asked: Event<'dry-run'> | undefined): string | undefined {
  if (!asked?.answer) return 'its last dry run has no answer';
  if (JSON.stringify(asked.fields) !== JSON.stringify(sent.fields)) return 'its last dry run has other fields';
  if (sent.at - asked.at > minute) return `its last dry run is ${Math.round((sent.at - asked.at) / 1000)} s old`;
  const { rowsToDelete, rowsTotal, deletesInPlace } = asked.answer;
  if (rowsToDelete <= 0 || rowsToDelete > rowsTotal) return `its last dry run says ${rowsToDelete} of ${rowsTotal}`;
  if (sent.record?.state !== 'sending') return undefined;
  const { baseline, copies, announcesCopy } = sent.record.attempt;
  if (announcesCopy !== !deletesInPlace || copies !== announcesCopy)
    return 'the ledger does not say how it removes rows';
  const difference = Math.abs(baseline.rowsToDelete - rowsToDelete);
  const isFar = difference > (deletesInPlace ? slack(Math.max(baseline.rowsToDelete, rowsToDelete)) : 0);
  return isFar ? `the baseline says ${baseline.rowsToDelete}, the last dry run ${rowsToDelete}` : undefined;
}

function whyNotOrdered({ sent, policy, asked, execution }: Send): string | undefined {
  const { fields, invocation, record } = sent;
  if (!policy) return 'no policy of Plan orders it';
  if (!policy.enabled) return 'its policy is switched off';
  const whole = invocation.runStartMillis - policy.retentionDays * day;
  const { cutoffMillis, batchSize, timeoutSeconds } = fields;
  if (batchSize !== policy.batchSize || timeoutSeconds !== policy.timeoutSeconds) return 'other fields than ordered';
  if (record?.state === 'sending' && record.attempt.policyCutoffMillis !== whole) return 'another cutoff in the ledger';
  const only = execution?.input['only'] as string[] | undefined;
  const name = `${policy.entityType}.${policy.aspect}`.toLowerCase();
  if (only && !only.some((one) => one.toLowerCase() === name)) return 'the run is about other policies';
  const { maxRowsPerRun } = policy;
  const most = Math.max(maxRowsPerRun ?? Number.POSITIVE_INFINITY, Number(execution?.input['approveRows'] ?? 0));
  const { rowsToDelete = 0, deletesInPlace = true } = asked?.answer ?? {};
  if (cutoffMillis === whole) {
    return deletesInPlace && rowsToDelete > most + slack(most) ? `${rowsToDelete} rows, at most ${most}` : undefined;
  }
  if (maxRowsPerRun === undefined || cutoffMillis > whole || (whole - cutoffMillis) % hour !== 0)
    return 'another cutoff';
  return rowsToDelete > most + slack(most) ? `${rowsToDelete} rows in a bite of ${most}` : undefined;
}

function whyGuarded({ sent, asked, policy }: Send): string | undefined {
  const { runStartMillis, settings } = sent.invocation;
  const { clockSkewMillis = 0, deletesInPlace } = asked?.answer ?? {};
  if (Math.abs(clockSkewMillis) > 10 * minute) return `the clocks differ by ${clockSkewMillis} ms`;
  if (runStartMillis - sent.at > minute) return 'the run starts in the future';
  const present = Math.min(runStartMillis, sent.at, sent.at + clockSkewMillis + 10 * minute);
  if (present - sent.fields.cutoffMillis < settings.minRetentionDays * day) return 'the cutoff is too young';
  return policy?.refuseReindex && deletesInPlace === false ? 'its policy refuses copies' : undefined;
}

function isWorthIt({ sent, before, policy, execution }: Send): boolean {
  if (!policy) return true;
  const cutoffMillis = sent.invocation.runStartMillis - policy.retentionDays * day;
  const approved = Number(execution?.input['approveRows'] ?? 0);
  return before.some((event) => {
    const isOfPlan = event.kind === 'dry-run' && event.invocation.step === 'plan';
    if (!isOfPlan || !event.answer || event.index !== sent.index) return false;
    if (runOf(event.invocation) !== runOf(sent.invocation) || event.fields.cutoffMillis !== cutoffMillis) return false;
    const { rowsToDelete, rowsTotal } = event.answer;
    const percent = (rowsToDelete / rowsTotal) * 100;
    const { minDeletePercent, maxDeletePercent } = policy;
    const isBelow = maxDeletePercent === undefined ? percent < 100 : percent <= maxDeletePercent;
    return percent >= minDeletePercent && (isBelow || rowsToDelete <= approved);
  });
}

const compared = (policy: Send['policy']) => {
  if (!policy) return undefined;
  const { owner: _owner, note: _note, ...rest } = policy as typeof policy & { owner?: string; note?: string };
  return rest;
};

/** The policy's cutoff, also where a bite sends an older one. */
const policyCutoff = ({ record, fields }: Event<'truncate'>): number =>
  record?.state === 'sending' ? record.attempt.policyCutoffMillis : fields.cutoffMillis;

/** Rows went missing in a truncation of this run, or nobody knows what a copy did. */
function opensBreaker(outcome: string, cause: Cause, copies: boolean): boolean {
  const isEarlier = cause.kind === 'missing' && cause.since !== undefined;
  if (outcome === 'rows-missing') return !isEarlier;
  return outcome === 'unknown' && copies && cause.kind === 'unsettled' && cause.why === 'copy';
}

const wasReleased = (history: Parameters<CheckRule>[0], { index, sentAt }: Track, until: number): boolean =>
  eventsOf(history, 'ledger').some(
    ({ at, previous, next }) =>
      next.index === index && at > sentAt && at < until && previous?.state !== 'idle' && next.state === 'idle',
  );
