import type { ServerProfile } from '../../../cli/embedded-service/server-profile.ts';
import { startOperationsService } from '../../../cli/embedded-service/service.ts';
import type { PolicyEntry } from '../../../lambda/model/report-schema.ts';
import { createWorld } from '../../support/world.ts';

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
  entry: PolicyEntry;
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
}

export async function runAgainst(reading: Partial<ServerProfile>, wanted: Wanted = {}): Promise<Ran> {
  const { old = 5000, young = 5000, written = 0, policy = {}, offset = 0, prefix = '/gms' } = wanted;
  const clock = { time: startMillis + offset, unseen: 0 };
  const timestamps = [...spread(old, 40, 60), ...spread(young, 8, 29)].map((days) => clock.time - days * dayMillis);
  const name = { entityType: 'dataset', aspect: 'operation' };
  const indices = [{ ...name, timestamps }];
  const service = await startOperationsService({ profile: reading, clock: { now: () => clock.time }, indices });
  const { url, token, requests, close } = service;
  const rows = () => service.rows('dataset', 'operation');
  const world = await createWorld({
    clock,
    gms: { url: `${url}${prefix}`, token },
    policies: [{ ...name, retentionDays: 30, ...policy }],
  });
  try {
    const rowsBefore = rows()?.total ?? 0;
    const { report } = await world.run({
      onStep(step, hasEnded) {
        if (step === 'truncate' && hasEnded) rows()?.add(Array.from({ length: written }, (_, row) => clock.time + row));
      },
    });
    const [entry] = report?.policies ?? [];
    if (!report || !entry) throw new Error('the run has reported nothing');
    return {
      outcome: entry.outcome,
      cause: entry.cause.kind,
      result: report.result,
      rowsBefore,
      rowsAfter: rows()?.total ?? 0,
      requests: requests.length,
      withForceField: requests.filter(({ body }) => Object.hasOwn(body as object, 'forceDeleteByQuery')).length,
      record: (await world.ledger.list())[0]?.state,
      reindexes: entry.method === 'reindex',
      entry,
    };
  } finally {
    await world.close();
    await close();
  }
}

/** Ages in days, spread evenly. */
const spread = (rows: number, from: number, until: number): number[] =>
  Array.from({ length: rows }, (_, row) => from + ((until - from) * (row + 0.5)) / rows);
