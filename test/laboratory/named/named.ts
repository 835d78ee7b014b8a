import type { Behaviour } from '../../local/operations-service/behaviour.ts';
import type { ProfileName } from '../../local/operations-service/profiles.ts';
import { startExecution } from './execution.ts';
import { firstNight } from './history.ts';
import { runPeer } from './peer.ts';
import { withVirtualTimers } from './virtual-time.ts';
import { createWorld, type World } from './world.ts';

/** Histories in which the peer loses rows or does not notice that it failed (facts 4.5 and 9.3), for the peer and for us. */

export interface NamedHistory {
  /** Where the facts tell of it. */
  facts: string;
  name: string;
  profile: ProfileName;
  server: Partial<Behaviour>;
  /** The strategy of our policy; the peer has none. */
  strategy?: 'reindex';
  /** A second run starts so many seconds after the first. */
  secondAfterSeconds?: number;
  /** What happens to real truncates on their way, for both. */
  wire?: (world: World) => void;
  /** Rows pass the cutoff while the run is at work. */
  ageing?: boolean;
  /** Days later, somebody deletes the indices that no alias leads to. */
  cleanUp?: boolean;
}

const slow = { rowsPerSecond: 10, batchOverheadMillis: 100 };

/** The server acts, and a proxy answers 504 to real truncates, so many times. */
const gatewayTimeouts =
  (times: number) =>
  ({ engine }: World): void => {
    let left = times;
    engine.onRequest = ({ body }) => {
      if (!body.includes('"dryRun":false') || left-- <= 0) return undefined;
      return { kind: 'act-then', answer: { kind: 'status', status: 504, body: 'Proxy request timed out.' } };
    };
  };

export const namedHistories: readonly NamedHistory[] = [
  {
    facts: '4.5 A, 9.3 (1)',
    name: 'no batch size, more than half is old: 400 after the alias moved',
    profile: '0.13-1.1',
    server: {},
  },
  { facts: '4.5 A', name: 'every reindex fails after the alias moved', profile: '1.2-1.4', server: {} },
  {
    facts: '4.5 A',
    name: 'the same, and the policy wants a reindex',
    profile: '1.2-1.4',
    server: {},
    strategy: 'reindex',
  },
  {
    facts: '4.5 B',
    name: 'batch larger than the index allows: the task dies at its first search',
    profile: '0.13-1.1',
    server: { maxBatchSize: 50, reindexBatchSize: 100 },
    strategy: 'reindex',
  },
  {
    facts: '4.5 C',
    name: 'a node restarts while the copy is at work',
    profile: 'specification',
    server: { ...slow, restartAtShare: 0.5 },
  },
  {
    facts: '4.5 C',
    name: 'the same, and the policy wants a reindex',
    profile: 'specification',
    server: { ...slow, restartAtShare: 0.5 },
    strategy: 'reindex',
  },
  {
    facts: '4.5 D, 9.3 (12)',
    name: 'a second run while the first one copies',
    profile: 'specification',
    server: slow,
    secondAfterSeconds: 5,
  },
  {
    facts: '4.5 D, 9.3 (12)',
    name: 'the same, and the policy wants a reindex',
    profile: 'specification',
    server: slow,
    secondAfterSeconds: 5,
    strategy: 'reindex',
  },
  {
    facts: '4.5 E',
    name: 'two runs at once, the second just after the swap',
    profile: 'specification',
    server: slow,
    secondAfterSeconds: 0.1,
    strategy: 'reindex',
  },
  {
    facts: '4.5 F, 9.3 (2)',
    name: '504 after the server has acted',
    profile: 'specification',
    server: slow,
    wire: gatewayTimeouts(1),
    strategy: 'reindex',
  },
  {
    facts: '4.5 F',
    name: 'fails with 500 after the swap, which sending again hides',
    profile: '0.13-1.1',
    server: { zeroBatchStatus: 500, reindexFailsAfterSwap: 500 },
    strategy: 'reindex',
  },
  {
    facts: '4.5 H',
    name: 'the index left behind is cleaned up later',
    profile: '1.2-1.4',
    server: {},
    strategy: 'reindex',
    cleanUp: true,
  },
  {
    facts: '9.3 (4)',
    name: 'the task is aborted half-way and says completed',
    profile: 'specification',
    server: { mode: 'always-delete', abortAtShare: 0.5 },
  },
  {
    facts: '9.3 (5)',
    name: 'nothing is deleted, and fewer than 10,000 rows are left',
    profile: 'specification',
    server: { mode: 'always-delete', failAtFirstSearch: true },
  },
  {
    facts: '9.3 (6)',
    name: 'rows go on ageing past the cutoff while it watches',
    profile: 'specification',
    server: slow,
    ageing: true,
  },
  {
    facts: '9.3 (7)',
    name: 'the answer takes 40 s',
    profile: 'specification',
    server: { ...slow, delayMillis: 40_000 },
  },
  {
    facts: '9.3 (7)',
    name: 'the server acts and never answers',
    profile: 'specification',
    server: slow,
    wire: ({ engine }) => {
      engine.onRequest = ({ body }) =>
        body.includes('"dryRun":false') ? { kind: 'act-then', answer: { kind: 'no-answer' } } : undefined;
    },
  },
];

export interface NamedResult {
  /** Rows newer than the cutoff that are gone at the end. */
  rowsLost: number;
  /** Rows older than the cutoff that are there still. */
  oldRowsLeft: number;
  /** What the run, or the runs, told people. */
  said: string;
  /** Whether what was lost, or left, was named. */
  noticed: boolean;
}

const pair = ['dataset', 'operation'] as const;
const index = 'dataset.operation';
const day = 86_400_000;

/** 600 rows older than 30 days, 400 newer ones. */
const rows = [
  ...Array.from({ length: 600 }, (_, row) => firstNight - (90 - row / 11) * day),
  ...Array.from({ length: 400 }, (_, row) => firstNight - (20 - row / 25) * day),
];
/** One row that passes the cutoff in each of the next 300 seconds. */
const ageingRows = Array.from({ length: 300 }, (_, row) => firstNight - 30 * day + (row + 1) * 1000);

async function lived(
  history: NamedHistory,
  act: (world: World) => Promise<{ said: string; noticed: boolean }>,
): Promise<NamedResult> {
  const world = createWorld({
    seed: 1,
    start: firstNight,
    profile: history.profile,
    indices: [{ entityType: pair[0], aspect: pair[1], timestamps: history.ageing ? [...rows, ...ageingRows] : rows }],
    policies: [
      {
        name: 'policy',
        text: JSON.stringify({
          entityType: pair[0],
          aspect: pair[1],
          retentionDays: 30,
          batchSize: 100,
          ...(history.strategy && { strategy: history.strategy }),
        }),
      },
    ],
    settings: { stage: 'named', gmsUrl: 'http://gms.test:8080', mode: 'enforce', minRetentionDays: 7, maxRunHours: 12 },
  });
  const { engine, time } = world;
  engine.set(history.server);
  history.wire?.(world);
  const mark = engine.mark(index);
  const { said, noticed } = await withVirtualTimers(time, async () => {
    const told = await act(world);
    await time.runUntil(time.now() + day);
    if (history.cleanUp) {
      for (const { name, index: alias } of engine.indices()) if (alias === undefined) engine.deleteIndex(name);
    }
    return told;
  });
  const cutoff = firstNight - 30 * day;
  const rowsLost = engine.goneSince(mark).filter(({ timestamp }) => timestamp > cutoff).length;
  const oldRowsLeft = engine.rows(index).filter(({ timestamp }) => timestamp <= cutoff).length;
  return { rowsLost, oldRowsLeft, said, noticed };
}

/** The peer in a history. It notices what its run reports as an error; rows it never names. */
export const livedByPeer = (history: NamedHistory): Promise<NamedResult> =>
  lived(history, async ({ engine, time }) => {
    const ended: Awaited<ReturnType<typeof runPeer>>[] = [];
    const starts = history.secondAfterSeconds === undefined ? [0] : [0, history.secondAfterSeconds];
    for (const seconds of starts) {
      time.at(time.now() + seconds * 1000, () => void runPeer(engine, time, [pair]).then((run) => ended.push(run)));
    }
    await time.run(() => ended.length === starts.length);
    const said = ended.map((run) =>
      run.failed ? `error: ${run.said.at(-1)}` : `green${run.said.length > 0 ? `: ${run.said.at(-1)}` : ''}`,
    );
    return { said: said.join(' / '), noticed: ended.some(({ failed }) => failed) };
  });

/** Our run, or runs, in a history. */
export const livedByUs = (history: NamedHistory): Promise<NamedResult> =>
  lived(history, async (world) => {
    const { time, journal } = world;
    const starts = history.secondAfterSeconds === undefined ? [0] : [0, history.secondAfterSeconds];
    let begun = 0;
    const executions: ReturnType<typeof startExecution>[] = [];
    for (const seconds of starts) {
      time.at(time.now() + seconds * 1000, () => executions.push(startExecution(world, `run-${++begun}`, {})));
    }
    await time.run(() => executions.length === starts.length && executions.every(({ ended }) => ended));
    const outcomes = journal.flatMap((event) =>
      event.kind === 'published' ? event.report.policies.map(({ outcome }) => outcome) : [],
    );
    const named = ['rows-missing', 'incomplete', 'lost', 'unknown', 'failed', 'still-running'];
    return { said: outcomes.join(' / '), noticed: outcomes.some((outcome) => named.includes(outcome)) };
  });
