import type { Behaviour } from './behaviour.ts';
import { RestliError, readParameters } from './restli.ts';
import type { Server } from './server-context.ts';
import type { Task } from './task.ts';

const action = 'getEsTaskStatus';

const parameters = {
  task: { type: 'String' },
  nodeId: { type: 'String' },
  taskId: { type: 'Long' },
} as const;

export type StatusRequest = ReturnType<typeof readStatusRequest>;

/** @throws RestliError 400 */
export const readStatusRequest = (body: Record<string, unknown>) => readParameters(action, parameters, body);

/**
 * `getEsTaskStatus` (specification 4.2).
 * @returns JSON text: the task status, or an object with `error`
 * @throws RestliError 400 when the task is not named properly
 */
export function taskStatus({ behaviour, cluster }: Server, given: StatusRequest): string {
  const id = taskIdOf(given);
  const task = cluster.tasks.get(id);
  const known = behaviour.statusKnown && task !== undefined && task.state !== 'gone';
  if (!known || (behaviour.forgetsEndedTasks && task.state === 'completed')) {
    // GMS cannot tell an unknown task from a search engine that it does not reach.
    return JSON.stringify({ error: `Could not get task status for ${id}` });
  }
  return statusText(task, cluster.now, behaviour);
}

const choice = 'Node ID + task ID OR composite task parameters';

function taskIdOf(given: StatusRequest): string {
  const separate =
    given.nodeId !== undefined && (given.taskId ?? 0) > 0 ? `${given.nodeId}:${given.taskId}` : undefined;
  if (given.task === undefined) {
    if (separate === undefined) throw new RestliError(400, `Please specify either ${choice}`);
    return separate;
  }
  const number = /^[a-zA-Z0-9-_]+:([0-9]+)$/.exec(given.task)?.[1];
  if (number === undefined || BigInt(number) === 0n || BigInt(number) >= 2n ** 63n) {
    throw new RestliError(
      400,
      `Task should be in the form nodeId:taskId e.g. aB1cdEf2GHIJKLMnoPQr3S:123456 (got ${given.task})`,
    );
  }
  if (separate !== undefined && separate !== given.task) {
    throw new RestliError(400, `Please specify only one of ${choice}`);
  }
  return given.task;
}

function statusText(task: Task, now: number, { statusForm }: Behaviour): string {
  const { slices, ...counters } = task.report();
  const withRest = (part: object) => ({
    ...part,
    retries: { bulk: 0, search: 0 },
    throttled_millis: 0,
    requests_per_second: unlimited,
    throttled_until_millis: 0,
  });
  const status = decimals(
    JSON.stringify({
      ...withRest(counters),
      ...(task.canceled === undefined ? {} : { canceled: task.canceled }),
      ...(slices === undefined
        ? {}
        : { slices: slices.map((part, slice) => part && { slice_id: slice, ...withRest(part) }) }),
    }),
  );
  const frame = {
    completed: task.state === 'completed',
    taskId: task.id,
    // To the microsecond: epoch milliseconds in a double are no finer.
    runTimeNanos: Math.round(((task.completedAt ?? now) - task.plan.startedAt) * 1000) * 1000,
  };
  if (statusForm === 'missing') return JSON.stringify(frame);
  // DataHub's org.json prints the status object as a text; the specification calls it an object.
  const member = statusForm === 'text' ? JSON.stringify(status) : status;
  return `${JSON.stringify(frame).slice(0, -1)},"status":${member}}`;
}

/** JSON.stringify writes -1; Java writes the float that it is, -1.0. */
const unlimited = '#-1.0#';
const decimals = (json: string): string => json.replaceAll(`"${unlimited}"`, '-1.0');
