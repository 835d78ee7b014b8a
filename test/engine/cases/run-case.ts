import { type Recovered, recover, release } from '../recovery/recover.ts';
import { holdings, loadedAfter } from '../world/rows.ts';
import type { Shared } from '../world/shared.ts';
import { tasksOn } from '../world/tasks.ts';
import { createWorld, type World } from '../world/world.ts';
import type { EngineCase } from './case.ts';
import { type Judged, judge } from './judge.ts';

export interface CaseResult extends Judged {
  case: EngineCase;
  seconds: number;
  recovered?: Recovered;
  /** Logs and mails of the job. */
  said: string;
}

export async function runCase(shared: Shared, one: EngineCase): Promise<CaseResult> {
  const began = Date.now();
  const seconds = () => (Date.now() - began) / 1000;
  let world: World | undefined;
  try {
    world = await createWorld(shared, one);
    return { ...(await judged(shared, world, one)), seconds: seconds() };
  } catch (error) {
    // A case that hangs, or whose situation does not arise, fails; the others continue.
    return { ...nothing, case: one, problems: [(error as Error).message], seconds: seconds() };
  } finally {
    await world?.close();
  }
}

async function judged(shared: Shared, world: World, one: EngineCase): Promise<Omit<CaseResult, 'seconds'>> {
  const runs = await one.story(world);
  const running = (await tasksOn(world.client, world.alias)).length;
  await world.settle();
  const cutoffMillis = world.sent.at(-1)?.cutoffMillis ?? 0;
  const shouldBe = { kept: loadedAfter(cutoffMillis, shared.loadedAt), ingested: world.ingested };
  const found = await visibleRows(world);
  const there = await holdings(world.client, world.alias, cutoffMillis);
  const visible = found >= there.old + there.kept + there.ingested;
  const result = judge({ runs, sent: world.sent, shouldBe, there, visible, running }, one.expected);
  const last = runs.at(-1);
  const recovered = one.expected.recovery && last && (await recover(world, last, shouldBe.kept));
  const isOk = last?.entry?.outcome === 'truncated';
  const unreleased = recovered && !isOk ? await release(world) : [];
  return {
    ...result,
    problems: [
      ...result.problems,
      ...[...(recovered?.problems ?? []), ...unreleased].map((problem) => `recovery: ${problem}`),
    ],
    case: one,
    ...(recovered && { recovered }),
    said: runs.map(({ log, message }) => [...log, '', message ?? 'Nobody is told.', ''].join('\n')).join('\n'),
  };
}

async function visibleRows({ client, alias }: World): Promise<number> {
  const { body, statusCode } = await client.count({ index: alias }, { ignore: [404, 503] });
  return statusCode === 200 ? body.count : 0;
}

const nothing = { outcome: 'no end', missing: { kept: 0, ingested: 0 }, said: '' };
