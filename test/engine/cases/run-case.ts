import type { Laboratory } from '../world/laboratory.ts';
import { holdings, loadedAfter } from '../world/rows.ts';
import { createWorld, tasksOn, type World } from '../world/world.ts';
import type { EngineCase } from './case.ts';
import { type Judged, judge } from './judge.ts';
import { type Recovered, recover } from './recovery.ts';

export interface CaseResult extends Judged {
  case: EngineCase;
  oldLeft: number;
  seconds: number;
  recovered?: Recovered;
  /** What the job printed and sent, for people. */
  said: string;
}

export async function runCase(laboratory: Laboratory, one: EngineCase): Promise<CaseResult> {
  const began = Date.now();
  const world = await createWorld(laboratory, one);
  try {
    return { ...(await judged(laboratory, world, one)), seconds: (Date.now() - began) / 1000 };
  } catch (error) {
    // A case that hangs, or whose situation does not arise, fails; the others continue.
    return { ...nothing, case: one, problems: [(error as Error).message], seconds: (Date.now() - began) / 1000 };
  } finally {
    await world.close();
  }
}

async function judged(laboratory: Laboratory, world: World, one: EngineCase): Promise<Omit<CaseResult, 'seconds'>> {
  const runs = await one.story(world);
  const running = (await tasksOn(world.client, world.alias)).length;
  await world.settle();
  const cutoffMillis = world.sent.at(-1)?.cutoffMillis ?? 0;
  const shouldBe = { kept: loadedAfter(cutoffMillis, laboratory.loadedAt), ingested: world.ingested };
  const found = await visibleRows(world);
  const there = await holdings(world.client, world.alias, cutoffMillis);
  const visible = found >= there.old + there.kept + there.ingested;
  const said = judge({ runs, sent: world.sent, shouldBe, there, visible, running }, one.expected);
  const last = runs.at(-1)!;
  const recovered =
    one.expected.recovery && last.entry?.outcome === 'rows-missing'
      ? await recover(world, laboratory.address, last, shouldBe.kept)
      : undefined;
  return {
    ...said,
    problems: [...said.problems, ...(recovered?.problems ?? [])],
    case: one,
    oldLeft: there.old,
    ...(recovered && { recovered }),
    said: runs.map(({ said, published }) => `${said}\n---- ${published?.text ?? 'nothing was sent'}`).join('\n----\n'),
  };
}

async function visibleRows({ client, alias }: World): Promise<number> {
  const { body, statusCode } = await client.count({ index: alias }, { ignore: [404] });
  return statusCode === 404 ? 0 : body.count;
}

const nothing = {
  outcome: 'no end',
  missing: { kept: 0, ingested: 0 },
  named: 0,
  unnamed: 0,
  falseWords: [],
  oldLeft: 0,
  said: '',
};
