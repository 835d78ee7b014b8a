import { indexKey } from '../../../../cli/embedded-service/rows.ts';
import { type SampleIndex, timestampsOf } from '../../../../cli/embedded-service/samples.ts';
import { dottedName } from '../../../../lambda/policy/aspects.ts';
import { physicalName } from './cluster.ts';
import type { Simulation } from './simulation.ts';

/** Makes an index with the rows of a sample. */
export function addIndex({ cluster, ages, seed, behavior }: Simulation, sample: SampleIndex): void {
  const { entityType, aspect } = sample;
  const alias = indexKey(entityType, aspect);
  // Created some months ago by a system-update.
  const createdAt = Math.max(0, cluster.now - Math.floor(30 + ages() * 300) * 86_400_000);
  const name = behavior.aliasBacked ? physicalName(alias, createdAt) : alias;
  const physical = { ...cluster.create(name, 'rows' in sample ? sample.rows : 16), createdAt };
  cluster.logical.set(dottedName({ entityType, aspect }).toLowerCase(), { entityType, aspect, alias, physical });
  cluster.add(physical, timestampsOf(sample, seed + cluster.logical.size, cluster.now));
  physical.store.refresh();
}
