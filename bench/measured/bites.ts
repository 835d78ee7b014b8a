import { runStateMachine } from '../../cli/state-machine.ts';
import { dayMillis } from '../../lambda/facts/limits.ts';
import { memoryLedger } from '../../lambda/ledger/memory.ts';
import { nightsInMemory } from '../../lambda/memory/night.ts';
import { createEngine } from '../../test/operations-service/engine.ts';
import { inProcess } from '../simulation/in-process.ts';
import { deployVirtually } from '../simulation/steps.ts';
import { VirtualTime } from '../simulation/virtual-time.ts';

/** Ten nights on a million rows that are past their retention, a hundred thousand rows a night. */

export interface BiteRow {
  stamped: string;
  night: number;
  outcome: string;
  rowsDeleted: number;
  /** Days from the sent cutoff to the policy's: 0 once a bite reaches it. */
  cutoffOlderDays: number;
  /** Dry runs that Plan made, the policy's own included. */
  planDryRuns: number;
  /** Seconds that Plan expected for the truncation, if earlier nights showed its speed; and seconds that it took. */
  estimatedSeconds: number | undefined;
  tookSeconds: number;
}

export const bite = 100_000;
const overdue = 1_000_000;
const nights = 10;
const start = Date.UTC(2026, 2, 1, 3, 30);
const retentionDays = 30;
const cutoff = start - retentionDays * dayMillis;

const rowsOf = (at: (row: number) => number) => Array.from({ length: overdue }, (_, row) => at(row));

const stampings: Record<string, () => number[]> = {
  evenly: () => rowsOf((row) => cutoff - Math.floor(((row + 0.5) * 500 * dayMillis) / overdue)),
  // 5,000 rows a day.
  'at midnight': () =>
    rowsOf((row) => Math.floor((cutoff - Math.floor(row / 5000) * dayMillis) / dayMillis) * dayMillis),
  // 37 bursts of an hour each, farther and farther apart.
  'in bursts': () =>
    rowsOf((row) => Math.floor(cutoff - ((row % 37) ** 2 * dayMillis) / 2 - ((row * 7919) % 3_600_000))),
};

export async function benchBites(): Promise<BiteRow[]> {
  const rows: BiteRow[] = [];
  for (const [stamped, timestamps] of Object.entries(stampings)) rows.push(...(await tenNights(stamped, timestamps())));
  return rows;
}

async function tenNights(stamped: string, old: number[]): Promise<BiteRow[]> {
  const time = new VirtualTime(start);
  const fresh = Array.from({ length: 200_000 }, (_, row) => start - Math.floor(((row + 1) * 19 * dayMillis) / 200_000));
  const index = { entityType: 'dataset', aspect: 'operation', timestamps: [...old, ...fresh] };
  const engine = createEngine({ profile: 'newest', clock: time, indices: [index] });
  engine.set({ rowsPerSecond: 500 });
  const { operations, requests } = inProcess(engine, time);
  const policies = [{ ...aspect, retentionDays, minDeletePercent: 0, maxRowsPerRun: bite }];
  const kept = { ledger: memoryLedger(), nights: nightsInMemory() };
  const rows: BiteRow[] = [];
  for (let night = 1; night <= nights; night++) {
    // Right after the previous night, so that no further row becomes due: only the backlog is shown.
    const startedAt = time.now() + 1000;
    time.advance(1000);
    const { handlers, published } = deployVirtually(time, { operations, policies, ...kept });
    const { dryRun: before } = requests;
    let planDryRuns = 0;
    let estimatedSeconds: number | undefined;
    await runStateMachine({
      handlers: {
        ...handlers,
        plan: async (event) => {
          const state = (await handlers.plan(event)) as { entries: { plan?: { seconds?: number } }[] };
          planDryRuns = requests.dryRun - before;
          estimatedSeconds = state.entries[0]?.plan?.seconds;
          return state;
        },
      },
      input: {},
      execution: { name: `night-${night}`, startTime: new Date(startedAt).toISOString() },
      now: time.now,
      fast: { maxWaitMillis: 0, skipped: (millis) => time.advance(millis) },
    });
    const [entry] = published()!.report.policies;
    const {
      outcome,
      rowsDeleted = 0,
      cutoffMillis = 0,
      policyCutoffMillis = cutoffMillis,
      durationSeconds = 0,
    } = entry!;
    rows.push({
      stamped,
      night,
      outcome,
      rowsDeleted,
      cutoffOlderDays: (policyCutoffMillis - cutoffMillis) / dayMillis,
      planDryRuns,
      estimatedSeconds,
      tookSeconds: durationSeconds,
    });
  }
  return rows;
}

const aspect = { entityType: 'dataset', aspect: 'operation' };
