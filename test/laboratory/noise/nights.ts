import type { PolicyEntry } from '../../../lambda/facts/report-schema.ts';
import { isUnresolved, type LedgerRecord } from '../../../lambda/ledger/record.ts';
import { firstNight } from '../histories/history.ts';
import { eventsOf } from '../rules/events.ts';
import { type Execution, startExecution } from '../world/execution.ts';
import { withVirtualTimers } from '../world/virtual-time.ts';
import { createProduction, day, type Production, planDay } from './production.ts';

/** So many nights of the ordinary production, and what came of them. Nobody clears or repairs anything. */

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
  /** Quarantines of an index that lacks no row. */
  falseQuarantines: string[];
  /** The longest time between two truncations of one index, days. */
  longestPauseDays: number;
}

const fine = new Set(['truncated', 'below-threshold', 'nothing-to-delete', 'disabled']);

export async function liveNoise(seed: number, nights: number): Promise<Noise> {
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
      await time.runUntil(start + day - 60_000);
    }
    await time.run(() => executions.every(({ ended }) => ended));
  });
  world.servers[0].truth.close();
  return {
    nights: Array.from({ length: nights }, (_, number) => nightOf(production, number)),
    truncates: eventsOf({ world } as never, 'truncate').length,
    stuck: stuckIn(production),
    falseQuarantines: falseQuarantines(production),
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
  return {
    number,
    result: report?.result ?? 'no report',
    outcomes,
    bad,
    happened: [...(happened.get(number) ?? []), ...before],
  };
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

/** An index is closed although what its truncation owed is there, and its end is known. */
function falseQuarantines({ world }: Production): string[] {
  return eventsOf({ world } as never, 'ledger').flatMap(({ at, previous, next, truth }) => {
    const isNew = next.state === 'quarantined' && previous?.state !== 'quarantined';
    const isRight = truth.loss.rows > 0 || truth.windows.some(({ recorded, found }) => found < recorded);
    return isNew && !isRight ? [`${next.index} on ${new Date(at).toISOString()}`] : [];
  });
}

function longestPause({ world, policies }: Production, end: number): number {
  const pauses = policies.flatMap(({ index }) => {
    const sent = eventsOf({ world } as never, 'truncate').filter((event) => event.index === index);
    const times = [firstNight, ...sent.map(({ at }) => at), end];
    return times.slice(1).map((at, place) => at - (times[place] ?? at));
  });
  return Math.round(Math.max(...pauses) / day);
}
