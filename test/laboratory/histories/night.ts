import { happens } from '../alphabet/alphabet.ts';
import type { Scene } from '../alphabet/happening.ts';
import { calm } from '../alphabet/weather.ts';
import { createChances } from '../world/chances.ts';
import { type Execution, type ExecutionOptions, startExecution } from '../world/execution.ts';
import { unreportedOf } from '../world/records.ts';
import type { World } from '../world/world.ts';
import { plots } from './plots.ts';
import { aged, type PolicyOf } from './policies.ts';
import type { Night } from './scenario.ts';

/** One night: what is planned to happen before, during and after its run. */

export interface NightPlan {
  world: World;
  policies: readonly PolicyOf[];
  executions: Execution[];
  /** From 0. */
  number: number;
  /** Name of the execution that the schedule starts. */
  runId: string;
  /** Epoch milliseconds. */
  start: number;
  /** Undefined for a calm one. */
  night: Night | undefined;
}

export function planNight({ world, policies, executions, number, runId, start, night }: NightPlan): void {
  const { time, chances, server } = world;
  const at = (seconds: number, action: () => void) => time.at(start + seconds * 1000, action);
  const begin = (name: string, input: Record<string, unknown>, options?: ExecutionOptions): Execution => {
    const execution = startExecution(world, name, input, options);
    executions.push(execution);
    return execution;
  };
  let scheduled: Execution | undefined;
  const stage: Scene = { world, policies, night: number, begin, scheduled: () => scheduled };

  at(0, () => {
    const input = { scheduledTime: new Date(start).toISOString() };
    scheduled = begin(runId, input, { onState: endingsOf(stage, night) });
  });
  for (let arrival = 0; arrival < (night?.arrivals ?? 10); arrival++) {
    at(chances.between(-50, 20_000), () => {
      for (const { index } of policies) server.engine.write(index, [time.now()]);
    });
  }
  at(-600, () => {
    for (const { index } of policies) {
      const count = night?.backfill ?? (number % 2) * 100;
      // Never the same number twice: if two counts are equal by chance, that proves nothing.
      const rows = count === 0 ? 0 : count + chances.between(0, 40);
      server.engine.write(index, aged(chances.next, rows, 120, 65, time.now()));
    }
  });
  for (const { letter, at: seconds, seed } of night?.happenings ?? []) {
    at(seconds, () => happens(letter, stage, createChances(seed)));
  }
  if (night?.plot) {
    const { name, seed } = night.plot;
    at(-3500, () => {
      world.injected(`plot: ${name}`);
      plots[name](stage, createChances(seed), start);
    });
  }
}

/** Someone who stops and redrives one execution gives up after this many times. */
const mostEnds = 3;

/**
 * Ends the night's execution when it reaches a planned place, and perhaps redrives it.
 * @returns a function to call for each state that the execution enters
 */
function endingsOf({ world, scheduled }: Scene, night: Night | undefined): (state: string) => void {
  const plan = night?.ends;
  if (!plan) return () => {};
  const { time } = world;
  const { how, at, after, redriveAfter } = plan;
  let ends = 0;
  const end = (execution: Execution) => {
    // A redriven execution may reach the place only once the calm nights have begun.
    if (execution.ended || world.weather === calm || ends++ >= mostEnds) return;
    world.injected(`${how} at ${at}`);
    if (how === 'mute') [world.isMute, ends] = [true, mostEnds];
    else if (how === 'deployed') execution.deploy();
    else if (how === 'killed') execution.kill();
    else execution.stop();
    if (redriveAfter === undefined) return;
    time.at(time.now() + redriveAfter * 1000, () => {
      world.isMute = false;
      if (execution.ended) world.injected('redriven');
      execution.redrive();
    });
  };
  const reached = (place: string) => {
    const execution = scheduled();
    if (place !== at || !execution) return;
    if (after === 0) end(execution);
    else time.at(time.now() + after, () => end(execution));
  };
  const beforeSent = world.onSent;
  world.onSent = (track) => {
    beforeSent(track);
    if (track.runId === scheduled()?.runId) reached('the call');
  };
  const before = world.onWritten;
  world.onWritten = (written) => {
    before(written);
    if (written.invocation.runId !== scheduled()?.runId) return;
    reached(unreportedOf(written.next) ? 'decided' : written.next.state);
  };
  return reached;
}
