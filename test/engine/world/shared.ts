import { randomBytes } from 'node:crypto';
import { Client } from '@opensearch-project/opensearch';
import type { TestEngine } from '../start/node.ts';
import { type ScaledClock, scaledClock } from './clock.ts';
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

/** A minute of the run takes a second. */
const factor = 60;

export async function openShared(engine: TestEngine): Promise<Shared> {
  const client = new Client({ node: engine.address, maxRetries: 0, requestTimeout: 60_000 });
  const prefix = `t${randomBytes(4).toString('hex')}`;
  const base = `${prefix}_base`;
  const clock = scaledClock(factor);
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
      if (engine.restart === undefined) throw new Error('this engine cannot be restarted');
      await engine.restart();
      await client.cluster.health({ wait_for_status: 'yellow', timeout: '60s' });
    },
    async close() {
      await client.indices.delete({ index: `${prefix}*`, ignore_unavailable: true }).catch(() => {});
      await client.close();
    },
  };
}
