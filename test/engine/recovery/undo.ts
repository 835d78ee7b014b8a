import { spawnSync } from 'node:child_process';
import { type Command, filled, type Placeholder } from '../../pages/commands.ts';
import { commandsFor, Worklist } from '../../pages/executed.ts';
import { cloneBase } from '../world/rows.ts';
import type { Shared } from '../world/shared.ts';
import { untilEnded } from '../world/tasks.ts';

/** docs/operate.md from "Snapshot first" to the last command of "Bring rows back", as a person types it. */

const page = 'docs/operate.md';
const repository = 'of-the-test';
const dayMillis = 86_400_000;
/** In the command of step 4. */
const retentionDays = 90;

interface Copied {
  completed: boolean;
  response?: { created: number; failures: unknown[] };
}

/** @returns what is wrong; nothing if every row is back */
export async function undo({ client, address, prefix, base, loadedAt }: Shared): Promise<string[]> {
  const problems: string[] = [];
  const expected = (what: string, isSo: boolean) => {
    if (!isSo) problems.push(what);
  };
  const worklist = new Worklist(commandsFor('engine', [page]).filter(({ text }) => text.startsWith('curl ')));
  const type = ({ text }: Command, names: Partial<Record<Placeholder, string>> = {}): string => {
    const command = filled(text.replaceAll('https://SEARCH', address), { REPOSITORY: repository, ...names });
    const { status, stdout, stderr } = spawnSync('bash', ['-c', `curl() { command curl -sS "$@"; }\n${command}`], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${command}: ${stderr}`);
    return stdout;
  };
  const [repositories, take] = worklist.take(page, 'Snapshot first', /^curl (?!--)/) as [Command, Command];
  const commands = worklist.take(page, 'Bring rows back', /^curl /);
  const [names, count, restore, stage, copy, task, countAgain, remove] = commands as Command[];

  // With digits at its end, and an index prefix.
  const index = `${prefix}_dataset_operationaspect_v1_1700000000000`;
  const alias = index.replace(/_\d+$/, '');
  await client.snapshot.createRepository({ repository, body: { type: 'fs', settings: { location: prefix } } });
  await cloneBase(client, base, index, { shards: 1, replicas: 0, refreshInterval: '3s' });
  await client.indices.updateAliases({ body: { actions: [{ add: { index, alias } }] } });
  const countOf = (command: Command): number => Number(/"count":(\d+)/.exec(type(command, { ALIAS: alias }))?.[1]);
  const before = countOf(count!);

  expected('the repository is not listed', type(repositories).includes(repository));
  const taken = JSON.parse(type(take)) as { snapshot: { state: string; shards: { failed: number } } };
  expected('the snapshot is no success', taken.snapshot.state === 'SUCCESS' && taken.snapshot.shards.failed === 0);

  const deleting = await client.deleteByQuery({
    index: alias,
    wait_for_completion: false,
    body: { query: { range: { timestampMillis: { lte: loadedAt - retentionDays * dayMillis } } } },
  });
  await untilEnded(client, String((deleting.body as { task?: string }).task));
  await client.indices.refresh({ index: alias });
  const left = countOf(count!);
  expected('nothing was deleted', left < before);

  expected('the snapshot does not list the index', type(names!).includes(`"${index}"`));
  const restored = type(restore!, { INDEX: index });
  expected(`not restored: ${restored}`, /\["restored-rows"\].*"failed":0/.test(restored));
  expected('the recovery is not done', /^(?:done\s*)+$/.test(type(stage!)));
  const started = JSON.parse(type(copy!, { ALIAS: alias })) as { task: string };
  let copied: Copied = { completed: false };
  while (!copied.completed) copied = JSON.parse(type(task!, { TASK: started.task }));
  const { created = 0, failures = [] } = copied.response ?? {};
  expected(`copying has failures: ${JSON.stringify(failures)}`, failures.length === 0);
  const after = countOf(countAgain!);
  expected(`${before} rows, ${left} after the delete, ${created} copied back, ${after} now`, after === before);
  expected(`${created} rows came back, not ${before - left}`, created === before - left);
  expected('the restored index is still there', type(remove!).includes('"acknowledged":true'));
  for (const text of worklist.left()) expected(`${text} is not executed`, false);
  await client.snapshot.delete({ repository, snapshot: 'before-retention' });
  await client.snapshot.deleteRepository({ repository });
  return problems;
}
