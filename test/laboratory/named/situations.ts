import type { Behaviour } from '../../operations-service/simulation/behaviour.ts';
import type { ProfileName } from '../../operations-service/profiles.ts';
import type { World } from '../world/world.ts';
import { upgradeSituations } from './upgrades.ts';

/**
 * Situations taken from datahub-gc's source and from releases of DataHub, for the peer and for us. Each appears once,
 * however many server generations behave the same way in it.
 */
export interface Situation {
  name: string;
  /**
   * Generations of servers; `specification` is a server that copies on request even without a batch size, which no
   * release does.
   */
  profiles: readonly ProfileName[];
  /** Share of rows older than the cutoff: above half a release reindexes. */
  old: 'most' | 'some';
  server?: Partial<Behaviour>;
  /** A second run starts this many seconds after the first. */
  secondAfterSeconds?: number;
  /** Twenty days before. */
  past?: (world: World) => void;
  /** What happens to real truncates on their way, or alongside them, for both. */
  wire?: (world: World) => void;
  /** Days later, someone deletes the indices that no alias points to. */
  cleanUp?: boolean;
  /** Why it cannot happen to the peer. */
  notToPeer?: string;
}

const releases = ['0.10.5', '0.12', '0.13.2-1.1', '1.2-1.5', 'newest'] as const;
const one = ['0.13.2-1.1'] as const;
const copying = ['specification'] as const;
const slow = { rowsPerSecond: 10, batchOverheadMillis: 100 };

/** The server acts, but this many real truncates get a different answer. */
const instead =
  (
    answer: { kind: 'status'; status: number; body: string } | { kind: 'no-answer' },
    times = Number.POSITIVE_INFINITY,
  ) =>
  ({ servers: [{ engine }] }: World): void => {
    let left = times;
    engine.onRequest = ({ body }) => {
      if (!body.includes('"dryRun":false') || left-- <= 0) return undefined;
      return { kind: 'act-then', answer };
    };
  };

const gatewayTimeout = { kind: 'status', status: 504, body: 'Proxy request timed out.' } as const;

export const situations: readonly Situation[] = [
  {
    name: 'most rows are old: the alias moves, and the copy is refused',
    profiles: releases,
    old: 'most',
  },
  {
    name: 'the same, and the index left behind is cleaned up later',
    profiles: ['1.2-1.5'],
    old: 'most',
    cleanUp: true,
  },
  {
    name: 'a delete is aborted half-way and says completed',
    profiles: one,
    old: 'some',
    server: { abortAtShare: 0.5 },
  },
  {
    name: 'a delete fails at its first search and says completed',
    profiles: one,
    old: 'some',
    server: { failAtFirstSearch: true },
  },
  {
    name: 'a node restarts under a delete',
    profiles: one,
    old: 'some',
    server: { ...slow, restartAtShare: 0.5 },
  },
  {
    name: 'a second run while the first one deletes',
    profiles: one,
    old: 'some',
    server: slow,
    secondAfterSeconds: 5,
  },
  {
    name: 'a proxy answers 504 once, after the server has acted',
    profiles: one,
    old: 'some',
    server: slow,
    wire: instead(gatewayTimeout, 1),
  },
  {
    name: 'a real truncate is never answered',
    profiles: one,
    old: 'some',
    server: slow,
    wire: instead({ kind: 'no-answer' }),
  },
  {
    name: 'every answer takes 40 s',
    profiles: one,
    old: 'some',
    server: { ...slow, delayMillis: 40_000 },
  },
  {
    name: 'a batch larger than the index allows: the task dies at its first search',
    profiles: one,
    old: 'most',
    server: { maxBatchSize: 50 },
    notToPeer: 'it sends no batch size',
  },
  {
    name: 'a node restarts under a copy',
    profiles: copying,
    old: 'most',
    server: { ...slow, restartAtShare: 0.5 },
  },
  {
    name: 'a second run while the first one copies',
    profiles: copying,
    old: 'most',
    server: slow,
    secondAfterSeconds: 5,
  },
  {
    name: 'two runs at once, the second just after the alias has moved',
    profiles: copying,
    old: 'most',
    server: slow,
    secondAfterSeconds: 0.1,
  },
  {
    name: 'a proxy answers 504 once, while the copy is at work',
    profiles: copying,
    old: 'most',
    server: slow,
    wire: instead(gatewayTimeout, 1),
  },
  {
    name: 'fails with 500 after the alias has moved, which sending again hides',
    profiles: copying,
    old: 'most',
    server: { reindexFailsAfterSwap: 500 },
  },
  ...upgradeSituations,
];

/** Whether a release of DataHub behaves like the server of a situation. */
export const isReal = ({ profiles }: Situation): boolean => !profiles.includes('specification');
