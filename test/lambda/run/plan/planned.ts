import type { ServerError } from '../../../../lambda/facts/server-error.ts';
import { memoryLedger } from '../../../../lambda/ledger/memory.ts';
import type { StoredRecord } from '../../../../lambda/ledger/record.ts';
import {
  type DryRun,
  type IndexSize,
  type Operations,
  OperationsError,
  type ReadOptions,
  type TaskStatus,
  type TruncateFields,
} from '../../../../lambda/operations/operations.ts';
import { plan } from '../../../../lambda/run/plan/plan.ts';
import type { RunServices } from '../../../../lambda/run/services.ts';

/** One Plan against a server that answers as a test says. */

export const startedAt = '2026-03-01T03:30:00.000Z';
export const start = Date.parse(startedAt);
export const server = 'https://gms.example.com';
export const day = 86_400_000;
export const cutoff = start - 30 * day;
export const operation = { entityType: 'dataset', aspect: 'operation', retentionDays: 30 };

export type Fails = { fails: ServerError['kind'] };

export interface World {
  policies?: unknown[];
  records?: Record<string, StoredRecord | object>;
  sizes?: IndexSize[] | Fails | Error;
  /** By aspect and moment; by default 600 of 1,000 rows are to be deleted, and no answer has a time. */
  counts?: (fields: TruncateFields) => Partial<DryRun> & Partial<Record<'fails', ServerError['kind'] | undefined>>;
  status?: TaskStatus | Fails;
  input?: unknown;
  mode?: 'enforce' | 'preview';
  token?: Error | string | (() => string);
  lookup?: () => Promise<string[]>;
  /** Milliseconds that each dry run takes. */
  takes?: number;
  /** True if dry runs are answered only when the time for them is over. */
  isSlow?: boolean;
  /** Milliseconds that pass with each reading of the clock. */
  ticks?: number;
  nights?: RunServices['nights'];
  /** Milliseconds until the function ends. */
  left?: number;
}

export async function planned(world: World) {
  const {
    policies = [operation],
    records = {},
    sizes = [],
    counts = () => ({}),
    mode = 'enforce',
    left = 900_000,
  } = world;
  const { status = { kind: 'vanished' } as const, input = {} } = world;
  const clock = { time: start + 5000 };
  const ledger = memoryLedger();
  for (const [index, record] of Object.entries(records)) ledger.stored.set(index, record);
  const asked: string[] = [];
  const options: (ReadOptions | undefined)[] = [];
  let atOnce = 0;
  let mostAtOnce = 0;
  const log: [string, unknown][] = [];
  const note = (message: string, fields?: unknown) => log.push([message, fields]);
  const answer = <Value extends object>(value: Value | Fails, operation: ServerError['operation']): Value => {
    if ('fails' in value && value.fails) throw new OperationsError({ kind: value.fails, operation });
    return value as Value;
  };
  const token = async () => {
    if (world.token instanceof Error) throw world.token;
    return typeof world.token === 'function' ? world.token() : (world.token ?? 'opaque');
  };
  const services = {
    settings: { stage: 's', gmsUrl: server, mode, minRetentionDays: 7, maxRunHours: 12 },
    parameters: {
      policies: async () => (policies.length === 0 ? [] : [{ name: 'P', text: JSON.stringify(policies) }]),
      paused: async () => false,
      token: { get: token, reread: token },
    },
    operations: {
      async dryRun(fields: TruncateFields, { signal }: ReadOptions) {
        asked.push(`${fields.aspect} ${(start - fields.endTimeMillis) / day}`);
        clock.time += world.takes ?? 0;
        mostAtOnce = Math.max(mostAtOnce, ++atOnce);
        await new Promise((resolve) => setImmediate(resolve));
        atOnce--;
        if (world.isSlow) {
          if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
          throw new OperationsError({ kind: 'aborted', operation: 'dry-run' });
        }
        const base = { rowsToDelete: 600, rowsTotal: 1000, strategy: 'delete-by-query' as const, clockSkewMillis: 0 };
        return { ...base, ...answer(counts(fields), 'dry-run') };
      },
      async indexSizes(given?: ReadOptions) {
        asked.push('sizes');
        options.push(given);
        if (sizes instanceof Error) throw sizes;
        return answer(sizes, 'index-sizes');
      },
      async taskStatus(_: unknown, given?: ReadOptions) {
        asked.push('status');
        options.push(given);
        return answer(status, 'task-status');
      },
    } as unknown as Operations,
    ledger,
    ...(world.nights && { nights: world.nights }),
    surroundings: { onLambda: true, lookup: world.lookup ?? (async () => ['10.0.0.1']) },
    clock: {
      now: () => {
        const { time } = clock;
        clock.time += world.ticks ?? 0;
        return time;
      },
      realNow: () => start + 5000,
      monotonic: () => 0,
    },
    log: { info: note, warn: note, error: note },
    newId: () => 'new',
    deadline: () => start + 5000 + left,
  } as unknown as RunServices;
  const state = await plan({ input, execution: { name: 'us', startTime: startedAt } }, services);
  return { state, asked, log, ledger, options, mostAtOnce };
}
