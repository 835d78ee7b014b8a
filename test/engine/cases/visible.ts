import { holdAt, letGo } from '../world/tasks.ts';
import type { World } from '../world/world.ts';
import type { EngineCase } from './case.ts';

/** A new index that is written and not refreshed, as DataHub's main leaves it: nobody may call its rows missing. */

/** Steps of a story that have to hold before its last run, whose outcome the case expects. */
function expectThat(is: boolean | undefined, what: string): void {
  if (!is) throw new Error(`not so: ${what}`);
}

const refresh = (world: World) => world.client.indices.refresh({ index: world.alias });
const releasing = { release: ['dataset.operation'] };
const notes = async (world: World) => (await world.run(releasing).ended).report?.notes ?? [];

/** The night after, a release that is refused with what is not visible, a refresh, and a release that is granted. */
async function untilReleased(world: World): Promise<void> {
  const { entry } = await world.run().ended;
  const { cause } = entry ?? {};
  const today = cause?.kind === 'quarantined' ? cause.today : undefined;
  expectThat(today && 'found' in today && today.notVisible !== undefined, 'the night after, rows are not visible');
  const [refused] = await notes(world);
  expectThat(
    refused?.kind === 'not-released' && refused.why === 'missing' && refused.notVisible !== undefined,
    'the release says that rows are not visible',
  );
  await refresh(world);
  const [granted] = await notes(world);
  expectThat(granted?.kind === 'released' && granted.missing === 0, 'after a refresh every row is there');
}

const unrefreshed = { reindexes: true, newRefreshInterval: '-1', behavior: { refreshOffAfterReindex: true } } as const;

export const visibleCases: readonly EngineCase[] = [
  {
    name: 'copy, never refreshed',
    ...unrefreshed,
    async story(world) {
      const first = await world.run().ended;
      const { outcome, cause, rowsNotVisible, rowsMissing } = first.entry ?? {};
      expectThat(outcome === 'unknown' && cause?.kind === 'not-visible', `unknown and not visible, not ${outcome}`);
      expectThat((rowsNotVisible ?? 0) > 0 && !rowsMissing, 'all its rows are written, and none is missing');
      await untilReleased(world);
      return [await world.run().ended];
    },
    expected: { outcomes: ['nothing-to-delete', 'below-threshold'], rowsToKeepMissing: 'none' },
  },
  {
    name: 'copy, refreshed once half-way',
    ...unrefreshed,
    async story(world) {
      const first = await world.runWhile(async (task) => {
        await holdAt(world.client, task, 0.5);
        await refresh(world);
        await letGo(world.client, task).catch(() => {});
      });
      const { outcome, cause } = first.entry ?? {};
      expectThat(outcome === 'unknown' && cause?.kind === 'not-visible', `unknown and not visible, not ${outcome}`);
      expectThat(cause?.kind === 'not-visible' && cause.found > 0, 'some rows are visible');
      await untilReleased(world);
      return [await world.run().ended];
    },
    expected: { outcomes: ['nothing-to-delete', 'below-threshold'], rowsToKeepMissing: 'none' },
  },
  {
    name: 'copy, never refreshed, its answer lost',
    ...unrefreshed,
    async story(world) {
      world.set({ interceptions: [{ kind: 'gateway-timeout', scope: 'truncate', acts: true }] });
      const first = await world.run().ended;
      const { outcome, cause } = first.entry ?? {};
      expectThat(outcome === 'unknown' && cause?.kind === 'not-visible', `unknown and not visible, not ${outcome}`);
      expectThat(cause?.kind === 'not-visible' && cause.written === undefined, 'nothing says what was written');
      await untilReleased(world);
      return [await world.run().ended];
    },
    expected: { outcomes: ['nothing-to-delete', 'below-threshold'], rowsToKeepMissing: 'none' },
  },
  {
    name: 'copy, where statuses are refused',
    reindexes: true,
    async story(world) {
      world.set({ denied: ['getEsTaskStatus'] });
      return [await world.run().ended];
    },
    expected: { outcomes: ['failed'], cause: 'guard', rowsToKeepMissing: 'none', truncates: 0 },
  },
];
