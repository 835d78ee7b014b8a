import type { Client } from '@opensearch-project/opensearch';
import { table } from '../../../cli/outputs/table.ts';
import { commandsOf } from '../../pages/commands.ts';
import { mappings, write } from '../world/rows.ts';
import type { Shared } from '../world/shared.ts';
import { untilEnded } from '../world/tasks.ts';

/** What a delete by query does to the disk space of an index: measured, because no answer of DataHub shows it. */

export interface DiskRow {
  /** Of its rows that were deleted. */
  share: number;
  /** Bytes of primaries: before, after the delete, after a flush and the wait, and after the expunge. */
  bytes: [before: number, deleted: number, waited: number, expunged: number];
}

const rowsOfEach = 100_000;
/** Epoch milliseconds: a number of four digits would be taken for a year. */
const oldest = 1_700_000_000_000;
const bulkRows = 10_000;
const shares = [0.1, 0.3, 0.75];
/**
 * The engine keeps recent deletions for reindexes of a shard that may have missed them, until the shard's retention leases
 * have moved past them: after a flush, and a sync every 30 s. An expunge before that gives nothing back.
 */
const leasesMillis = 70_000;
const filesMillis = 35_000;

export async function measureDisk({ client, prefix }: Shared): Promise<DiskRow[]> {
  const indices = shares.map((share, number) => ({ share, index: `${prefix}disk${number}` }));
  const all = `${prefix}disk*`;
  for (const { index } of indices) await load(client, index);
  const measured = [await sizes(client, all)];
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
  measured.push(await sizes(client, all));
  const [list, flush, flushAgain, expunge] = stepsOfThePage(all);
  await ask(client, list!);
  await ask(client, flush!);
  await new Promise((resolve) => setTimeout(resolve, leasesMillis));
  measured.push(await sizes(client, all));
  // What a shard keeps is counted from its last commit: the leases have moved, and only another flush says so.
  await ask(client, flushAgain!);
  await ask(client, expunge!);
  // The files of the old segments go a while after the merge.
  await new Promise((resolve) => setTimeout(resolve, filesMillis));
  measured.push(await sizes(client, all));
  return indices.map(({ index, share }) => {
    return { share, bytes: measured.map((found) => found.get(index) ?? 0) as DiskRow['bytes'] };
  });
}

/** The requests of docs/operate.md, for these indices: list, flush, flush again, expunge. */
const stepsOfThePage = (index: string): string[] =>
  commandsOf('docs/operate.md').flatMap(({ heading, text }) =>
    heading === 'Get disk space back' && /^(?:GET|POST) /.test(text)
      ? text.replace(/\*?dataset_operationaspect_v1\*?/, index)
      : [],
  );

/** @throws what a shard refuses */
async function ask(client: Client, request: string): Promise<void> {
  const [method, path] = request.split(' ') as [string, string];
  const { body } = await client.transport.request({ method, path: path.replace(/^\/?/, '/') });
  const { _shards: shards } = body as { _shards?: { failed: number } };
  if (shards?.failed) throw new Error(`${request} failed: ${JSON.stringify(shards)}`);
}

/**
 * Loads rows that are a millisecond apart into an index that refreshes as DataHub's do. Old and young ones lie mixed, as
 * if usage is written again and again.
 */
async function load(client: Client, index: string): Promise<void> {
  const settings = { index: { number_of_shards: 1, number_of_replicas: 0, refresh_interval: '3s' } };
  await client.indices.create({ index, body: { mappings, settings } as never });
  // A prime that does not divide the number of rows: every row once, far from its neighbours.
  const place = (row: number) => (row * 7919) % rowsOfEach;
  for (let first = 0; first < rowsOfEach; first += bulkRows) {
    const timestamps = Array.from({ length: bulkRows }, (_, row) => oldest + place(first + row));
    await write(client, index, timestamps, 'loaded', first);
  }
  await client.indices.flush({ index });
}

/** Bytes of primaries of each index. */
async function sizes(client: Client, index: string): Promise<Map<string, number>> {
  await client.indices.refresh({ index });
  const { body } = await client.indices.stats({ index, metric: 'store' });
  const found = Object.entries(body.indices ?? {});
  return new Map(found.map(([name, { primaries }]) => [name, Number(primaries?.store?.size_in_bytes ?? 0)]));
}

/**
 * Segments of which a tenth or less is deleted are left alone (`index.merge.policy.expunge_deletes_allowed`). If no other
 * index gave space back, the runbook's advice would be wrong.
 */
export function problemsOf(rows: readonly DiskRow[]): string[] {
  const asked = rows.filter(({ share }) => share > 0.1);
  const helps = asked.some(({ share, bytes: [before, , , expunged] }) => expunged <= before * (1 - share / 3));
  return asked.length === 0 || helps ? [] : ['expunging has given no space back'];
}

export const diskTable = (rows: readonly DiskRow[]): string =>
  table(
    [
      { title: 'deleted', align: 'right' },
      { title: 'before', align: 'right' },
      { title: 'after the delete', align: 'right' },
      { title: '70 s after a flush', align: 'right' },
      { title: 'after expunging', align: 'right' },
    ],
    rows.map(({ share, bytes: [before, ...later] }) => [
      `${share * 100} %`,
      `${(before / 1e6).toFixed(1)} MB`,
      ...later.map((bytes) => `${((100 * bytes) / before).toFixed(0)} %`),
    ]),
  );
