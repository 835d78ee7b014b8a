import type { Reply } from '../../operations-service/simulation/exchange.ts';
import type { SampleIndex } from '../../../cli/operations-service/samples.ts';
import type { Exchange } from '../../../lambda/operations/http/transport.ts';
import { searchIndex } from '../../../lambda/policy/aspects.ts';
import { createEngine, type Engine } from '../../operations-service/engine.ts';
import type { ProfileName } from '../../operations-service/profiles.ts';
import { createRowTruth, type RowTruth } from '../truth/rows.ts';

/** One DataHub with its search engine, and the tracking of its rows. */
export interface Server {
  engine: Engine;
  truth: RowTruth;
  /** The engine's name of a search index: `dataset.operation`. */
  nameOf(index: string): string;
  handle(exchange: Exchange, token: string): Reply;
}

export interface ServerOptions {
  seed: number;
  profile: ProfileName;
  indices: readonly SampleIndex[];
  now(): number;
}

export function createServer({ seed, profile, indices, now }: ServerOptions): Server {
  const engine = createEngine({ profile, seed: (seed % 65_521) + 1, clock: { now }, indices });
  const names = new Map(
    indices.map((index) => [searchIndex(index), `${index.entityType}.${index.aspect}`.toLowerCase()]),
  );
  return {
    engine,
    truth: createRowTruth(engine, now),
    nameOf: (index) => names.get(index) ?? index,
    handle({ url, headers, body }, token) {
      const { pathname, search } = new URL(url);
      const isValid = headers['authorization'] === `Bearer ${token}`;
      const authorization = isValid ? `Bearer ${engine.token}` : 'Bearer refused';
      return engine.handle({ method: 'POST', path: pathname + search, headers: { ...headers, authorization }, body });
    },
  };
}
