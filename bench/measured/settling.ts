import { runStateMachine } from '../../cli/state-machine.ts';
import { dayMillis } from '../../lambda/facts/limits.ts';
import { createEngine, type Engine } from '../../test/operations-service/engine.ts';
import { type ProfileName, profileNames } from '../../test/operations-service/profiles.ts';
import { inProcess, type Requests } from '../simulation/in-process.ts';
import { deployVirtually } from '../simulation/steps.ts';
import { VirtualTime } from '../simulation/virtual-time.ts';

/**
 * Liveness: how long until the night's one truncation is settled, and what that costs the server, for each profile:
 * without faults, with a 504 as the answer to the real truncate, and with sizes and statuses refused permanently.
 */

export const cases = {
  'all well': { says: 'a task id', prepare: () => {} },
  '504, done all the same': {
    says: 'a proxy answers 504, and the server acts',
    prepare: (engine: Engine) => instead(engine, 'act-then'),
  },
  '504, nothing done': {
    says: 'a proxy answers 504, and the server never hears of it',
    prepare: (engine: Engine) => instead(engine, 'fail-before'),
  },
  'no sizes, no status': {
    says: 'both privileges are missing',
    prepare: (engine: Engine) => engine.set({ denied: ['getIndexSizes', 'getEsTaskStatus'] }),
  },
} as const;
export type SettlingCase = keyof typeof cases;

export interface SettlingRow {
  profile: ProfileName;
  case: SettlingCase;
  outcome: string;
  /** From the real truncate to the report. */
  minutes: number;
  looks: number;
  requests: Requests;
  /** Requests per look, including the verification's own counts. */
  perLook: number;
}

/** A 504 instead of the answer to a real truncate. */
function instead(engine: Engine, kind: 'act-then' | 'fail-before'): void {
  const answer = { kind: 'status', status: 504, body: 'Proxy request timed out.' } as const;
  engine.onRequest = ({ body }) => (body.includes('"dryRun":false') ? { kind, answer } : undefined);
}

const start = Date.UTC(2026, 2, 1, 3, 30);

export async function benchSettling(): Promise<SettlingRow[]> {
  const rows: SettlingRow[] = [];
  for (const profile of profileNames) {
    for (const name of Object.keys(cases) as SettlingCase[]) rows.push(await settled(profile, name));
  }
  return rows;
}

async function settled(profile: ProfileName, name: SettlingCase): Promise<SettlingRow> {
  const time = new VirtualTime(start);
  const timestamps = [
    ...Array.from({ length: 20_000 }, (_, row) => start - (31 + row / 300) * dayMillis),
    ...Array.from({ length: 30_000 }, (_, row) => start - (row / 1100) * dayMillis),
  ];
  const engine = createEngine({
    profile,
    clock: time,
    indices: [{ entityType: 'dataset', aspect: 'operation', timestamps }],
  });
  // Half a minute of deleting.
  engine.set({ rowsPerSecond: 650 });
  cases[name].prepare(engine);
  const { operations, requests } = inProcess(engine, time);
  const policies = [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30 }];
  const { handlers, published, entered } = deployVirtually(time, { operations, policies });
  let sentAt = time.now();
  let looks = { requests: 0, count: 0 };
  const sum = () => Object.values(requests).reduce((all, count) => all + count, 0);
  await runStateMachine({
    handlers: {
      ...handlers,
      truncate: async (state) => {
        const next = await handlers.truncate(state);
        sentAt = time.now();
        return next;
      },
      poll: async (state) => {
        const before = sum();
        const next = await handlers.poll(state);
        looks = { requests: looks.requests + sum() - before, count: looks.count + 1 };
        return next;
      },
    },
    input: {},
    execution: { name: 'night', startTime: new Date(start).toISOString() },
    now: time.now,
    fast: { maxWaitMillis: 0, skipped: (millis) => time.advance(millis) },
  });
  const { report, at } = published()!;
  if (!entered.includes('Poll')) throw new Error(`${profile}: nothing was sent: ${JSON.stringify(report.policies)}`);
  return {
    profile,
    case: name,
    outcome: report.policies[0]!.outcome,
    minutes: (at - sentAt) / 60_000,
    looks: looks.count,
    requests: { ...requests },
    perLook: looks.requests / looks.count,
  };
}
