import type { Random } from '../../cli/operations-service/random.ts';
import { dayMillis } from '../../lambda/facts/limits.ts';
import type { Operations, TruncateFields } from '../../lambda/operations/operations.ts';
import type { Course } from '../shapes.ts';
import { answerMillis } from './latencies.ts';
import type { VirtualTime } from './virtual-time.ts';

/** DataHub's batch size for delete by query: counters and rows change in steps of this size. */
const batchRows = 10_000;

export interface OneTask {
  /** How long the task takes from the call to its end, seconds. */
  seconds: number;
  rows: number;
  course: Course;
}

/**
 * One of many tasks around a duration: 0.7 to 1.4 times as long, one in each of equal parts of that range, so that a mean
 * does not depend on luck; at 1,000 to 10,000 rows a second, like DataHub's single-slice deletes.
 * @param around seconds
 * @param part from 0 to below 1: where the part begins
 * @param width of the part
 */
export function drawTask(around: number, course: Course, random: Random, part: number, width: number): OneTask {
  const seconds = around * 2 ** (part + width * random() - 0.5);
  return { seconds, rows: Math.round(seconds * 1000 * 10 ** random()), course };
}

export interface Simulated extends Operations {
  /** When the task's status was requested; epoch milliseconds of each. */
  asked: number[];
  /** When an answer first said that the task has ended. */
  seenAt?: number;
  endsAt?: number;
}

/** The operations of a service with one index and one task with a given course. As many rows stay as are deleted. */
export function oneTaskService(task: OneTask, time: VirtualTime): Simulated {
  let startedAt: number | undefined;
  const share = () => (startedAt === undefined ? 0 : Math.min(1, (time.now() - startedAt) / (task.seconds * 1000)));
  /** Rows done, in whole batches until the end. */
  const inBatches = (part: number) =>
    share() >= 1 ? task.rows : Math.floor((part * task.rows) / batchRows) * batchRows;

  const service: Simulated = {
    asked: [],
    async dryRun(fields: TruncateFields) {
      await time.sleep(answerMillis.dryRun);
      const gone = inBatches(task.course.rows(share()));
      // The policy's cutoff is 30 days before the run, the window's end is the run's start; no run takes a week.
      const isWindow = fields.endTimeMillis > time.now() - 7 * dayMillis;
      const kept = isWindow ? task.rows : 0;
      const rowsToDelete = task.rows - gone + kept;
      return {
        strategy: 'delete-by-query' as const,
        rowsToDelete,
        rowsTotal: 2 * task.rows - gone,
        clockSkewMillis: 0,
      };
    },
    async truncate(_fields, maySend) {
      await time.sleep(answerMillis.truncate / 2);
      if (!maySend()) return { kind: 'not-sent', why: 'withheld' } as const;
      startedAt = time.now();
      service.endsAt = startedAt + task.seconds * 1000;
      await time.sleep(answerMillis.truncate / 2);
      return { kind: 'started', taskId: 'aB1cdEf2GHIJKLMnoPQr3S:123456' } as const;
    },
    async taskStatus() {
      await time.sleep(answerMillis.read / 2);
      const completed = share() >= 1;
      service.asked.push(time.now());
      if (completed) service.seenAt ??= time.now();
      const counted = task.course.counters(share());
      const counters = counted === undefined ? {} : { total: task.rows, deleted: inBatches(counted) };
      await time.sleep(answerMillis.read / 2);
      return { kind: 'found', completed, counters };
    },
    async indexSizes() {
      await time.sleep(answerMillis.read);
      return [{ indexName: 'dataset_operationaspect_v1', entityType: 'dataset', aspect: 'operation' }];
    },
  };
  return service;
}
