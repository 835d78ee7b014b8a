import type { Laboratory } from '../world/laboratory.ts';
import { holdings, loadedAfter } from '../world/rows.ts';
import { createWorld, tasksOn } from '../world/world.ts';
import type { EngineCase } from './case.ts';
import { type Judged, judge } from './judge.ts';
import { type Recovered, recover } from './recovery.ts';

export interface CaseResult extends Judged {
  case: EngineCase;
  oldLeft: number;
  seconds: number;
  recovered?: Recovered;
  /** What the job printed, for somebody who wants to know. */
  said: string;
}

export async function runCase(laboratory: Laboratory, one: EngineCase): Promise<CaseResult> {
  const began = Date.now();
  const world = await createWorld(laboratory, one);
  try {
    const runs = await one.story(world);
    const running = (await tasksOn(world.client, world.alias)).length;
    await world.settle();
    const cutoffMillis = world.sent.at(-1)?.cutoffMillis ?? 0;
    const shouldBe = { kept: loadedAfter(cutoffMillis, laboratory.loadedAt), ingested: world.ingested };
    const there = await holdings(world.client, world.alias, cutoffMillis);
    const judged = judge({ runs, sent: world.sent, shouldBe, there, running }, one.expected);
    const recovered =
      one.expected.recovery && runs.at(-1)?.entry?.outcome === 'rows-missing'
        ? await recover(world, laboratory.address, runs.at(-1)!, shouldBe)
        : undefined;
    return {
      ...judged,
      problems: [...judged.problems, ...(recovered?.problems ?? [])],
      case: one,
      oldLeft: there.old,
      seconds: (Date.now() - began) / 1000,
      ...(recovered && { recovered }),
      said: runs.map(({ said }) => said).join('\n----\n'),
    };
  } finally {
    await world.close();
  }
}
