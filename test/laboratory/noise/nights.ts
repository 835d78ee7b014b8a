import type { Cause } from '../../../lambda/facts/cause.ts';
import { resultOf } from '../../../lambda/facts/outcomes.ts';
import type { PolicyEntry } from '../../../lambda/facts/report-schema.ts';
import { isUnresolved, type LedgerRecord } from '../../../lambda/ledger/record.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import { firstNight } from '../histories/history.ts';
import { cleared, type RunByHand } from '../histories/morning.ts';
import type { PolicyOf } from '../histories/policies.ts';
import { eventsOf } from '../rules/events.ts';
import { type Execution, startExecution } from '../world/execution.ts';
import { withVirtualTimers } from '../world/virtual-time.ts';
import type { World } from '../world/world.ts';
import {
  ambiguousNights,
  blockingWrites,
  createProduction,
  day,
  hour,
  type Production,
  planDay,
  withoutDowntime,
} from './production.ts';

/**
 * A number of nights of the ordinary production, and their results. In the morning a person restores the rows of each
 * index that a report calls closed, clears it with the number that a refusal prints, and does nothing else.
 */

export interface NoiseNight {
  /** From 0. */
  number: number;
  result: string;
  outcomes: Record<string, number>;
  /** What was not ok, and what had happened that day and the day before. */
  bad: { name: string; outcome: string; cause: string; adopted: boolean }[];
  /** The only reason is a reindex that waits for an upgrade that may still be copying (safety rule 3). */
  isWaiting: boolean;
  happened: string[];
}

export interface Noise {
  nights: NoiseNight[];
  truncates: number;
  /** Indices whose record is unresolved, or closed, at the end. */
  stuck: string[];
  /** An index was closed although the end could be known and none of its rows are missing. */
  falseQuarantines: string[];
  /** Copies without a task id: they cannot be proven, and a person has to look (safety rule 7). */
  unproven: string[];
  /**
   * Nights on which a reindexing policy had reached its threshold, had no upgrade to wait for, and did not truncate.
   */
  missed: string[];
  /** The longest time between two truncations of one index, days. */
  longestPauseDays: number;
}

/** @param lived called after each night */
export async function liveNoise(seed: number, nights: number, lived: () => void = () => {}): Promise<Noise> {
  const production = createProduction(seed);
  const { world } = production;
  const { time } = world;
  const executions: Execution[] = [];
  const missed: string[] = [];
  await withVirtualTimers(time, async () => {
    for (let number = 0; number < nights; number++) {
      const start = firstNight + number * day;
      planDay(production, number, seed);
      let due: PolicyOf[] = [];
      time.at(start, () => {
        due = dueIn(production, start);
        executions.push(startExecution(world, `night-${number}`, { scheduledTime: new Date(start).toISOString() }));
      });
      await time.runUntil(start + 6 * hour);
      missed.push(...missedIn(production, due, number, start));
      await clearClosed(production, executions, number);
      await time.runUntil(start + day - 60_000);
      lived();
    }
    await time.run(() => executions.every(({ ended }) => ended));
  });
  world.servers[0].truth.close();
  return {
    nights: Array.from({ length: nights }, (_, number) => nightOf(production, number)),
    truncates: eventsOf({ world } as never, 'truncate').length,
    stuck: stuckIn(production),
    ...closedIn(production),
    missed,
    longestPauseDays: longestPause(production, firstNight + nights * day),
  };
}

function nightOf({ world, happened }: Production, number: number): NoiseNight {
  const runId = `night-${number}`;
  const report = eventsOf({ world } as never, 'published').find((event) => event.runId === runId)?.report;
  const outcomes: Record<string, number> = {};
  for (const { outcome } of report?.policies ?? []) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const bad = (report?.policies ?? []).filter(({ outcome }) => resultOf[outcome] !== 'ok').map(badOf);
  const before = (happened.get(number - 1) ?? []).map((what) => `${what} (the day before)`);
  const isWaiting = bad.length > 0 && bad.every(({ cause }) => cause === 'guard index-young');
  return {
    number,
    result: report?.result ?? 'no report',
    outcomes,
    bad,
    isWaiting,
    happened: isWaiting ? upgradesBefore(happened, number) : [...(happened.get(number) ?? []), ...before],
  };
}

/** What a reindex waits for: 36 h after an upgrade that blocks writes, 14 days after one without downtime. */
const upgradesBefore = (happened: Production['happened'], number: number): string[] =>
  [...upgradeNights].flatMap(([what, nights]) =>
    Array.from({ length: nights + 1 }, (_, days) => days).flatMap((days) =>
      (happened.get(number - days) ?? [])
        .filter((one) => one === what)
        .map(() => `${what} ${days === 0 ? 'that night' : days === 1 ? 'the day before' : `${days} days before`}`),
    ),
  );

const upgradeNights = new Map([
  [blockingWrites, 2],
  [withoutDowntime, 14],
]);

/**
 * Policies that reindex and have clearly reached their threshold: rows that come and go in the first seconds of a run
 * do not matter.
 */
const dueIn = ({ policies, world }: Production, start: number): PolicyOf[] =>
  policies.filter(({ name, fields }) => {
    if (fields['strategy'] !== 'reindex') return false;
    const rows = world.servers[0].engine.foundRows(name);
    const old = rows.filter(({ timestamp }) => timestamp <= start - Number(fields['retentionDays']) * day);
    return old.length / rows.length > (Number(fields['minDeletePercent']) / 100) * 1.1;
  });

/** After a night of bad answers a copy of ours may lack its proof, and its index is as young as any other's. */
function missedIn({ world, waits }: Production, due: readonly PolicyOf[], number: number, start: number): string[] {
  if (ambiguousNights.has(number) || ambiguousNights.has(number - 1)) return [];
  const report = eventsOf({ world } as never, 'published').find(({ runId }) => runId === `night-${number}`)?.report;
  return due.flatMap(({ name, index }) => {
    const outcome = report?.policies.find((entry) => searchIndex(entry) === index)?.outcome ?? 'not reported';
    const mayWait = (waits.get(name) ?? 0) > start;
    return mayWait || outcome === 'truncated' ? [] : [`${name} on night ${number} (${outcome})`];
  });
}

const badOf = ({ entityType, aspect, outcome, cause, adopted }: PolicyEntry): NoiseNight['bad'][number] => {
  const { kind, ...facts } = cause;
  const { error } = facts as { error?: { kind?: string; status?: number } };
  const about = error ? ` ${error.status ?? error.kind}` : 'which' in cause ? ` ${String(cause.which)}` : '';
  return { name: `${entityType}.${aspect}`, outcome, cause: `${kind}${about}`, adopted: adopted ?? false };
};

function stuckIn({ world }: Production): string[] {
  return [...world.ledger.records.values()].flatMap((stored) => {
    const record = stored as LedgerRecord;
    return isUnresolved(record) || record.state === 'quarantined' ? [`${record.index} is ${record.state}`] : [];
  });
}

/** Which indices were closed, rightly or not. An index with missing rows is rightly closed. */
function closedIn({ world }: Production): Pick<Noise, 'falseQuarantines' | 'unproven'> {
  const closed = eventsOf({ world } as never, 'ledger').filter(
    ({ previous, next, truth }) =>
      next.state === 'quarantined' && previous?.state !== 'quarantined' && truth.loss.rows === 0,
  );
  const isUnproven = ({ previous }: (typeof closed)[number]) =>
    previous?.state === 'sending' && previous.attempt.strategy !== 'delete-by-query';
  const said = ({ at, next }: (typeof closed)[number]) =>
    `${next.index} on ${new Date(at).toISOString()} (${next.lastVerdict?.entry.cause.kind})`;
  return {
    falseQuarantines: closed.filter((event) => !isUnproven(event)).map(said),
    unproven: closed.filter(isUnproven).map(said),
  };
}

async function clearClosed({ world, policies }: Production, executions: Execution[], number: number): Promise<void> {
  for (const { name, index, entityType, aspect } of policies) {
    const record = world.ledger.records.get(index) as LedgerRecord | undefined;
    if (record?.state !== 'quarantined') continue;
    bringBack(world, name, record.lastVerdict?.entry.cause);
    const run: RunByHand = async (runId, input) => {
      const execution = startExecution(world, runId, input);
      executions.push(execution);
      await world.time.run(() => execution.ended);
      return eventsOf({ world } as never, 'published').findLast((event) => event.runId === runId)?.report;
    };
    await cleared(run, `clear-${number}-${aspect}`, [`${entityType}.${aspect}`], true);
  }
}

/** Does what the message says: copies rows that are only in the old index to the one behind the alias. */
function bringBack(world: World, name: string, cause: Cause | undefined): void {
  const [{ engine }] = world.servers;
  const before = cause && 'indexBefore' in cause ? cause.indexBefore : undefined;
  const isThere = engine.indices().some((one) => one.name === before && one.index === undefined);
  if (before !== undefined && isThere) world.others(name, 'repaired', () => engine.bringOver(name, before));
}

function longestPause({ world, policies }: Production, end: number): number {
  const pauses = policies.flatMap(({ index }) => {
    const sent = eventsOf({ world } as never, 'truncate').filter((event) => event.index === index);
    const times = [firstNight, ...sent.map(({ at }) => at), end];
    return times.slice(1).map((at, place) => at - (times[place] ?? at));
  });
  return Math.round(Math.max(...pauses) / day);
}
