import { expect } from 'vitest';
import type { ServerError } from '../../../../lambda/facts/server-error.ts';
import { memoryLedger } from '../../../../lambda/ledger/memory.ts';
import type { Sending, StoredRecord } from '../../../../lambda/ledger/record.ts';
import {
  type DryRun,
  type Operations,
  OperationsError,
  type ReadOptions,
  type TruncateFields,
  type Truncation,
} from '../../../../lambda/operations/operations.ts';
import type { Policy } from '../../../../lambda/policy/schema.ts';
import type { RunServices } from '../../../../lambda/run/services.ts';
import type { ApprovedEntry, DoneEntry, Entry, Planned, RunState } from '../../../../lambda/run/state.ts';
import { truncate } from '../../../../lambda/run/truncate.ts';
import { aPolicy } from '../../../support/policies.ts';
import { anIndex } from '../../../support/records.ts';
import { aRunState } from '../../../support/states.ts';

/** Truncate for one index, against a server that answers as a test says, to the row and the millisecond. */

export const start = Date.parse('2026-03-01T03:30:00.000Z');
export const day = 86_400_000;
export const hour = 3_600_000;
export const cutoff = start - 30 * day;
export const physical = `dataset_operationaspect_v1_${start - 400 * day}`;
export const server = 'https://gms.example.com';

export interface World {
  policy?: Partial<Policy>;
  plan?: Partial<Planned>;
  state?: Partial<RunState>;
  others?: Entry[];
  record?: StoredRecord;
  /** What the dry run with this number (from 1) answers; by default 600 rows to delete and 400 that stay. */
  counts?: (fields: TruncateFields, at: number, world: { clock: { time: number } }) => Partial<DryRun>;
  fails?: ServerError['kind'] | Error;
  answer?: Truncation;
  /** Milliseconds until the function ends. */
  left?: number;
  sizes?: object[];
  current?: object;
  /** Called when the policies are read again. */
  meanwhile?: (ledger: ReturnType<typeof memoryLedger>) => void;
  /** Called when the truncate is sent, or when the index is reserved, which then fails. */
  onSend?: (ledger: ReturnType<typeof memoryLedger>) => void;
  onReserve?: (ledger: ReturnType<typeof memoryLedger>) => void;
  /** True if requests are answered only when the time for them is over. */
  isSlow?: boolean;
}

export async function started(world: World) {
  const { policy = {}, plan = {}, state = {}, others = [], record, counts = () => ({}), fails, left = 600_000 } = world;
  const { answer = { kind: 'started', taskId: 'n:1' } as const } = world;
  const clock = { time: start + 60_000, back: 0 };
  const ledger = memoryLedger();
  if (record) ledger.stored.set(anIndex, record);
  const written = aPolicy(policy);
  const target: ApprovedEntry = {
    index: anIndex,
    phase: 'approved',
    entry: { entityType: 'dataset', aspect: 'operation' },
    policy: written,
    plan: { rowsToDelete: 600, strategy: 'delete-by-query', ...plan },
  };
  let asked = 0;
  const moments: number[] = [];
  const sent: { fields: TruncateFields; maySend: () => boolean }[] = [];
  const deadline = clock.time + left;
  const signals: unknown[] = [];
  let reservations = 0;
  const services = {
    settings: { stage: 's', gmsUrl: server, mode: 'enforce', minRetentionDays: 7, maxRunHours: 12 },
    parameters: {
      async policies() {
        world.meanwhile?.(ledger);
        return [{ name: 'P', text: JSON.stringify({ ...written, ...world.current }) }];
      },
      paused: async () => false,
      token: {},
    },
    operations: {
      async dryRun(fields: TruncateFields, { signal }: ReadOptions): Promise<DryRun> {
        moments.push(fields.endTimeMillis);
        signals.push(signal);
        if (world.isSlow) {
          if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
          throw new OperationsError({ kind: 'aborted', operation: 'dry-run' });
        }
        if (fails instanceof Error) throw fails;
        if (fails) throw new OperationsError({ kind: fails, operation: 'dry-run' });
        const rowsToDelete = fields.endTimeMillis > cutoff ? 1000 : 600;
        return { rowsToDelete, rowsTotal: 1000, strategy: 'delete-by-query', ...counts(fields, ++asked, { clock }) };
      },
      async indexSizes({ signal }: ReadOptions) {
        signals.push(signal);
        return world.sizes ?? [{ indexName: physical, entityType: 'dataset', aspect: 'operation', sizeMb: 3 }];
      },
      async truncate(fields: TruncateFields, maySend: () => boolean) {
        sent.push({ fields, maySend });
        world.onSend?.(ledger);
        return answer;
      },
    } as unknown as Operations,
    ledger: {
      ...ledger,
      async replace(...[previous, next]: Parameters<typeof ledger.replace>) {
        if (world.onReserve && ++reservations === 1) {
          world.onReserve(ledger);
          return false;
        }
        return ledger.replace(previous, next);
      },
    },
    clock: { now: () => clock.time - clock.back, realNow: () => clock.time + 7, monotonic: () => clock.time - start },
    log: { info() {}, warn() {}, error() {} },
    newId: () => 'id',
    deadline: () => deadline,
  } as unknown as RunServices;
  const before = aRunState([...others, target], { server, ...state });
  const after = await truncate(before, services);
  const entry = after.entries.at(-1)!;
  return { after, entry, ledger, moments, sent, clock, signals, record: ledger.stored.get(anIndex) as Sending };
}
export const refusal = async (world: World) => {
  const { entry, sent, record } = await started(world);
  expect(sent).toEqual([]);
  expect((record as StoredRecord | undefined)?.state ?? 'idle').toBe('idle');
  const { outcome, cause, entityType: _, aspect: __, ...facts } = (entry as DoneEntry).entry;
  return [outcome, cause, facts];
};
export const sends = async (world: World) => (await started(world)).sent.length === 1;
export const counted = { rowsTotal: 1000, rowsToDelete: 600 };
