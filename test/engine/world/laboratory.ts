import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@opensearch-project/opensearch';
import type { TestEngine } from '../start/node.ts';
import type { ScaledClock } from './clock.ts';
import { loadBase } from './rows.ts';

/** What all cases share: the engine, the loaded rows, the clock, a folder. */
export interface Laboratory {
  client: Client;
  address: string;
  /** Random, so that no existing index matches. */
  prefix: string;
  /** The index of which the cases' indices are clones. */
  base: string;
  /** When the rows were loaded, by the run's clock. */
  loadedAt: number;
  clock: ScaledClock;
  folder: string;
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** A minute of the run takes a second. */
const factor = 60;

export async function openLaboratory(engine: TestEngine): Promise<Laboratory> {
  const client = new Client({ node: engine.address, maxRetries: 0, requestTimeout: 60_000 });
  const prefix = `t${randomBytes(4).toString('hex')}`;
  const base = `${prefix}_base`;
  const folder = await mkdtemp(join(tmpdir(), 'retention-engine-runs-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const clock = { origin: Date.now(), factor };
  await loadBase(client, base, clock.origin);
  return {
    client,
    address: engine.address,
    prefix,
    base,
    loadedAt: clock.origin,
    clock,
    folder,
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
