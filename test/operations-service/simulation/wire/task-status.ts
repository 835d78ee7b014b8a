import type { Behaviour } from '../behaviour.ts';
import { RestliError, readParameters } from './restli.ts';
import type { Server, TaskStatus } from './search-engine.ts';
import { type Steps, step } from './steps.ts';

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
 * @throws RestliError 400 if the task is not named properly
 */
export function* taskStatus({ behaviour, engine }: Server, given: StatusRequest): Steps<string> {
  const id = taskIdOf(given);
  const task = behaviour.statusKnown ? yield* step(engine.task(id)) : undefined;
  if (task === undefined || (behaviour.forgetsEndedTasks && task.completed)) {
    // GMS cannot distinguish an unknown task from an unreachable search engine.
    return JSON.stringify({ error: `Could not get task status for ${id}` });
  }
  return statusText(id, task, behaviour);
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

function statusText(id: string, { completed, runTimeNanos, status }: TaskStatus, { statusForm }: Behaviour): string {
  const frame = { completed, taskId: id, runTimeNanos };
  if (statusForm === 'missing' || status === undefined) return JSON.stringify(frame);
  // DataHub's org.json prints the status object as a string; the specification calls it an object.
  return JSON.stringify({ ...frame, status: statusForm === 'text' ? JSON.stringify(status) : status });
}
