import { createEngine } from '../../operations-service/engine.ts';
import { cutoffBefore, defaultRows, type Stage, type StageOptions, timestampsFor } from './stage.ts';
import { asking } from './wire.ts';

const index = 'dataset.operation';
const start = Date.UTC(2026, 2, 1, 3, 30);

/** The embedded service, in virtual time: nothing happens unless time passes. */
export function simulatedStage({ profile, rows = defaultRows, old = (rows * 3) / 4, ...more }: StageOptions): Stage {
  let now = start;
  const cutoff = cutoffBefore(start);
  const engine = createEngine({
    profile,
    clock: { now: () => now },
    indices: [{ entityType: 'dataset', aspect: 'operation', timestamps: timestampsFor(cutoff, rows, old) }],
  });
  engine.set({
    taskNumbersRestart: true,
    reindexSlices: profile === '0.13.2-1.1' ? 1 : (more.shards ?? 1),
    ...(more.tuned === false && { refreshOffAfterReindex: false }),
    ...(more.aliased === false && { aliasBacked: false }),
  });
  return {
    ...asking(engine, cutoff),
    async holdAt(task, share) {
      for (;;) {
        const view = engine.tasks().find(({ id }) => id === task)!;
        if (view.total > 0 && view.created + view.updated + view.deleted + view.version_conflicts >= view.total * share)
          return;
        now += 10;
      }
    },
    release: async () => {},
    async untilEnded(task) {
      while (engine.tasks().find(({ id }) => id === task)!.state === 'running') now += 100;
    },
    async pass(millis) {
      now += millis;
    },
    async add(count) {
      engine.addRows(
        index,
        Array.from({ length: count }, () => now),
      );
    },
    async addWithoutTimestamp(count) {
      engine.addRows(
        index,
        Array.from({ length: count }, () => Number.NaN),
      );
    },
    async rewrite(which, count) {
      const timestamps = timestampsFor(cutoff, rows, old);
      const end = which === 'old' ? old : rows;
      const chosen = new Set(timestamps.slice(end - count, end));
      engine.reemitRows(index, ({ timestamp }) => chosen.has(timestamp));
    },
    async refresh() {
      engine.refresh();
    },
    async refreshing(on) {
      engine.refreshing(index, on);
    },
    async merge() {
      engine.merge();
    },
    async cancel(task) {
      engine.cancelTask(task);
    },
    async restart() {
      engine.restartNode();
    },
    async floodStage(on) {
      engine.floodStage(on);
    },
    behind: async () => engine.indices().find((view) => view.index !== undefined)!.name,
    rowsIn: async (name) => engine.indices().find((view) => view.name === name)!.rows,
    async deleteIndex(name) {
      engine.deleteIndex(name);
    },
    async pointAlias(name) {
      engine.pointAlias(index, name);
    },
    close: async () => {},
  };
}
