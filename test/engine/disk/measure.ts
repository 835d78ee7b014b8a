import type { Client } from '@opensearch-project/opensearch';
import { table } from '../../../cli/screen/table.ts';
import { mappings, write } from '../world/rows.ts';
import type { Shared } from '../world/shared.ts';
import { untilEnded } from '../world/tasks.ts';

/** What a delete by query does to the disk space of an index: measured, because no answer of DataHub shows it. */

export interface DiskRow {
  share: number;
  order: Order;
  /** Bytes of primaries: before, after the delete, once no merge has been seen for a minute, and after the expunge. */
  before: number;
  deleted: number;
  settled: number;
  expunged: number;
  /** Share of deleted documents once no merge has been seen for a minute. */
  deadShare: number;
}

/** How old and young rows lie in the index: in order of arrival, or mixed, as if usage is written again and again. */
type Order = 'as they came in' | 'mixed';

const rowsOfEach = 100_000;
/** Epoch milliseconds: a number of four digits would be taken for a year. */
const oldest = 1_700_000_000_000;
const bulkRows = 10_000;
const shares = [0.1, 0.3, 0.75];
const orders: readonly Order[] = ['as they came in', 'mixed'];
/** If there is no merge for this long, merging counts as finished. */
const quietMillis = 60_000;

export async function measureDisk({ client, prefix }: Shared): Promise<DiskRow[]> {
  const kinds = orders.flatMap((order) => shares.map((share) => ({ order, share })));
  const indices = kinds.map((kind, number) => ({ ...kind, index: `${prefix}disk${number}` }));
  for (const { index, order } of indices) await load(client, index, order);
  const before = await sizes(client, `${prefix}disk*`);
  for (const { index, share } of indices) {
    const range = { timestampMillis: { lte: oldest + rowsOfEach * share - 1 } };
    const { body } = await client.deleteByQuery({
      index,
      wait_for_completion: false,
      conflicts: 'proceed',
      scroll_size: 10_000,
      body: { query: { bool: { filter: [{ range }] } } },
    });
    await untilEnded(client, String((body as { task?: string }).task));
  }
  const deleted = await sizes(client, `${prefix}disk*`);
  await untilQuiet(client, `${prefix}disk*`);
  const settled = await sizes(client, `${prefix}disk*`);
  const expunged = await expunge(client, `${prefix}disk*`);
  return indices.map(({ index, order, share }) => ({
    share,
    order,
    before: before.get(index)!.bytes,
    deleted: deleted.get(index)!.bytes,
    settled: settled.get(index)!.bytes,
    expunged: expunged.get(index)!.bytes,
    deadShare: settled.get(index)!.deadShare,
  }));
}

/** Loads rows that are a millisecond apart, in one order or the other, into an index that refreshes as DataHub's do. */
async function load(client: Client, index: string, order: Order): Promise<void> {
  const settings = { index: { number_of_shards: 1, number_of_replicas: 0, refresh_interval: '3s' } };
  await client.indices.create({ index, body: { mappings, settings } as never });
  // A prime that does not divide the number of rows: every row once, far from its neighbours.
  const place = (row: number) => (order === 'mixed' ? (row * 7919) % rowsOfEach : row);
  for (let first = 0; first < rowsOfEach; first += bulkRows) {
    const timestamps = Array.from({ length: bulkRows }, (_, row) => oldest + place(first + row));
    await write(client, index, timestamps, 'loaded', first);
  }
  await client.indices.flush({ index });
}

async function sizes(client: Client, index: string): Promise<Map<string, { bytes: number; deadShare: number }>> {
  await client.indices.refresh({ index });
  const { body } = await client.indices.stats({ index, metric: ['store', 'docs'] });
  return new Map(
    Object.entries(body.indices ?? {}).map(([name, { primaries }]) => {
      const { count = 0, deleted = 0 } = primaries?.docs ?? {};
      return [name, { bytes: Number(primaries?.store?.size_in_bytes ?? 0), deadShare: deleted / (count + deleted) }];
    }),
  );
}

/**
 * The engine keeps recent deletions for copies of a shard that may have missed them, until the shard's retention leases
 * have moved past them: they are renewed by a flush and a sync every 30 s. An expunge before that gives nothing back.
 */
const leasesMillis = 70_000;

async function expunge(client: Client, index: string): Promise<Awaited<ReturnType<typeof sizes>>> {
  await client.indices.flush({ index });
  await new Promise((resolve) => setTimeout(resolve, leasesMillis));
  const { body } = await client.indices.forcemerge({ index, only_expunge_deletes: true });
  const { _shards: shards } = body as { _shards?: { failed: number } };
  if (shards?.failed) throw new Error(`expunging failed: ${JSON.stringify(shards)}`);
  return sizes(client, index);
}

/** @throws if merges continue for a quarter of an hour */
async function untilQuiet(client: Client, index: string): Promise<void> {
  let last = '';
  let quietSince = Date.now();
  for (const end = Date.now() + 900_000; Date.now() < end; ) {
    const { body } = await client.indices.stats({ index, metric: 'merge' });
    const { total = 0, current = 0 } = body._all?.primaries?.merges ?? {};
    const now = `${total} ${current}`;
    if (now !== last || current > 0) quietSince = Date.now();
    if (Date.now() - quietSince >= quietMillis) return;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  throw new Error('the search engine does not stop merging');
}

/**
 * Segments of which a tenth or less is deleted are left alone (`index.merge.policy.expunge_deletes_allowed`), and some of
 * the others may keep their deletions for a while, for copies that may have missed them: not every index gives all its
 * space back at once. If none did, the runbook's advice would be wrong.
 */
export function problemsOf(rows: readonly DiskRow[]): string[] {
  const asked = rows.filter(({ share }) => share > 0.1);
  const helps = asked.some(({ share, before, expunged }) => expunged <= before * (1 - share / 3));
  return asked.length === 0 || helps ? [] : ['expunging has given no space back'];
}

export const diskTable = (rows: readonly DiskRow[]): string =>
  table(
    [
      { title: 'deleted', align: 'right' },
      { title: 'rows lie' },
      { title: 'before', align: 'right' },
      { title: 'after the delete', align: 'right' },
      { title: 'no merge for 60 s', align: 'right' },
      { title: 'of it deleted', align: 'right' },
      { title: 'after expunging', align: 'right' },
    ],
    rows.map(({ share, order, before, deleted, settled, deadShare, expunged }) => [
      `${share * 100} %`,
      order,
      `${(before / 1e6).toFixed(1)} MB`,
      percent(deleted, before),
      percent(settled, before),
      `${(deadShare * 100).toFixed(0)} %`,
      percent(expunged, before),
    ]),
  );

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(0)} %`;
