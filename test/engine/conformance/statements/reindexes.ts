import type { Stage } from '../stage.ts';
import { type Statement, share, wordOf } from '../statement.ts';

/** What a reindex does: the alias first, the rows later. */

const ordinary = { profile: '0.13.2-1.1' } as const;
const reindex = { forceDeleteByQuery: undefined, forceReindex: true } as const;

export const reindexStatements: readonly Statement[] = [
  {
    name: 'after the swap and before the copy the alias counts 0',
    on: { ...ordinary, rows: 100_000 },
    says: '0 of 0, the old index keeps all, sizes name the new one alone',
    async observe(stage) {
      const before = await stage.behind();
      const task = (await stage.truncate(reindex)).text;
      const { matching, total } = await stage.counts();
      const sizes = (await stage.sizes()).map(({ name }) => name);
      const alone = sizes.length === 1 && sizes[0] === (await stage.behind()) && sizes[0] !== before;
      await stage.untilEnded(task);
      const kept = share(await stage.rowsIn(before), 100_000);
      return `${matching} of ${total}, the old index keeps ${kept}, sizes ${alone ? 'name the new one alone' : sizes.join()}`;
    },
  },
  {
    name: 'a reindex that has ended says what it created, and that is what should stay',
    on: ordinary,
    says: 'completed true, total 5000, created 5000, deleted 0; 5000 behind the alias',
    async observe(stage) {
      const task = (await stage.truncate(reindex)).text;
      await stage.untilEnded(task);
      const { completed, total, created, deleted } = await stage.status(task);
      const there = await stage.rowsIn(await stage.behind());
      return `completed ${completed}, total ${total}, created ${created}, deleted ${deleted}; ${there} behind the alias`;
    },
  },
  {
    name: 'up to 1.1, rows that no refresh has shown yet stay behind',
    on: ordinary,
    says: '5000 behind the alias',
    observe: (stage) => afterUnrefreshed(stage),
  },
  {
    name: 'from 1.2 on the source is refreshed first, and they come along',
    on: { profile: 'newest' },
    says: '5400 behind the alias',
    observe: (stage) => afterUnrefreshed(stage),
  },
  {
    name: 'a row that is written again before its copy comes is overwritten by it, and counts as updated',
    on: ordinary,
    says: '200 updated, 4800 created, 5000 behind the alias',
    async observe(stage) {
      const task = (await stage.truncate(reindex)).text;
      await stage.holdAt(task, 0.2);
      await stage.rewrite('kept', 200);
      await stage.release(task);
      await stage.untilEnded(task);
      const { updated, created } = await stage.status(task);
      return `${updated} updated, ${created} created, ${await stage.rowsIn(await stage.behind())} behind the alias`;
    },
  },
  {
    name: 'a reindex that is cancelled is completed, and rows that should stay are in the old index alone',
    on: ordinary,
    says: 'completed true, by user request or without a word, some behind the alias, all in the old index',
    async observe(stage) {
      const before = await stage.behind();
      const task = (await stage.truncate(reindex)).text;
      await stage.holdAt(task, 0.4);
      await stage.cancel(task);
      await stage.untilEnded(task);
      const { completed, canceled } = await stage.status(task);
      const there = share(await stage.rowsIn(await stage.behind()), 5000);
      const kept = share(await stage.rowsIn(before), 20_000);
      return `completed ${completed}, ${wordOf(canceled)}, ${there} behind the alias, ${kept} in the old index`;
    },
  },
  {
    name: 'without a batch size the answer is 400, after the alias has moved to an empty index',
    on: ordinary,
    says: '400 Async reindex failed, moved, 0 rows',
    observe: (stage) => refused(stage, { ...reindex, batchSize: undefined }),
  },
  {
    name: '1.2.0 to 1.5.0: so it is with one',
    on: { profile: '1.2-1.5' },
    says: '400 Async reindex failed, moved, 0 rows',
    observe: (stage) => refused(stage, reindex),
  },
  {
    name: 'an index that is no alias is refused with 400, and nothing changes',
    on: { ...ordinary, aliased: false },
    says: '400 Async reindex failed; 15000 of 20000',
    async observe(stage) {
      const { status, text } = await stage.truncate(reindex);
      const { matching, total } = await stage.counts();
      return `${status} ${text}; ${matching} of ${total}`;
    },
  },
  {
    name: 'a batch above 10,000 is accepted, completes with nothing done, and the alias is on an empty index',
    on: ordinary,
    says: 'completed true, total 0, created 0; 0 behind the alias',
    async observe(stage) {
      const task = (await stage.truncate({ ...reindex, batchSize: 10_001 })).text;
      await stage.untilEnded(task);
      const { completed, total, created } = await stage.status(task);
      const there = await stage.rowsIn(await stage.behind());
      return `completed ${completed}, total ${total}, created ${created}; ${there} behind the alias`;
    },
  },
  {
    name: 'a second reindex during the copy leaves behind what the first one copies later',
    on: ordinary,
    says: 'some behind the alias',
    async observe(stage) {
      const first = (await stage.truncate(reindex)).text;
      await stage.holdAt(first, 0.3);
      await stage.refresh();
      const second = (await stage.truncate(reindex)).text;
      await stage.untilEnded(second);
      await stage.release(first);
      await stage.untilEnded(first);
      return `${share(await stage.rowsIn(await stage.behind()), 5000)} behind the alias`;
    },
  },
  {
    name: 'a row without a timestamp is dropped by a reindex',
    on: ordinary,
    says: '5000 behind the alias',
    async observe(stage) {
      await stage.addWithoutTimestamp(7);
      await stage.refresh();
      const task = (await stage.truncate(reindex)).text;
      await stage.untilEnded(task);
      return `${await stage.rowsIn(await stage.behind())} behind the alias`;
    },
  },
  {
    name: 'the newest leave the index without refreshes: NaN until someone refreshes',
    on: { profile: 'newest' },
    says: '0 out of 0 rows (NaN%), then 0 out of 5000 rows (0.00%)',
    async observe(stage) {
      const task = (await stage.truncate(reindex)).text;
      await stage.untilEnded(task);
      await stage.pass(4000);
      const hidden = (await stage.truncate({ dryRun: true })).text;
      await stage.refresh();
      const shown = (await stage.truncate({ dryRun: true })).text;
      return [hidden, shown].map((text) => /\d+ out of \d+ rows \([^)]*\)/.exec(text)?.[0]).join(', then ');
    },
  },
  {
    name: 'a copy in slices reports zeros for most of its time, and slices that are not there yet',
    on: { profile: 'newest', shards: 3, tuned: false, rows: 100_000 },
    says: 'completed false, total 0, created 0, slices null null null; at the end created 25000',
    async observe(stage) {
      const task = (await stage.truncate(reindex)).text;
      let seen = await stage.status(task);
      for (; seen.slices === undefined && !seen.completed; seen = await stage.status(task)) await stage.pass(10);
      const { completed, total, created, slices = [] } = seen;
      await stage.untilEnded(task);
      const { created: atTheEnd } = await stage.status(task);
      return `completed ${completed}, total ${total}, created ${created}, slices ${slices.map(String).join(' ')}; at the end created ${atTheEnd}`;
    },
  },
  {
    name: 'the alias can be led back to the old index, which has every row',
    on: ordinary,
    says: '15000 of 20000',
    async observe(stage) {
      const before = await stage.behind();
      await stage.truncate({ ...reindex, batchSize: undefined });
      await stage.pointAlias(before);
      const { matching, total } = await stage.counts();
      return `${matching} of ${total}`;
    },
  },
];

/** 400 rows are written and not refreshed, then a reindex copies. */
async function afterUnrefreshed(stage: Stage): Promise<string> {
  await stage.refreshing(false);
  await stage.add(400);
  const task = (await stage.truncate(reindex)).text;
  await stage.untilEnded(task);
  return `${await stage.rowsIn(await stage.behind())} behind the alias`;
}

async function refused(stage: Stage, fields: Record<string, unknown>): Promise<string> {
  const before = await stage.behind();
  const { status, text } = await stage.truncate(fields);
  const after = await stage.behind();
  return `${status} ${text}, ${after === before ? 'not moved' : 'moved'}, ${await stage.rowsIn(after)} rows`;
}
