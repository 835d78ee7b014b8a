import type { Client } from '@opensearch-project/opensearch';

/** The rows with which every case begins, and what became of them. */

export const rowCount = 200_000;
/** Age of the oldest row in days; the newest is from the moment of loading. Three quarters are older than the retention. */
const oldestDays = 120;
export const retentionDays = 30;

const dayMillis = 86_400_000;
const bulkRows = 10_000;

export const mappings = {
  properties: {
    timestampMillis: { type: 'date' },
    '@timestamp': { type: 'date' },
    urn: { type: 'keyword' },
    /** `loaded`, or `ingested` while a case ran. */
    origin: { type: 'keyword' },
    /** Some payload, like that of a usage event. */
    event: { type: 'object', enabled: false },
  },
} as const;

const timestampOf = (row: number, loadedAt: number): number =>
  Math.floor(loadedAt - oldestDays * dayMillis * (1 - (row + 0.5) / rowCount));

/** Loads the index of which the cases' indices are clones, and blocks writes to it. */
export async function loadBase(client: Client, index: string, loadedAt: number): Promise<void> {
  const settings = { index: { number_of_shards: 1, number_of_replicas: 0, refresh_interval: '-1' } };
  await client.indices.create({ index, body: { mappings, settings } as never });
  for (let first = 0; first < rowCount; first += bulkRows) {
    const timestamps = Array.from({ length: bulkRows }, (_, row) => timestampOf(first + row, loadedAt));
    await write(client, index, timestamps, 'loaded', first);
  }
  await client.indices.refresh({ index });
  await client.indices.forcemerge({ index, max_num_segments: 4 });
  await client.indices.putSettings({ index, body: { index: { blocks: { write: true } } } as never });
}

/** Writes rows as GMS does: no refresh. Ids are `<origin>-<number>`; the same id again replaces a row. */
export async function write(
  client: Client,
  index: string,
  timestamps: readonly number[],
  origin: 'loaded' | 'ingested',
  firstId: number,
): Promise<void> {
  const body = timestamps.flatMap((timestampMillis, row) => {
    const id = `${origin}-${firstId + row}`;
    const event = { actor: `urn:li:corpuser:user${row % 97}`, queries: ['select 1', `select ${row % 1000}`] };
    return [
      { index: { _id: id } },
      {
        timestampMillis,
        '@timestamp': timestampMillis,
        urn: `urn:li:dataset:(urn:li:dataPlatform:hive,table${row % 500},PROD)`,
        origin,
        event,
      },
    ];
  });
  const { body: answer } = await client.bulk({ index, body: body as never });
  if (answer.errors) throw new Error(`rows were not written: ${JSON.stringify(answer.items[0])}`);
}

/** Creates a case's index with hard links to the base, so that nothing is loaded twice. */
export async function cloneBase(
  client: Client,
  base: string,
  index: string,
  { shards, replicas, refreshInterval }: { shards: number; replicas: number; refreshInterval: string },
): Promise<void> {
  const settings = {
    'index.number_of_shards': shards,
    'index.number_of_replicas': replicas,
    'index.refresh_interval': refreshInterval,
    'index.blocks.write': null,
  };
  const given = { index: base, target: index, wait_for_active_shards: '1', body: { settings } as never };
  if (shards === 1) await client.indices.clone(given);
  else await client.indices.split(given);
  await client.cluster.health({ index, wait_for_status: replicas === 0 ? 'green' : 'yellow', timeout: '30s' });
}

/** What an index holds, once everything in it is visible. */
export interface Holdings {
  /** Loaded rows up to the cutoff, and after it. */
  old: number;
  kept: number;
  ingested: number;
}

export async function holdings(client: Client, index: string, cutoffMillis: number): Promise<Holdings> {
  const { statusCode } = await client.indices.refresh({ index }, { ignore: [404] });
  return statusCode === 404 ? { old: 0, kept: 0, ingested: 0 } : counted(client, index, cutoffMillis);
}

/** The same as the job counts: what a search finds a second later, not what a refresh of ours would show. */
export async function rowsFound(client: Client, index: string, cutoffMillis: number): Promise<Holdings> {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return counted(client, index, cutoffMillis);
}

async function counted(client: Client, index: string, cutoffMillis: number): Promise<Holdings> {
  const count = async (origin: string, range?: object): Promise<number> => {
    const filter = [{ term: { origin } }, ...(range ? [{ range: { timestampMillis: range } }] : [])];
    return (await client.count({ index, body: { query: { bool: { filter } } } as never })).body.count;
  };
  return {
    old: await count('loaded', { lte: cutoffMillis }),
    kept: await count('loaded', { gt: cutoffMillis }),
    ingested: await count('ingested'),
  };
}

/** How many of the loaded rows are newer than the cutoff. */
export function loadedAfter(cutoffMillis: number, loadedAt: number): number {
  let kept = 0;
  for (let row = 0; row < rowCount; row++) if (timestampOf(row, loadedAt) > cutoffMillis) kept++;
  return kept;
}
