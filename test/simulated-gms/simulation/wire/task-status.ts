import { statusError } from '../../../../cli/embedded-service/sentences.ts';
import type { Behavior } from '../behavior.ts';
import { RestliError, readParameters } from './restli.ts';
import type { Server, TaskStatus } from './search-engine.ts';
import { type Steps, step } from './steps.ts';

export type StatusRequest = { task?: string };

/** The client's form; the specification's other one is served by the embedded service alone. */
export const readStatusRequest = (body: Record<string, unknown>) => readParameters<StatusRequest>(body);

/**
 * `getEsTaskStatus` (specification 4.2).
 * @returns JSON text: the task status, or an object with `error`
 * @throws RestliError 400 if the task is not named properly
 */
export function* taskStatus({ behavior, engine }: Server, given: StatusRequest): Steps<string> {
  const id = taskIdOf(given);
  const task = behavior.statusKnown ? yield* step(engine.task(id)) : undefined;
  if (task === undefined || (behavior.forgetsEndedTasks && task.completed)) {
    // GMS cannot distinguish an unknown task from an unreachable search engine.
    return statusError(id);
  }
  return statusText(id, task, behavior);
}

function taskIdOf({ task = '' }: StatusRequest): string {
  const number = /^[a-zA-Z0-9-_]+:([0-9]+)$/.exec(task)?.[1];
  if (number !== undefined && BigInt(number) > 0n && BigInt(number) < 2n ** 63n) return task;
  throw new RestliError(
    400,
    `Task should be in the form nodeId:taskId e.g. aB1cdEf2GHIJKLMnoPQr3S:123456 (got ${task})`,
  );
}

function statusText(id: string, { completed, runTimeNanos, status }: TaskStatus, { statusForm }: Behavior): string {
  const frame = { completed, taskId: id, runTimeNanos };
  if (status === undefined) return JSON.stringify(frame);
  // DataHub's org.json prints the status object as a string; the specification calls it an object.
  return JSON.stringify({ ...frame, status: statusForm === 'text' ? JSON.stringify(status) : status });
}
