import { createRandom } from '../../cli/operations-service/random.ts';
import type { RunState } from '../../lambda/run/state.ts';
import { boundSeconds } from '../../lambda/truncation/next-look.ts';
import { type ShapeName, shapeNames, shapes, usable } from '../shapes.ts';
import { answerMillis } from '../simulation/latencies.ts';
import { drawTask, type OneTask, oneTaskService } from '../simulation/one-task.ts';
import { deployVirtually } from '../simulation/steps.ts';
import { VirtualTime } from '../simulation/virtual-time.ts';

/** How late the end of a task is seen and at what cost, for tasks of several lengths and shapes. */

export const durations = {
  '10 s': 10,
  '1 min': 60,
  '10 min': 600,
  '1 h': 3600,
  '6 h': 21_600,
  '24 h': 86_400,
} as const;
export type DurationName = keyof typeof durations;
export const durationNames = Object.keys(durations) as DurationName[];

export const ways = ['ours', 'fixed 30 s', 'peer'] as const;
export type Way = (typeof ways)[number];

export interface LooksCell {
  way: Way;
  shape: ShapeName;
  around: DurationName;
  draws: number;
  looks: { mean: number; max: number };
  /** Looks in the first 24 h of a task. */
  looksOfADay: number;
  /** From the end of the task to the look that sees it, for the draws whose end was seen. */
  lagSeconds: { mean: number; max: number };
  /** The same as a share of the task's time, percent. */
  lagPercent: { mean: number; max: number };
  /** Draws in which the lag exceeded 10 % of the time (10 s if that is more, 30 min if that is less). */
  beyondBound: number;
  /** Draws in which the watch ended before the task did. */
  givenUp: number;
}

interface Watched {
  task: OneTask;
  looks: number;
  looksOfADay: number;
  /** Negative if the watch was given up before the end, by this much. */
  lagSeconds: number;
}

export async function benchLooks(draws: number): Promise<LooksCell[]> {
  const cells: LooksCell[] = [];
  for (const way of ways) {
    for (const shape of shapeNames) {
      for (const around of durationNames) {
        // The same tasks for each way.
        const random = createRandom(shapeNames.indexOf(shape) * 100 + durationNames.indexOf(around) + 1);
        const watched: Watched[] = [];
        for (let draw = 0; draw < draws; draw++) {
          const task = drawTask(durations[around], shapes[shape](random), random, draw / draws, 1 / draws);
          watched.push(await watchers[way](task, random()));
        }
        cells.push({ way, shape, around, draws, ...summary(watched) });
      }
    }
  }
  return cells;
}

const watchers: Record<Way, (task: OneTask, phase: number) => Promise<Watched>> = {
  ours: watchOurs,
  'fixed 30 s': async (task) => watchFixed(task),
  peer: async (task) => watchAsPeer(task),
};

/**
 * Runs the real Plan, Truncate and Poll in turn, as the workflow does.
 * @param phase the fraction of a second at which the run starts, 0 to 1
 */
async function watchOurs(task: OneTask, phase: number): Promise<Watched> {
  const startedAt = Date.UTC(2026, 2, 1, 3, 30) + phase * 1000;
  const time = new VirtualTime(startedAt);
  const service = oneTaskService(task, time);
  const policy = { entityType: 'dataset', aspect: 'operation', retentionDays: 30 };
  const { handlers } = deployVirtually(time, { operations: service, policies: [policy], maxRunHours: 47 });
  const execution = { name: 'run', startTime: new Date(startedAt).toISOString() };
  let state = (await handlers.plan({ input: {}, execution })) as RunState;
  while (state.next !== 'report') {
    if (state.next === 'truncate') state = (await handlers.truncate(state)) as RunState;
    else {
      await time.sleep(state.waitSeconds * 1000);
      state = (await handlers.poll(state)) as RunState;
    }
  }
  const [entry] = state.entries;
  const began = service.endsAt! - task.seconds * 1000;
  const counted = {
    looks: service.asked.length,
    looksOfADay: service.asked.filter((at) => at - began <= 86_400_000).length,
  };
  // A task without progress for two hours is left to the next run, or counts as ended if next to nothing is left to
  // delete.
  if (entry?.phase === 'done' && (entry.entry.cause.kind === 'unsettled' || service.seenAt === undefined)) {
    return { task, ...counted, lagSeconds: (time.now() - service.endsAt!) / 1000 };
  }
  if (entry?.phase !== 'done' || entry.entry.outcome !== 'truncated' || service.seenAt === undefined) {
    throw new Error(`the watch of a task ended unexpectedly: ${JSON.stringify(entry)}`);
  }
  return { task, ...counted, lagSeconds: (service.seenAt - service.endsAt!) / 1000 };
}

const fixedSeconds = 30;

/** The job poller of many sample workflows: Wait 30 s, get the status, choose. */
function watchFixed(task: OneTask): Watched {
  const turn = fixedSeconds + answerMillis.read / 1000;
  const looks = Math.ceil(task.seconds / turn);
  return {
    task,
    looks,
    looksOfADay: Math.min(looks, Math.floor(86_400 / turn)),
    lagSeconds: looks * turn - task.seconds,
  };
}

/** Where datahub-gc stops watching (its settings truncation_watch_until and truncation_sleep_between_seconds). */
const peerWatchUntilRows = 10_000;
const peerSleepSeconds = 30;

/** datahub-gc: a dry run every 30 s, until none or few rows are left or nothing has changed since the last. */
function watchAsPeer({ course, rows, seconds, ...task }: OneTask): Watched {
  let previous: number | undefined;
  let at = 0;
  for (let looks = 1; ; looks++) {
    at += answerMillis.dryRun / 1000;
    const left = Math.round(rows * (1 - course.rows(Math.min(1, at / seconds))));
    if (left === 0 || left === previous || left < peerWatchUntilRows) {
      const looksOfADay = Math.min(looks, Math.floor(86_400 / peerSleepSeconds));
      return { task: { course, rows, seconds, ...task }, looks, looksOfADay, lagSeconds: at - seconds };
    }
    previous = left;
    at += peerSleepSeconds;
  }
}

function summary(watched: Watched[]): Omit<LooksCell, 'way' | 'shape' | 'around' | 'draws'> {
  const seen = watched.filter(({ lagSeconds }) => lagSeconds >= 0);
  const lags = seen.map(({ lagSeconds }) => lagSeconds);
  const shares = seen.map(({ lagSeconds, task }) => (lagSeconds / task.seconds) * 100);
  return {
    looks: spread(watched.map(({ looks }) => looks)),
    looksOfADay: Math.max(...watched.map(({ looksOfADay }) => looksOfADay)),
    lagSeconds: spread(lags),
    lagPercent: spread(shares),
    beyondBound: seen.filter(({ lagSeconds, task }) => lagSeconds > boundSeconds(task.seconds)).length,
    givenUp: watched.length - seen.length,
  };
}

const spread = (values: number[]): { mean: number; max: number } => ({
  mean: values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length,
  max: Math.max(0, ...values),
});

/** The allowed mean lag of one of our cells, seconds: 2 % with usable progress, else 5 %; 5 s if that is more. */
export const allowedLagSeconds = ({ shape, around }: Pick<LooksCell, 'shape' | 'around'>): number =>
  Math.max(5, durations[around] * (usable.includes(shape) ? 0.02 : 0.05));
