import { createEngine, type Engine, type EngineOptions } from './engine.ts';
import { randomToken, type Served, type ServingOptions, serveEngine } from './simulation/server.ts';

export interface ServiceOptions extends EngineOptions, ServingOptions {}

export type OperationsService = Served<Engine>;

/**
 * The simulated operations service over HTTP, on 127.0.0.1 only, with faults and a workbench.
 * @throws the system's error when the port is taken
 */
export const startOperationsService = ({ port, ...options }: ServiceOptions = {}): Promise<OperationsService> =>
  serveEngine(createEngine({ token: randomToken(), ...options }), { port });
