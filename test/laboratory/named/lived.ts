import type { Outcome } from '../../../lambda/facts/outcomes.ts';
import { composeMessage } from '../../../lambda/notification/message.ts';
import type { Mark } from '../../operations-service/inspect.ts';
import type { ProfileName } from '../../operations-service/profiles.ts';
import { asSomebodyElse } from '../alphabet/others.ts';
import { firstNight } from '../histories/history.ts';
import { type Execution, startExecution } from '../world/execution.ts';
import { withVirtualTimers } from '../world/virtual-time.ts';
import { createWorld, type World } from '../world/world.ts';
import { type PeerRun, peerDefaults, runPeer } from './peer.ts';
import type { Situation } from './situations.ts';

/** One situation as played by the peer or by us. */

export interface Lived {
  /** Rows newer than the cutoff that are invisible at the end, although no other process deleted them. */
  rowsLost: number;
  /** Rows that arrived in the meantime and are only in an index that no alias points to any more. */
  rowsBehind: number;
  /** The real index behind the alias at the end. */
  physical: string;
  /** Rows older than the cutoff that are still there. */
  oldRowsLeft: number;
  /** Real truncates that were sent. */
  sent: number;
  /** What the run, or the runs, told people. */
  said: string;
  /** Whether the report named what was lost or left. */
  noticed: boolean;
  /** Emails. */
  mails: string[];
}

type Told = Pick<Lived, 'sent' | 'said' | 'noticed' | 'mails'>;

const pair = ['dataset', 'operation'] as const;
const index = 'dataset.operation';
const day = 86_400_000;
/** Longer than a reindex waits for an upgrade that is still copying. */
const pastDays = 20;
const cutoff = firstNight - 30 * day;

const aged = (count: number, from: number, to: number): number[] =>
  Array.from({ length: count }, (_, row) => firstNight - (from - ((from - to) * row) / count) * day);

async function lived(
  { old, server, past, wire, cleanUp }: Situation,
  profile: ProfileName,
  strategy: 'delete-by-query' | 'reindex',
  act: (world: World) => Promise<Told>,
): Promise<Lived> {
  const timestamps = [...aged(old === 'most' ? 600 : 300, 90, 35), ...aged(400, 20, 4)];
  const policy = { entityType: pair[0], aspect: pair[1], retentionDays: 30, batchSize: 100, strategy };
  const world = createWorld({
    seed: 1,
    start: past ? firstNight - pastDays * day : firstNight,
    profile,
    indices: [{ entityType: pair[0], aspect: pair[1], timestamps }],
    policies: [{ name: 'policy', text: JSON.stringify(policy) }],
    settings: { stage: 'named', gmsUrl: 'http://gms.test:8080', mode: 'enforce', minRetentionDays: 7, maxRunHours: 12 },
  });
  const { time } = world;
  const [{ engine }] = world.servers;
  let mark: Mark | undefined;
  engine.set(server ?? {});
  const told = await withVirtualTimers(time, async () => {
    past?.(world);
    await time.runUntil(firstNight);
    wire?.(world);
    mark = engine.mark(index);
    const ended = await act(world);
    await time.runUntil(time.now() + day);
    if (cleanUp) {
      for (const { name, index: alias } of engine.indices()) if (alias === undefined) engine.deleteIndex(name);
    }
    return ended;
  });
  const rowsLost = engine.goneSince(mark!).filter(({ timestamp, by }) => timestamp > cutoff && by !== 'others').length;
  const here = new Set(engine.rows(index).map(({ id }) => id));
  const physical = engine.indices().find((one) => one.index === index)?.name ?? 'none';
  const behind = engine.indices().flatMap(({ name }) => (name === physical ? [] : engine.rowsOfPhysical(name)));
  return {
    ...told,
    rowsLost,
    oldRowsLeft: engine.rows(index).filter(({ timestamp }) => timestamp <= cutoff).length,
    rowsBehind: behind.filter(({ id, removedBy }) => removedBy === 'nobody' && !here.has(id) && !mark!.rows.has(id))
      .length,
    physical,
  };
}

const startsOf = ({ secondAfterSeconds }: Situation): number[] =>
  secondAfterSeconds === undefined ? [0] : [0, secondAfterSeconds];

/** The peer. It notices only what its run reports as an error, and never names rows. */
export const livedByPeer = (situation: Situation, profile: ProfileName): Promise<Lived> =>
  lived(situation, profile, 'delete-by-query', async (world) => {
    const { time } = world;
    const host = { now: time.now, sleep: time.sleep, post: (body: string) => asSomebodyElse(world, body) };
    const starts = startsOf(situation);
    const ended: PeerRun[] = [];
    for (const seconds of starts) {
      time.at(time.now() + seconds * 1000, () => {
        runPeer(host, [pair], peerDefaults).then((run) => ended.push(run));
      });
    }
    await time.run(() => ended.length === starts.length);
    return {
      sent: ended.reduce((sum, { sentAfter }) => sum + sentAfter.length, 0),
      said: ended.map(({ failed, said }) => `${failed ? 'error' : 'green'}: ${said.at(-1)}`).join(' / '),
      noticed: ended.some(({ failed }) => failed),
      mails: [],
    };
  });

/** Outcomes that name what was lost or left. */
const naming = new Set<Outcome>(['rows-missing', 'incomplete', 'unknown', 'failed', 'still-running', 'not-started']);

/** Our run, or runs. */
export const livedByUs = (
  situation: Situation,
  profile: ProfileName,
  strategy: 'delete-by-query' | 'reindex',
): Promise<Lived> =>
  lived(situation, profile, strategy, async (world) => {
    const { time, journal } = world;
    const starts = startsOf(situation);
    const executions: Execution[] = [];
    for (const [number, seconds] of starts.entries()) {
      time.at(time.now() + seconds * 1000, () => executions.push(startExecution(world, `run-${number + 1}`, {})));
    }
    await time.run(() => executions.length === starts.length && executions.every(({ ended }) => ended));
    const reports = journal.flatMap((event) => (event.kind === 'published' ? [event.report] : []));
    const outcomes = reports.flatMap(({ policies }) => policies.map(({ outcome }) => outcome));
    return {
      sent: journal.filter(({ kind }) => kind === 'truncate').length,
      said: outcomes.join(' / '),
      noticed: outcomes.some((outcome) => naming.has(outcome)),
      mails: reports.map((report) => composeMessage(report).email),
    };
  });
