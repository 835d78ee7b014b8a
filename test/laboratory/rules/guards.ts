import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { History } from '../histories/history.ts';
import { type Ordered, orderedFor } from '../truth/orders.ts';
import { wholeOf } from './bites.ts';
import { type CheckRule, countsIn, type Event, eventsOf, othersBetween, runOf, sends } from './events.ts';

/** Rules about what must hold when a real truncate is decided on (safety rules 1 to 3). */

const second = 1000;
const minute = 60 * second;
const dayMillis = 86_400_000;
const maxSkewMillis = 10 * minute;
/** HTTP's dates have no milliseconds. */
const dateSlack = 2 * second;

export const guardRules = {
  *'the orders are read again just before, and are the same'(history) {
    for (const { sent, asked, reserved, policy } of sends(history)) {
      const wrong = (text: string) => ({ at: sent.at, text: `${sent.index}: ${text}` });
      const since = reserved?.at ?? 0;
      const read = eventsOf(history, 'orders').filter(
        ({ at, invocation }) =>
          invocation.id === sent.invocation.id &&
          at >= since &&
          at <= (asked?.kind === 'dry-run' ? asked.countedAt : sent.at),
      );
      const paused = read.findLast((event) => event.paused !== undefined);
      const policies = read.findLast((event) => event.policies !== undefined)?.policies;
      if (paused?.paused !== false) yield wrong(paused ? 'the job was paused' : 'the pause was not read again');
      if (!policies) yield wrong('the policies were not read again');
      const now = policies && orderedFor(policies, sent.index, sent.invocation.settings.maxRowsPerRun);
      if (policies && (!policy || !now || !isSame(policy, now)))
        yield wrong('its policy is no longer what Plan had read');
    }
  },

  *'paused means none'(history) {
    for (const { sent, place } of sends(history)) {
      const paused = history.world.journal
        .slice(0, place)
        .findLast((event): event is Event<'paused'> => event.kind === 'paused');
      if (paused?.paused && paused.at <= sent.invocation.startedAt) {
        yield { at: sent.at, text: `${sent.index}: sent by a function that began when the job was paused` };
      }
    }
  },

  *'cutoff and fields are those of the policy'(history) {
    for (const { sent, policy, asked } of sends(history)) {
      const wrong = (text: string) => ({ at: sent.at, text: `${sent.index}: ${text}` });
      if (!policy) {
        yield wrong('no policy for it was read');
        continue;
      }
      const { endTimeMillis, forceReindex, forceDeleteByQuery, batchSize, timeoutSeconds } = sent.fields;
      const { runStartMillis } = sent.invocation;
      const cutoff = runStartMillis - policy.retentionDays * dayMillis;
      const isBite = policy.maxRowsPerRun !== undefined && endTimeMillis < cutoff;
      if (endTimeMillis !== cutoff && !isBite) yield wrong(`not ${policy.retentionDays} days before the run's start`);
      if (searchIndex(sent.fields) !== searchIndex(policy)) yield wrong('another index than the policy’s');
      if (!policy.enabled) yield wrong('its policy is switched off');
      const asksReindex = policy.strategy === 'reindex';
      const flags = asksReindex
        ? forceReindex === true && forceDeleteByQuery === undefined
        : forceDeleteByQuery === true && forceReindex === undefined;
      if (!flags || batchSize !== policy.batchSize) yield wrong('flags or batch size are not those of the policy');
      const reindexes = asked?.kind === 'dry-run' && countsIn(asked.sentence)?.reindexes;
      const expected = policy.timeoutSeconds ?? (reindexes ? 300 : undefined);
      if (timeoutSeconds !== expected) yield wrong(`timeoutSeconds is ${timeoutSeconds}, not ${expected}`);
    }
  },

  *'threshold and ceiling held in the last dry run'(history) {
    for (const send of sends(history)) {
      const { sent, asked, policy, execution } = send;
      const counts = asked?.kind === 'dry-run' ? countsIn(asked.sentence) : undefined;
      if (!counts || !policy) continue;
      const { total } = counts;
      const rows = wholeOf(history, send) ?? counts.rows;
      const wrong = (text: string) => ({ at: sent.at, text: `${sent.index}: ${text} (${rows} of ${total})` });
      const approved = Number(execution?.input['approveRows'] ?? -1) >= rows;
      const { maxDeletePercent, minDeletePercent } = policy;
      const isAbove = maxDeletePercent === undefined ? rows >= total : rows * 100 > maxDeletePercent * total;
      if (isAbove && !approved) yield wrong('above the ceiling');
      if (rows === 0 || rows * 100 < minDeletePercent * total) yield wrong('below the threshold');
      if (rows > total) yield wrong('more rows to delete than there are');
      if (counts.reindexes && policy.strategy === 'delete-by-query-only') yield wrong('would reindex');
    }
  },

  *'no clock is wrong'(history) {
    for (const { sent, asked } of sends(history)) {
      if (asked?.kind !== 'dry-run') continue;
      const wrong = (text: string) => ({ at: sent.at, text: `${sent.index}: ${text}` });
      const { date, wall } = asked;
      const { runStartMillis, settings } = sent.invocation;
      if (date !== undefined && Math.abs(date - wall) > maxSkewMillis + dateSlack) yield wrong('the clocks differ');
      if (runStartMillis - wall > minute) yield wrong('its run starts in the future');
      const present = Math.min(runStartMillis, wall, date === undefined ? wall : date + dateSlack);
      if (present - sent.fields.endTimeMillis < settings.minRetentionDays * dayMillis) yield wrong('beyond the floor');
    }
  },

  *'nothing goes that is younger than its policy keeps, by real time'(history) {
    for (const { sent, asked, policy } of sends(history)) {
      if (asked?.kind !== 'dry-run' || !policy) continue;
      // docs/testing.md, `two-wrong-clocks`.
      const isOurs = Math.abs(asked.wall - asked.at) <= maxSkewMillis;
      const isTheirs = asked.date !== undefined && Math.abs(asked.date - asked.at) <= maxSkewMillis;
      if (!isOurs && !isTheirs) continue;
      const allowed = sent.at - policy.retentionDays * dayMillis + 2 * maxSkewMillis + minute;
      if (sent.fields.endTimeMillis > allowed) {
        const days = ((sent.fields.endTimeMillis - allowed) / dayMillis).toFixed(1);
        yield { at: sent.at, text: `${sent.index}: rows ${days} days younger than ${policy.retentionDays} days go` };
      }
    }
  },

  *'nothing is sent where nothing is left to delete'(history) {
    for (const { sent, asked } of sends(history)) {
      if (asked?.kind !== 'dry-run' || countsIn(asked.sentence)?.rows !== 0) continue;
      yield { at: sent.at, text: `${sent.index}: its last dry run had found nothing to delete` };
    }
  },

  *'nothing is started on an index that has lost most of its rows'(history) {
    for (const { sent, execution } of sends(history)) {
      if (sent.gone && execution?.gone.includes(sent.index)) {
        yield { at: sent.at, text: `${sent.index}: most of the rows of its last verdict are gone` };
      }
    }
  },

  *'a reindex is started only where it can be proven'(history) {
    for (const send of sends(history)) {
      const { sent, asked } = send;
      const reindexes = asked?.kind === 'dry-run' && countsIn(asked.sentence)?.reindexes;
      if (!reindexes) continue;
      const wrong = (text: string) => ({ at: sent.at, text: `${sent.index}: a reindex is started, ${text}` });
      if (!tellsStatus(history, sent)) yield wrong('and nobody has seen that statuses may be read');
      const { version, digits } = /_v1_(?<version>.+_)?(?<digits>\d{13})$/.exec(sent.physical ?? '')?.groups ?? {};
      const age = sent.invocation.runStartMillis - Number(digits);
      const leastDays = version === undefined ? 1.5 : 14;
      if (digits === undefined) yield wrong(`and ${sent.physical} bears no time`);
      // Nobody can see an upgrade between the last look at the names and the call.
      else if (age <= leastDays * dayMillis && !isProven(sent) && !isReplacedUnseen(history, sent))
        yield wrong(`and its index is younger than ${leastDays} days`);
      if (sent.copying) yield wrong('while somebody’s copy is coming in');
    }
  },
} satisfies Record<string, CheckRule>;

const compared = [
  'entityType',
  'aspect',
  'enabled',
  'retentionDays',
  'minDeletePercent',
  'maxDeletePercent',
  'strategy',
  'batchSize',
  'timeoutSeconds',
  'maxRowsPerRun',
] as const satisfies readonly (keyof Ordered)[];

const isSame = (one: Ordered, other: Ordered): boolean => compared.every((field) => one[field] === other[field]);

/** Our own reindex created it, and the last verdict had proof of that. */
function isProven({ record, physical }: Event<'truncate'>): boolean {
  const { outcome, cause, indexName, strategy } = record?.lastVerdict?.entry ?? {};
  const isProof =
    cause?.kind === 'verified' ? cause.by === 'proof' : outcome === 'incomplete' && strategy === 'reindex';
  return isProof && indexName === physical;
}

function isReplacedUnseen(history: History, { at, invocation, index }: Event<'truncate'>): boolean {
  const named = eventsOf(history, 'read').findLast(
    (read) => read.at <= at && read.invocation.id === invocation.id && read.action === 'getIndexSizes',
  );
  return named !== undefined && othersBetween(history, history.world.servers[0].nameOf(index), named.countedAt, at);
}

function tellsStatus(history: History, sent: Event<'truncate'>): boolean {
  return eventsOf(history, 'read').some(
    ({ at, action, status, invocation }) =>
      at <= sent.at &&
      action === 'getEsTaskStatus' &&
      status === 200 &&
      invocation.step === 'plan' &&
      runOf(invocation) === runOf(sent.invocation),
  );
}
