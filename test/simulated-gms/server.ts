import { createEngine, type Engine, type EngineOptions } from './engine.ts';
import { randomToken, type Served, type ServingOptions, serveEngine } from './simulation/server.ts';

export interface ServiceOptions extends EngineOptions, ServingOptions {}

export type SimulatedGms = Served<Engine>;

/**
 * The simulated operations service over HTTP, on 127.0.0.1 only, with faults and a workbench.
 * @throws the system's error when the port is taken
 */
export const startSimulatedGms = ({ port, ...options }: ServiceOptions = {}): Promise<SimulatedGms> =>
  serveEngine(createEngine({ token: randomToken(), ...options }), { port });
