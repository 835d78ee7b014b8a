import { type Statement, share, wordOf } from '../statement.ts';

/** What a delete-by-query does, row by row and look by look. */

const ordinary = { profile: '0.13.2-1.1' } as const;

export const deleteStatements: readonly Statement[] = [
  {
    name: 'at first a running delete may report zeros, its total too',
    on: { ...ordinary, rows: 100_000 },
    says: 'completed false, total 0 or 75000, not all deleted; later total 75000',
    async observe(stage) {
      const task = (await stage.truncate()).text;
      // The first search may take milliseconds or half a second.
      const { completed, total, deleted } = await stage.status(task);
      await stage.holdAt(task, 0.01);
      const first = total === 0 || total === 75_000 ? '0 or 75000' : total;
      const all = deleted < 75_000 ? 'not all' : 'all';
      return `completed ${completed}, total ${first}, ${all} deleted; later total ${(await stage.status(task)).total}`;
    },
  },
  {
    name: 'a delete that has ended says how many it deleted, in how many batches',
    on: ordinary,
    says: 'completed true, total 15000, deleted 15000, created 0, 30 batches; 5000 left',
    async observe(stage) {
      const task = (await stage.truncate()).text;
      await stage.untilEnded(task);
      const { completed, total, deleted, created, batches } = await stage.status(task);
      const left = await stage.rowsIn(await stage.behind());
      return `completed ${completed}, total ${total}, deleted ${deleted}, created ${created}, ${batches} batches; ${left} left`;
    },
  },
  {
    name: 'the status holds these members',
    on: ordinary,
    says: 'batches created deleted noops requests_per_second=-1.0 retries throttled_millis throttled_until_millis total updated version_conflicts',
    async observe(stage) {
      const task = (await stage.truncate()).text;
      await stage.untilEnded(task);
      const { status } = JSON.parse(await stage.statusText(task)) as { status: string };
      const rate = /"requests_per_second":([-\d.]+)/.exec(status)?.[1];
      const names = Object.keys(JSON.parse(status) as object).sort();
      return names.map((name) => (name === 'requests_per_second' ? `${name}=${rate}` : name)).join(' ');
    },
  },
  {
    name: 'counts do not move until the index is refreshed',
    on: ordinary,
    says: '15000 of 20000 before a refresh, 0 of 5000 after it',
    async observe(stage) {
      await stage.refreshing(false);
      const task = (await stage.truncate()).text;
      await stage.untilEnded(task);
      const before = await stage.counts();
      await stage.refresh();
      const after = await stage.counts();
      return `${before.matching} of ${before.total} before a refresh, ${after.matching} of ${after.total} after it`;
    },
  },
  {
    name: 'by itself the refresh comes within some seconds',
    on: ordinary,
    says: '0 of 5000',
    async observe(stage) {
      const task = (await stage.truncate()).text;
      await stage.untilEnded(task);
      await stage.pass(4000);
      const { matching, total } = await stage.counts();
      return `${matching} of ${total}`;
    },
  },
  {
    name: 'a delete that is cancelled is completed, and nearly always says so',
    on: ordinary,
    says: 'completed true, by user request or without a word, some deleted, as many rows gone',
    async observe(stage) {
      const task = (await stage.truncate()).text;
      await stage.holdAt(task, 0.4);
      await stage.cancel(task);
      await stage.untilEnded(task);
      const { completed, canceled, deleted, total } = await stage.status(task);
      const gone = 20_000 - (await stage.rowsIn(await stage.behind()));
      return `completed ${completed}, ${wordOf(canceled)}, ${share(deleted, total)} deleted, ${gone === deleted ? 'as many' : `${gone}`} rows gone`;
    },
  },
  {
    name: 'rows that are written again meanwhile are conflicts, and stay',
    on: ordinary,
    says: '300 conflicts, 300 old rows left',
    async observe(stage) {
      const task = (await stage.truncate()).text;
      await stage.holdAt(task, 0.2);
      await stage.rewrite('old', 300);
      await stage.release(task);
      await stage.untilEnded(task);
      await stage.refresh();
      return `${(await stage.status(task)).version_conflicts} conflicts, ${(await stage.counts()).matching} old rows left`;
    },
  },
  {
    name: 'two deletes of the same rows take turns; what one deleted is a conflict of the other',
    on: { ...ordinary, rows: 100_000 },
    says: 'some and some, together all; conflicts make up the rest',
    async observe(stage) {
      const tasks = [(await stage.truncate()).text, (await stage.truncate()).text];
      for (const task of tasks) await stage.untilEnded(task);
      const [one, two] = [await stage.status(tasks[0]!), await stage.status(tasks[1]!)];
      const both = share(one.deleted + two.deleted, one.total);
      const rest = [one, two].every(({ total, deleted, version_conflicts }) => deleted + version_conflicts === total);
      return `${share(one.deleted, one.total)} and ${share(two.deleted, two.total)}, together ${both}; conflicts ${rest ? '' : 'do not '}make up the rest`;
    },
  },
  {
    name: 'rows that come in after the start stay',
    on: ordinary,
    says: '5100 rows left',
    async observe(stage) {
      const task = (await stage.truncate({ endTimeMillis: stage.cutoff })).text;
      await stage.add(100);
      await stage.untilEnded(task);
      return `${await stage.rowsIn(await stage.behind())} rows left`;
    },
  },
  {
    name: 'a row without a timestamp is kept by a delete',
    on: ordinary,
    says: '5007 rows left',
    async observe(stage) {
      await stage.addWithoutTimestamp(7);
      await stage.refresh();
      const task = (await stage.truncate()).text;
      await stage.untilEnded(task);
      return `${await stage.rowsIn(await stage.behind())} rows left`;
    },
  },
  {
    name: 'a batch above 10,000 is accepted, and completes with nothing done',
    on: ordinary,
    says: 'completed true, total 0, deleted 0; 20000 left',
    async observe(stage) {
      const task = (await stage.truncate({ batchSize: 10_001 })).text;
      await stage.untilEnded(task);
      const { completed, total, deleted } = await stage.status(task);
      return `completed ${completed}, total ${total}, deleted ${deleted}; ${await stage.rowsIn(await stage.behind())} left`;
    },
  },
  {
    name: 'an index that is deleted under its delete: completed, with less deleted than there was',
    on: ordinary,
    says: 'completed true, some deleted',
    async observe(stage) {
      const task = (await stage.truncate()).text;
      await stage.holdAt(task, 0.3);
      await stage.deleteIndex(await stage.behind());
      await stage.release(task);
      await stage.untilEnded(task);
      const { completed, deleted, total } = await stage.status(task);
      return `completed ${completed}, ${share(deleted, total)} deleted`;
    },
  },
  {
    name: 'sizes do not fall with the rows, but when segments are merged',
    on: { ...ordinary, rows: 100_000 },
    says: 'not smaller after the delete, smaller after a merge',
    async observe(stage) {
      const size = async () => {
        // The search engine measures every ten seconds (index.store.stats_refresh_interval).
        await stage.pass(11_000);
        return (await stage.sizes())[0]!.megabytes;
      };
      const before = await size();
      const task = (await stage.truncate()).text;
      await stage.untilEnded(task);
      await stage.refresh();
      const after = await size();
      // A merge keeps deleted rows that a replica might still request; their lease is renewed every half minute.
      let merged = after;
      for (let merges = 0; merges < 6 && merged >= before; merges++) {
        await stage.merge();
        merged = await size();
      }
      return `${after >= before ? 'not ' : ''}smaller after the delete, ${merged < before ? '' : 'not '}smaller after a merge`;
    },
  },
];
