import type { Reading } from '../../../cli/operations-service/reading.ts';
import { startOperationsService } from '../../../cli/operations-service/server.ts';
import { memoryLedger } from '../../../lambda/ledger/memory.ts';
import type { StoredRecord } from '../../../lambda/ledger/record.ts';
import { createOperations } from '../../../lambda/operations/http/http-operations.ts';
import { createHttpTransport } from '../../../lambda/operations/http/http-transport.ts';
import { plan } from '../../../lambda/run/plan/plan.ts';
import { poll } from '../../../lambda/run/poll.ts';
import { composeReport } from '../../../lambda/run/report.ts';
import type { RunServices } from '../../../lambda/run/services.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import { truncate } from '../../../lambda/run/truncate.ts';

/** One whole run against one reading of the specification: real HTTP, virtual time. */

const dayMillis = 86_400_000;
/** 2026-11-02T03:30:00Z: the service's `Date` has whole seconds, and so has this. */
const startMillis = 1_793_590_200_000;

export interface Ran {
  outcome: string;
  cause: string;
  rowsBefore: number;
  rowsAfter: number;
  requests: number;
  /** State of the ledger record afterwards; undefined if nothing was sent. */
  record: string | undefined;
  copies: boolean | undefined;
  state: RunState;
}

export interface Wanted {
  /** Rows older than thirty days, and younger ones. */
  old?: number;
  young?: number;
  policy?: Record<string, unknown>;
  /** Milliseconds by which the run's clock is past a whole second. */
  offset?: number;
}

export async function runAgainst(reading: Partial<Reading>, wanted: Wanted = {}): Promise<Ran> {
  const { old = 5000, young = 5000, policy = {}, offset = 0 } = wanted;
  let now = startMillis + offset;
  const clock = { now: () => now, monotonic: () => now };
  const ages = [...spread(old, 40, 60), ...spread(young, 8, 29)];
  const indices = [
    { entityType: 'dataset', aspect: 'operation', timestamps: ages.map((days) => now - days * dayMillis) },
  ];
  const { url, token, service, close } = await startOperationsService({ reading, clock, indices });
  const transport = createHttpTransport();
  try {
    const source = { get: async () => token, reread: async () => token };
    const operations = createOperations({
      baseUrl: `${url}/gms`,
      token: source,
      transport,
      realNow: clock.now,
      sleep: async () => undefined,
    });
    const ledger = memoryLedger();
    const text = JSON.stringify({ entityType: 'dataset', aspect: 'operation', retentionDays: 30, ...policy });
    const services: RunServices = {
      settings: { stage: 'test', gmsUrl: `${url}/gms`, mode: 'enforce', minRetentionDays: 7, maxRunHours: 12 },
      parameters: { policies: async () => [{ name: 'policy', text }], paused: async () => false, token: source },
      operations,
      ledger,
      clock,
      log: { info() {}, warn() {}, error() {} },
      deadline: () => now + 900_000,
    };
    const rows = () => service.rows('dataset', 'operation')?.total ?? 0;
    const rowsBefore = rows();
    const execution = { name: 'run', startTime: new Date(now).toISOString() };
    let state = await plan({ input: {}, execution }, services);
    while (state.next !== 'report') {
      const asJson = JSON.parse(JSON.stringify(state)) as RunState;
      if (state.next === 'wait') now += state.waitSeconds * 1000;
      state = await (state.next === 'wait' ? poll(asJson, services) : truncate(asJson, services));
    }
    const report = composeReport({ input: state, execution }, { ...services, words: (facts) => facts as never });
    const [entry] = report.policies;
    const record = (await ledger.list())[0] as StoredRecord | undefined;
    return {
      outcome: entry?.outcome ?? 'none',
      cause: entry?.cause.kind ?? 'none',
      rowsBefore,
      rowsAfter: rows(),
      requests: service.asked.length,
      record: record?.state,
      copies: entry?.copies,
      state,
    };
  } finally {
    await transport.close();
    await close();
  }
}

/** Ages in days, spread evenly. */
const spread = (rows: number, from: number, until: number): number[] =>
  Array.from({ length: rows }, (_, row) => from + ((until - from) * (row + 0.5)) / rows);
