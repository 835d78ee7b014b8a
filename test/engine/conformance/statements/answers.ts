import type { Statement } from '../statement.ts';

/** What the service answers before anything is started. */

const ordinary = { profile: '0.13.2-1.1' } as const;

export const answerStatements: readonly Statement[] = [
  {
    name: 'a dry run says what would go, and changes nothing',
    on: ordinary,
    says: 'Delete 15000 out of 20000 rows (75.00%). Issuing a delete by query request. This was a dry run. Run with dryRun = false to execute. Twice the same.',
    async observe(stage) {
      const first = await stage.truncate({ dryRun: true });
      const second = await stage.truncate({ dryRun: true });
      return `${first.text} ${first.text === second.text ? 'Twice the same.' : second.text}`;
    },
  },
  {
    name: 'without a flag, half of the rows are deleted in place',
    on: { ...ordinary, old: 10_000 },
    says: 'Issuing a delete by query request',
    observe: async (stage) => wayIn((await stage.truncate({ dryRun: true, forceDeleteByQuery: undefined })).text),
  },
  {
    name: 'without a flag, one row more than half means a reindex',
    on: { ...ordinary, old: 10_001 },
    says: 'Reindexing the aspect without the deleted records',
    observe: async (stage) => wayIn((await stage.truncate({ dryRun: true, forceDeleteByQuery: undefined })).text),
  },
  {
    name: 'the row at the cutoff goes, the one a millisecond later stays',
    on: ordinary,
    says: '15000 at the cutoff, 14999 a millisecond before it',
    async observe(stage) {
      const at = await stage.truncate({ dryRun: true });
      const before = await stage.truncate({ dryRun: true, endTimeMillis: stage.cutoff - 1 });
      return `${deletedIn(at.text)} at the cutoff, ${deletedIn(before.text)} a millisecond before it`;
    },
  },
  {
    name: 'both flags are a conflict, said with 200',
    on: ordinary,
    says: '200 please only set forceReindex OR forceDeleteByQuery flags',
    async observe(stage) {
      const { status, text } = await stage.truncate({ forceReindex: true });
      return `${status} ${text}`;
    },
  },
  {
    name: 'an unknown aspect is a 500 that names the index',
    on: ordinary,
    says: '500, index_not_found_exception, the index is named',
    async observe(stage) {
      const { status, text } = await stage.truncate({ aspect: 'nothing', dryRun: true });
      const named = /no such index \[\w*dataset_nothingaspect_v1\]/.test(text);
      return `${status}, ${/index_not_found_exception/.exec(text)?.[0]}, the index is ${named ? '' : 'not '}named`;
    },
  },
  {
    name: 'an unknown entity type is a 400 of the registry',
    on: ordinary,
    says: '400 Failed to find entity with name nothing in EntityRegistry',
    async observe(stage) {
      const { status, text } = await stage.truncate({ entityType: 'nothing', dryRun: true });
      return `${status} ${text}`;
    },
  },
  {
    name: 'a task that nobody knows, and one of another node, cannot be told apart',
    on: ordinary,
    says: 'error, error',
    async observe(stage) {
      const task = (await stage.truncate()).text;
      const unknown = await stage.statusText(`${task.split(':')[0]}:999999999`);
      const foreign = await stage.statusText('AAAAAAAAAAAAAAAAAAAAAA:1');
      return [unknown, foreign].map((text) => (/Could not get task status/.test(text) ? 'error' : text)).join(', ');
    },
  },
  {
    name: 'getIndexSizes names the real index, not the alias',
    on: ordinary,
    says: 'one entry, the real index',
    async observe(stage) {
      const sizes = await stage.sizes();
      const real = sizes[0]?.name === (await stage.behind());
      return `${sizes.length === 1 ? 'one entry' : sizes.length}, ${real ? 'the real index' : sizes[0]?.name}`;
    },
  },
];

const wayIn = (text: string): string => /Issuing[^.]*|Reindexing[^.]*/.exec(text)?.[0] ?? text;
const deletedIn = (text: string): string => /^Delete (\d+)/.exec(text)?.[1] ?? text;
