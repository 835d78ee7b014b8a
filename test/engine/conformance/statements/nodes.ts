import { type Statement, share } from '../statement.ts';

/** Full disks and restarts. */

const ordinary = { profile: '0.13.2-1.1' } as const;

export const nodeStatements: readonly Statement[] = [
  {
    name: 'when the disk is full a delete waits and tries again',
    on: ordinary,
    says: 'after 5 s completed false, deleted as before, retries; with room again all deleted',
    async observe(stage) {
      const task = (await stage.truncate()).text;
      await stage.holdAt(task, 0.3);
      await stage.floodStage(true);
      const before = (await stage.status(task)).deleted;
      await stage.release(task);
      await stage.pass(5000);
      const during = await stage.status(task);
      await stage.floodStage(false);
      await stage.untilEnded(task);
      const after = await stage.status(task);
      const frozen =
        during.deleted - before <= 500 ? 'deleted as before' : `${during.deleted} deleted, ${before} before`;
      const tried = during.retries.bulk > 0 ? 'retries' : 'no retries';
      return `after 5 s completed ${during.completed}, ${frozen}, ${tried}; with room again ${share(after.deleted, after.total)} deleted`;
    },
  },
  {
    name: 'when it stays full the delete ends after a minute, completed, and nobody says that it failed',
    on: ordinary,
    says: 'after 50 s completed false; after 70 s completed true, some deleted, 11 retries',
    async observe(stage) {
      const task = (await stage.truncate()).text;
      await stage.holdAt(task, 0.3);
      await stage.floodStage(true);
      await stage.release(task);
      await stage.pass(50_000);
      const during = await stage.status(task);
      await stage.pass(20_000);
      const { completed, deleted, total, retries } = await stage.status(task);
      await stage.floodStage(false);
      return `after 50 s completed ${during.completed}; after 70 s completed ${completed}, ${share(deleted, total)} deleted, ${retries.bulk} retries`;
    },
  },
  {
    name: 'a node that is restarted forgets what was running, keeps what had ended, and numbers its tasks anew',
    on: ordinary,
    kills: true,
    says: 'the ended one is known, the running one is not, some of its rows are gone; same node, lower number',
    async observe(stage) {
      // Earlier tasks, so that there are numbers that can be reused.
      for (let warm = 0; warm < 5; warm++) await stage.untilEnded((await stage.truncate({ endTimeMillis: 1 })).text);
      const ended = (await stage.truncate({ endTimeMillis: stage.cutoff - 14_000 * 60_000 })).text;
      await stage.untilEnded(ended);
      await stage.refresh();
      const running = (await stage.truncate()).text;
      await stage.holdAt(running, 0.3);
      await stage.restart();
      const known = async (task: string) => (/"completed":true/.test(await stage.statusText(task)) ? '' : 'not ');
      const left = await stage.rowsIn(await stage.behind());
      const next = (await stage.truncate()).text;
      const [node, number] = next.split(':') as [string, string];
      const lower = Number(number) < Number(running.split(':')[1]);
      return [
        `the ended one is ${await known(ended)}known`,
        `the running one is ${(await stage.statusText(running)).includes('error') ? 'not' : 'known'}`,
        `${share(20_000 - left, 15_000)} of its rows are gone; ${running.startsWith(node) ? 'same' : 'another'} node`,
        `${lower ? 'lower' : 'higher'} number`,
      ].join(', ');
    },
  },
];
