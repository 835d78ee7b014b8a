import { happens } from '../alphabet/alphabet.ts';
import type { Stage } from '../alphabet/happening.ts';
import { createChances } from '../world/chances.ts';
import { type Execution, type ExecutionOptions, startExecution } from '../world/execution.ts';
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
  const stage: Stage = { world, policies, night: number, begin, scheduled: () => scheduled };

  at(0, () => {
    const input = { scheduledTime: new Date(start).toISOString() };
    scheduled = begin(runId, input, { foreignCall: night?.deployedAt, onState: stopping(stage, night) });
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
      plots[name].prepare(stage, createChances(seed), start);
    });
  }
}

/** Someone who stops and redrives one execution gives up after this many times. */
const maxStops = 3;

/** Stops the night's execution a moment after it has entered Truncate. */
function stopping(stage: Stage, night: Night | undefined): (state: string) => void {
  const { time } = stage.world;
  let stops = 0;
  return (state) => {
    const plan = night?.stopInTruncate;
    if (state !== 'Truncate' || plan === undefined) return;
    time.at(time.now() + plan.after, () => {
      const execution = stage.scheduled();
      if (!execution || execution.ended || stops++ >= maxStops) return;
      stage.world.injected('stopped');
      execution.stop();
      if (plan.redriveAfter === undefined) return;
      time.at(time.now() + plan.redriveAfter * 1000, () => {
        stage.world.injected('redriven');
        execution.redrive();
      });
    });
  };
}
