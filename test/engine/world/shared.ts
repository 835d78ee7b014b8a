import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from '@opensearch-project/opensearch';
import type { Clock } from '../../../lambda/truncation/clock.ts';
import type { TestEngine } from '../start/node.ts';
import { loadBase } from './rows.ts';

/** What all cases share: the engine, the loaded rows and the clock. */
export interface Shared {
  client: Client;
  address: string;
  /** Random, so that no existing index matches. */
  prefix: string;
  /** The index of which the cases' indices are clones. */
  base: string;
  /** When the rows were loaded, by the run's clock. */
  loadedAt: number;
  clock: ScaledClock;
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function openShared(engine: TestEngine): Promise<Shared> {
  // A refresh waits a minute for a shard that is away.
  const client = new Client({ node: engine.address, maxRetries: 0, requestTimeout: 120_000 });
  const prefix = `t${randomBytes(4).toString('hex')}`;
  const base = `${prefix}_base`;
  const clock = scaledClock();
  const loadedAt = clock.now();
  await loadBase(client, base, loadedAt);
  return {
    client,
    address: engine.address,
    prefix,
    base,
    loadedAt,
    clock,
    async restart() {
      await engine.restart();
      await client.cluster.health({ wait_for_status: 'yellow', timeout: '60s' });
    },
    async close() {
      await client.indices.delete({ index: `${prefix}*`, ignore_unavailable: true }).catch(() => {});
      await client.close();
    },
  };
}

/**
 * The scaled clock: a minute of the run is a second of the machine, so that waits of minutes take seconds. Time is not
 * skipped as under `--fast`, because the search engine's time is real: what takes it a second must be a minute to the
 * run. Time-outs of requests stay real, because the server is.
 */
export interface ScaledClock extends Clock {
  /** Waits for this many milliseconds of the run. */
  sleep(millis: number): Promise<void>;
}

/** Milliseconds of the run in one of the machine. */
const factor = 60;

function scaledClock(): ScaledClock {
  const origin = Date.now();
  const began = performance.now();
  return {
    now: () => Math.floor(origin + (Date.now() - origin) * factor),
    monotonic: () => (performance.now() - began) * factor,
    sleep: (millis) => wait(millis / factor),
  };
}
