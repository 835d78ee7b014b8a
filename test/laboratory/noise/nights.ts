import { leastAgeMillis } from '../../../lambda/facts/limits.ts';
import type { PolicyEntry } from '../../../lambda/facts/report-schema.ts';
import { isUnresolved, type LedgerRecord } from '../../../lambda/ledger/record.ts';
import { firstNight } from '../histories/history.ts';
import { cleared, type RunByHand } from '../histories/morning.ts';
import { eventsOf } from '../rules/events.ts';
import { type Execution, startExecution } from '../world/execution.ts';
import { withVirtualTimers } from '../world/virtual-time.ts';
import { createProduction, day, hour, type Production, planDay, withoutDowntime } from './production.ts';

/**
 * So many nights of the ordinary production, and what came of them. In the morning a person clears what a report calls closed,
 * with the number that the refusal prints, and does nothing else.
 */

export interface NoiseNight {
  /** From 0. */
  number: number;
  result: string;
  outcomes: Record<string, number>;
  /** What was not ok, and what had happened that day and the day before. */
  bad: { name: string; outcome: string; cause: string; adopted: boolean }[];
  happened: string[];
}

export interface Noise {
  nights: NoiseNight[];
  truncates: number;
  /** Indices whose record is unresolved, or closed, at the end. */
  stuck: string[];
  /** An index was closed although its end could be known and no row of it is missing. */
  falseQuarantines: string[];
  /** Copies of which no task id came: they cannot be proven, and a person has to look (safety rule 7). */
  unproven: string[];
  /** The longest time between two truncations of one index, days. */
  longestPauseDays: number;
}

const fine = new Set(['truncated', 'below-threshold', 'nothing-to-delete', 'disabled']);

/** @param lived called after each night */
export async function liveNoise(seed: number, nights: number, lived: () => void = () => {}): Promise<Noise> {
  const production = createProduction(seed);
  const { world } = production;
  const { time } = world;
  const executions: Execution[] = [];
  await withVirtualTimers(time, async () => {
    for (let number = 0; number < nights; number++) {
      const start = firstNight + number * day;
      planDay(production, number, seed);
      time.at(start, () => {
        executions.push(startExecution(world, `night-${number}`, { scheduledTime: new Date(start).toISOString() }));
      });
      await time.runUntil(start + 6 * hour);
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
    longestPauseDays: longestPause(production, firstNight + nights * day),
  };
}

function nightOf({ world, happened }: Production, number: number): NoiseNight {
  const runId = `night-${number}`;
  const report = eventsOf({ world } as never, 'published').find((event) => event.runId === runId)?.report;
  const outcomes: Record<string, number> = {};
  for (const { outcome } of report?.policies ?? []) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const bad = (report?.policies ?? []).filter(({ outcome }) => !fine.has(outcome)).map(badOf);
  const before = (happened.get(number - 1) ?? []).map((what) => `${what} (the day before)`);
  const isHeldBack = bad.length > 0 && bad.every(({ cause }) => cause === 'guard index-young');
  return {
    number,
    result: report?.result ?? 'no report',
    outcomes,
    bad,
    happened: [...(happened.get(number) ?? []), ...before, ...(isHeldBack ? upgradesBefore(happened, number) : [])],
  };
}

/** A reindex waits for 14 days after an upgrade without downtime, which goes on catching up (safety rule 3). */
function upgradesBefore(happened: Production['happened'], number: number): string[] {
  const nights = leastAgeMillis.upgraded / day + 1;
  return Array.from({ length: nights }, (_, at) => at + 1).flatMap((days) =>
    (happened.get(number - days) ?? [])
      .filter((what) => what === withoutDowntime)
      .map((what) => `${what} (${days} days before)`),
  );
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

/** Which indices were closed, rightly or not. One that lacks rows is rightly closed. */
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
  for (const { index, entityType, aspect } of policies) {
    const record = world.ledger.records.get(index) as LedgerRecord | undefined;
    if (record?.state !== 'quarantined') continue;
    const run: RunByHand = async (name, input) => {
      const execution = startExecution(world, name, input);
      executions.push(execution);
      await world.time.run(() => execution.ended);
      return eventsOf({ world } as never, 'published').findLast(({ runId }) => runId === name)?.report;
    };
    await cleared(run, `clear-${number}-${aspect}`, [`${entityType}.${aspect}`], true);
  }
}

function longestPause({ world, policies }: Production, end: number): number {
  const pauses = policies.flatMap(({ index }) => {
    const sent = eventsOf({ world } as never, 'truncate').filter((event) => event.index === index);
    const times = [firstNight, ...sent.map(({ at }) => at), end];
    return times.slice(1).map((at, place) => at - (times[place] ?? at));
  });
  return Math.round(Math.max(...pauses) / day);
}
