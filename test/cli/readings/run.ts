import type { ServerProfile } from '../../../cli/embedded-service/server-profile.ts';
import { startOperationsService } from '../../../cli/embedded-service/service.ts';
import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import { createOperations } from '../../../lambda/gms/http/http-operations.ts';
import { createHttpTransport } from '../../../lambda/gms/http/http-transport.ts';
import { fixedIdentity } from '../../../lambda/gms/identity.ts';
import type { DecidedIndex, Report, ReportData } from '../../../lambda/model/report-schema.ts';
import { executeSteps, takeStep } from '../../support/steps.ts';

/** One whole run against one reading of the specification: the workflow file, real HTTP, virtual time. */

const dayMillis = 86_400_000;
/** 2026-11-02T03:30:00Z: the service's `Date` has whole seconds, and so has this. */
const startMillis = 1_793_590_200_000;

export interface Ran {
  outcome: string;
  cause: string;
  result: string;
  rowsBefore: number;
  rowsAfter: number;
  requests: number;
  /** Requests with the field that the specification does not name. */
  withForceField: number;
  /** State of the ledger record afterwards; undefined if nothing was sent. */
  record: string | undefined;
  /** The entry says that it is a reindex. */
  reindexes: boolean;
  entry: DecidedIndex;
  /** Outcome of the second index. */
  second: string | undefined;
}

export interface Wanted {
  /** Rows older than thirty days, and younger ones. */
  old?: number;
  young?: number;
  /** Rows that are written while the truncation runs. */
  written?: number;
  policy?: Record<string, unknown>;
  /** Milliseconds by which the run's clock is past a whole second. */
  offset?: number;
  /** Of the address, before `/operations`. */
  prefix?: string;
  /** A second, larger index has a policy, too. */
  second?: boolean;
}

export async function runAgainst(reading: Partial<ServerProfile>, wanted: Wanted = {}): Promise<Ran> {
  const { old = 5000, young = 5000, written = 0, policy = {}, offset = 0, prefix = '/gms', second } = wanted;
  let now = startMillis + offset;
  const clock = { now: () => now, monotonic: () => now, sleep: async () => {} };
  const ages = [...spread(old, 40, 60), ...spread(young, 8, 29)];
  const aspects = ['operation', ...(second ? ['datasetProfile'] : [])];
  const indices = aspects.map((aspect, place) => ({
    entityType: 'dataset',
    aspect,
    timestamps: ages.flatMap((days) => Array<number>(place + 1).fill(now - days * dayMillis)),
  }));
  const {
    url,
    token,
    requests,
    rows: rowsOf,
    close,
  } = await startOperationsService({ profile: reading, clock, indices });
  const rows = () => rowsOf('dataset', 'operation');
  const transport = createHttpTransport();
  try {
    const identity = fixedIdentity({ token });
    const gmsUrl = `${url}${prefix}`;
    const sleep = async () => undefined;
    const ledger = memoryLedger();
    const policies = aspects.map((aspect) => ({
      name: aspect,
      text: JSON.stringify({ entityType: 'dataset', aspect, retentionDays: 30, ...policy }),
    }));
    const published: Report[] = [];
    const services: Parameters<typeof takeStep>[2] = {
      settings: { stage: 'test', gmsUrl, mode: 'enforce', minRetentionDays: 7, maxRunHours: 12 },
      parameters: { policies: async () => policies, paused: async () => false, identity },
      operations: createOperations({ baseUrl: gmsUrl, identity, transport, realNow: clock.now, sleep }),
      ledger,
      clock,
      log: { info() {}, warn() {}, error() {} },
      deadline: () => now + 900_000,
      publisher: {
        async publish(one) {
          published.push(one);
          return true;
        },
      },
      // The facts are what is asserted; their English is tested as a table.
      addSentences: (facts) => facts as unknown as Report,
    };
    const rowsBefore = rows()?.total ?? 0;
    const take: Parameters<typeof executeSteps>[0] = async (step, event) => {
      const returned = await takeStep(step, event, services);
      if (step === 'truncate') rows()?.add(Array.from({ length: written }, (_, row) => now + row));
      return returned;
    };
    await executeSteps(take, {
      input: { mode: 'enforce' },
      startTime: new Date(now).toISOString(),
      async sleep(millis) {
        now += millis;
      },
    });
    const facts = published[0] as unknown as ReportData;
    const [entry, other] = facts.policies as [DecidedIndex, DecidedIndex | undefined];
    return {
      outcome: entry.outcome,
      cause: entry.cause.kind,
      result: facts.result,
      rowsBefore,
      rowsAfter: rows()?.total ?? 0,
      requests: requests.length,
      withForceField: requests.filter(({ body }) => Object.hasOwn(body as object, 'forceDeleteByQuery')).length,
      record: (await ledger.list())[0]?.state,
      reindexes: entry.method === 'reindex',
      entry,
      second: other?.outcome,
    };
  } finally {
    await transport.close();
    await close();
  }
}

/** Ages in days, spread evenly. */
const spread = (rows: number, from: number, until: number): number[] =>
  Array.from({ length: rows }, (_, row) => from + ((until - from) * (row + 0.5)) / rows);
