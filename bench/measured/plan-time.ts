import { connect } from '../../cli/run/connect.ts';
import { systemClock } from '../../lambda/facts/clock.ts';
import { dayMillis, functionTimeoutSeconds, planConcurrency } from '../../lambda/facts/limits.ts';
import { memoryLedger } from '../../lambda/ledger/memory.ts';
import { plan } from '../../lambda/run/plan/plan.ts';
import { startOperationsService } from '../../test/operations-service/server.ts';

/** How long Plan takes for many policies, over real HTTP on loopback and in real time. */

export interface PlanTime {
  policies: number;
  answerMillis: number;
  concurrency: number;
  idealMillis: number;
  /** The fastest and the median of several Plans. */
  minMillis: number;
  medianMillis: number;
  /** Median divided by the ideal. */
  ratio: number;
}

const policyCount = 48;
const answerMillis = 200;

export async function benchPlan(rounds: number): Promise<PlanTime> {
  const aspects = Array.from({ length: policyCount }, (_, at) => `bench${at}`);
  const now = Date.now();
  const service = await startOperationsService({
    indices: aspects.map((aspect) => ({
      entityType: 'dataset',
      aspect,
      timestamps: [now - 90 * dayMillis, now - dayMillis],
    })),
  });
  try {
    service.engine.set({ delayMillis: answerMillis });
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) times.push(await planOnce(service, aspects));
    times.sort((one, other) => one - other);
    const idealMillis = Math.ceil(policyCount / planConcurrency) * answerMillis;
    const medianMillis = times[rounds >> 1]!;
    return {
      policies: policyCount,
      answerMillis,
      concurrency: planConcurrency,
      idealMillis,
      minMillis: times[0]!,
      medianMillis,
      ratio: medianMillis / idealMillis,
    };
  } finally {
    await service.close();
  }
}

async function planOnce(service: { url: string; token: string }, aspects: string[]): Promise<number> {
  const token = { get: async () => service.token, reread: async () => service.token };
  // New connections each time, as in a function.
  const { operations, close } = connect({ baseUrl: service.url, token, tokenText: service.token });
  const policies = aspects.map((aspect) => ({ entityType: 'dataset', aspect, retentionDays: 30 }));
  const deadline = Date.now() + functionTimeoutSeconds.plan * 1000;
  const since = performance.now();
  try {
    const state = await plan(
      { input: {}, execution: { name: 'plan', startTime: new Date().toISOString() } },
      {
        settings: { stage: 'bench', gmsUrl: service.url, mode: 'enforce', minRetentionDays: 7, maxRunHours: 12 },
        parameters: {
          policies: async () => [{ name: 'policies', text: JSON.stringify(policies) }],
          paused: async () => false,
          token,
        },
        operations,
        surroundings: { onLambda: true, lookup: async () => ['192.0.2.1'] },
        ledger: memoryLedger(),
        clock: systemClock,
        log: { info() {}, warn() {}, error() {} },
        newId: () => crypto.randomUUID(),
        deadline: () => deadline,
      },
    );
    const millis = performance.now() - since;
    const approved = state.entries.filter(({ phase }) => phase === 'approved').length;
    if (approved !== aspects.length) throw new Error(`${approved} of ${aspects.length} policies were approved`);
    return millis;
  } finally {
    await close();
  }
}
