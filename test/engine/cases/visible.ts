import type { PolicyEntry } from '../../../lambda/model/report-schema.ts';
import type { Ended } from '../world/job.ts';
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

/**
 * The first run has to find that rows are not visible; then the night after, a release that is refused with what is not
 * visible, a refresh, a release that is granted, and a last run.
 * @param isSo what else the first run's entry has to say
 */
async function untilReleased(
  world: World,
  first: Ended,
  what: string,
  isSo: (entry: Hidden) => boolean,
): Promise<Ended[]> {
  const { outcome, cause: found } = first.entry ?? {};
  expectThat(outcome === 'unknown' && found?.kind === 'not-visible', `unknown and not visible, not ${outcome}`);
  expectThat(isSo(first.entry as Hidden), what);
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
  return [await world.run().ended];
}

type Hidden = PolicyEntry & { cause: Extract<PolicyEntry['cause'], { kind: 'not-visible' }> };

const unrefreshed = {
  reindexes: true,
  newRefreshInterval: '-1',
  behavior: { refreshOffAfterReindex: true },
  expected: { outcomes: ['nothing-to-delete', 'below-threshold'], rowsToKeepMissing: 'none' },
} as const;

export const visibleCases: readonly EngineCase[] = [
  {
    name: 'copy, never refreshed',
    ...unrefreshed,
    story: async (world) =>
      untilReleased(world, await world.run().ended, 'all its rows are written, and none is missing', (entry) => {
        return (entry.rowsNotVisible ?? 0) > 0 && !entry.rowsMissing;
      }),
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
      return untilReleased(world, first, 'some rows are visible', ({ cause }) => cause.found > 0);
    },
  },
  {
    name: 'copy, never refreshed, its answer lost',
    ...unrefreshed,
    async story(world) {
      world.set({ interceptions: [{ kind: 'gateway-timeout', scope: 'truncate', acts: true }] });
      const first = await world.run().ended;
      return untilReleased(world, first, 'nothing says what was written', ({ cause }) => cause.written === undefined);
    },
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
