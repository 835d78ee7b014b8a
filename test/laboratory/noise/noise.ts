import { searchIndex } from '../../../lambda/policy/aspects.ts';
import type { kinds } from '../alphabet/server.ts';
import { printCounts, printTable, progress } from '../campaign/print.ts';
import { firstNight, type History } from '../histories/history.ts';
import { byHand, released } from '../histories/morning.ts';
import { check, violationText } from '../rules/checker.ts';
import { eventsOf } from '../rules/events.ts';
import { day } from '../time.ts';
import type { Execution } from '../world/execution.ts';
import { withVirtualTimers } from '../world/virtual-time.ts';
import { unresolvedIn } from '../world/world.ts';
import { createProduction, type Production, planDay } from './production.ts';

/** `npm run faults -- --noise`: three months of an ordinary production, for each way in which a server removes rows. */

export interface Noise {
  outcomes: Record<string, number>;
  /** Nights that were not ok: what had happened on that day or the one before, and what was reported. */
  bad: { number: number; why: string; said: string }[];
  /** What must not be: stuck indices, false quarantines, broken rules, bad nights without a reason. */
  wrong: string[];
}

const servers = ['deletes in place', 'reindexes, alias first', 'reindexes, alias last'] as const;

export async function runNoise(seed: number, nights = 92): Promise<boolean> {
  let isQuiet = true;
  for (const kind of servers) {
    const { outcomes, bad, wrong } = await liveNoise(seed, kind, nights, progress(`of ${nights} nights`, 30));
    console.log(`${nights} nights of an ordinary production whose server ${kind}, seed ${seed}`);
    printCounts('outcome', outcomes);
    console.log(`\nNights that were not ok: ${bad.length}`);
    printTable(
      ['night', 'why', 'what was not ok'],
      bad.map(({ number, why, said }) => [number, why || 'NOTHING', said]),
    );
    console.log(`\nWrong: ${wrong.join('\n') || 'nothing'}\n`);
    isQuiet &&= wrong.length === 0;
  }
  return isQuiet;
}

async function liveNoise(
  seed: number,
  kind: keyof typeof kinds,
  nights: number,
  onNight: () => void = () => {},
): Promise<Noise> {
  const production = createProduction(seed, kind);
  const { world, policies } = production;
  const history: History = { world, policies, maxRunHours: 12 };
  await withVirtualTimers(world.time, async () => {
    const executions: Execution[] = [];
    for (let number = 0; number < nights; number++) {
      await world.time.runUntil(firstNight + number * day - 1000);
      planDay(production, number, seed);
      await world.time.runUntil(firstNight + number * day);
      await byHand(world, executions)(`night-${number}`, { scheduledTime: new Date(world.time.now()).toISOString() });
      for (const { name, index } of policies) {
        const isQuarantined = world.stored(index)?.state === 'quarantined';
        if (isQuarantined) await released(byHand(world, executions), `release-${number}-${name}`, name, true);
      }
      onNight();
    }
    await world.time.run(() => executions.every(({ ended }) => ended));
    world.tracker.close();
  });
  return found(production, history);
}

function found({ world, happened }: Production, history: History): Noise {
  const noise: Noise = { outcomes: {}, bad: [], wrong: check(history).map(violationText) };
  const reason = (number: number) => [...(happened.get(number) ?? []), ...(happened.get(number - 1) ?? [])].join('; ');
  for (const { report, runId } of eventsOf(history, 'published')) {
    const number = Number(/^night-(\d+)$/.exec(runId)?.[1] ?? Number.NaN);
    if (Number.isNaN(number)) continue;
    for (const { outcome } of report.policies) noise.outcomes[outcome] = (noise.outcomes[outcome] ?? 0) + 1;
    if (report.result === 'ok') continue;
    const fine = ['truncated', 'below-threshold', 'nothing-to-delete'];
    const bad = report.policies.filter(({ outcome }) => !fine.includes(outcome));
    const said = bad.map((entry) => `${searchIndex(entry)} ${entry.outcome} (${entry.cause.kind})`).join('; ');
    noise.bad.push({ number, why: reason(number), said });
    if (reason(number) === '') noise.wrong.push(`night ${number} was not ok without a reason: ${said}`);
  }
  for (const { index, state } of unresolvedIn(world)) noise.wrong.push(`${index} is ${state} in the end`);
  return noise;
}
