import { sampleIndices } from '../../cli/operations-service/samples.ts';
import { parseFault } from './faults.ts';
import { runGc } from './peer.ts';
import { type ProfileName, profileNamed } from './profiles.ts';
import {
  type Engine as BareEngine,
  type EngineOptions as BareOptions,
  createEngine as createBare,
} from './simulation/engine.ts';
import { upgradeAll } from './upgrade.ts';
import { createWorkbench, type Workbench } from './workbench.ts';

/** The embedded service for tests: any of the servers found in practice, with its faults and a workbench. */

export interface EngineOptions extends Omit<BareOptions, 'behaviour'> {
  /** Default: `specification`. */
  profile?: ProfileName;
  /** `NAME` or `NAME=VALUE`, applied in order. */
  faults?: readonly string[];
}

export interface Engine extends BareEngine, Workbench {
  /** Switches a fault on by its name (`abort-at=0.5`). Throws FaultError. */
  fault(text: string): void;
}

/** @throws FaultError for an unknown fault, RangeError for an unknown profile */
export function createEngine({
  profile = 'specification',
  faults = [],
  indices,
  ...options
}: EngineOptions = {}): Engine {
  // Faults come before the indices, because some decide what an index is like.
  const bare = createBare({ ...options, behaviour: profileNamed(profile).behaviour, indices: [] });
  const { simulation, advance } = bare;
  const engine: Engine = Object.assign(bare, createWorkbench(simulation, advance), {
    fault(text: string) {
      const { gcAfterSeconds, upgradeAfterSeconds, ...changes } = parseFault(text, simulation.behaviour);
      engine.set(changes);
      if (gcAfterSeconds !== undefined) {
        engine.schedule(simulation.cluster.now + gcAfterSeconds * 1000, () => runGc(simulation, 30));
      }
      if (upgradeAfterSeconds !== undefined) {
        engine.schedule(simulation.cluster.now + upgradeAfterSeconds * 1000, () => upgradeAll(simulation));
      }
    },
  });
  for (const text of faults) engine.fault(text);
  for (const index of indices ?? sampleIndices()) engine.addIndex(index);
  return engine;
}
