import { onTestFinished } from 'vitest';
import { type ServiceOptions, startOperationsService } from '../../operations-service/server.ts';

/** A service over real HTTP whose time only moves when a test says so. */

export const day = 86_400_000;
/** Where the virtual clock starts, epoch milliseconds. */
export const start = Date.UTC(2026, 0, 15, 3, 30);

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read wire values of every shape
  json: any;
}

/** One index `dataset.operation` of 1,000 rows, 10 a day, the oldest 100 days old, unless said otherwise. */
export async function serve(options: ServiceOptions = {}) {
  let now = start;
  const service = await startOperationsService({
    clock: { now: () => now },
    indices: [{ entityType: 'dataset', aspect: 'operation', timestamps: tenADay() }],
    ...options,
  });
  onTestFinished(() => service.close());

  const send = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(`${service.url}${path}`, { redirect: 'manual', ...init });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parsed(text) };
  };
  const headers = { Authorization: `Bearer ${service.token}`, 'Content-Type': 'application/json' };
  const post = (action: string, body: unknown, path = '/operations') =>
    send(`${path}?action=${action}`, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const truncate = (fields: Record<string, unknown> = {}) =>
    post('truncateTimeseriesAspect', {
      entityType: 'dataset',
      aspect: 'operation',
      endTimeMillis: start - 30 * day,
      ...fields,
    });
  return {
    ...service,
    headers,
    send,
    post,
    truncate,
    /** Truncates for real by delete-by-query and returns the task id. */
    startDelete: async (fields: Record<string, unknown> = {}): Promise<string> =>
      (await truncate({ dryRun: false, forceDeleteByQuery: true, batchSize: 100, ...fields })).json.value,
    /** The parsed task status; the `status` inside it is parsed as well if it is a string. */
    status: async (task: string) => {
      const outer = JSON.parse((await post('getEsTaskStatus', { task })).json.value);
      if (typeof outer.status === 'string') outer.status = JSON.parse(outer.status);
      return outer;
    },
    sizes: async () => (await post('getIndexSizes', '')).json.value.indexSizes,
    /** Rows in total and rows to delete, as reported by a dry run. */
    counts: async (fields: Record<string, unknown> = {}) => {
      const { value } = (await truncate(fields)).json;
      const [, matching, total] = /^Delete (\d+) out of (\d+) rows/.exec(value) ?? [];
      return { matching: Number(matching), total: Number(total) };
    },
    pass: (millis: number) => {
      now += millis;
    },
    now: () => now,
  };
}

/** Ten rows a day at even hours, oldest first. */
const tenADay = (days = 100): number[] =>
  Array.from({ length: days * 10 }, (_, row) => start - days * day + Math.floor(((row + 0.5) * day) / 10));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
