import { afterEach } from 'vitest';
import type { SampleIndex } from '../../cli/operations-service/samples.ts';
import { executeWorkflow } from '../../cli/workflow.ts';
import { dayMillis, functionTimeoutSeconds } from '../../lambda/facts/limits.ts';
import type { PolicyEntry, Report, ReportFacts } from '../../lambda/facts/report-schema.ts';
import { memoryLedger } from '../../lambda/ledger/memory.ts';
import { nightsInMemory } from '../../lambda/memory/night.ts';
import { createOperations } from '../../lambda/operations/http/http-operations.ts';
import { createHttpTransport } from '../../lambda/operations/http/http-transport.ts';
import type { RunServices, RunSettings } from '../../lambda/run/services.ts';
import type { RunState } from '../../lambda/run/state.ts';
import { type OperationsService, type ServiceOptions, startOperationsService } from '../operations-service/server.ts';
import { wireTo } from './wire.ts';

/** Where virtual time starts. */
export const firstNight = Date.UTC(2026, 2, 1, 3, 30);

/** An index with this many rows older than 30 days, and this many of the last 20. */
export function anIndexOf(old: number, fresh: number, aspect = 'operation', entityType = 'dataset'): SampleIndex {
  const spread = (count: number, from: number, to: number) =>
    Array.from(
      { length: count },
      (_, row) => firstNight - Math.round((from - ((from - to) * row) / count) * dayMillis),
    );
  return { entityType, aspect, timestamps: [...spread(old, 90, 31), ...spread(fresh, 20, 0.5)] };
}

export interface Deployment {
  service: OperationsService;
  /** Virtual epoch milliseconds, for both the run and the server. */
  clock: { time: number };
  ledger: ReturnType<typeof memoryLedger>;
  nights: ReturnType<typeof nightsInMemory>;
  /** What the next runs get; a test may replace any of it. */
  services: Omit<RunServices, 'deadline'>;
  settings: RunSettings;
  policies: unknown[];
  /** Runs the workflow file in virtual time. */
  night(input?: Record<string, unknown>, name?: string): Promise<Report>;
  /** Services for calling one step: its deadline is counted from now. */
  during(step: 'plan' | 'truncate' | 'poll'): RunServices;
  /** Run states that the steps returned, in order. */
  states: RunState[];
  log: string[];
  /** Turns the facts of reports into English; by default as on Lambda. */
  words?: (facts: ReportFacts) => Report;
  realTruncates(): unknown[];
  close(): Promise<void>;
}

/** The steps and the embedded service, connected by a wire and sharing one virtual clock. */
export async function deploy(
  options: Omit<ServiceOptions, 'clock'> & {
    policies?: unknown[];
    settings?: Partial<RunSettings>;
    rowsPerSecond?: number;
    /** Over a socket, as deployed; for tests that are not about HTTP, a turn of the event loop is enough. */
    overHttp?: boolean;
  } = {},
): Promise<Deployment> {
  const clock = { time: firstNight };
  const {
    policies = [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30 }],
    settings: given,
    rowsPerSecond,
    overHttp = false,
    ...rest
  } = options;
  const serving = await startOperationsService({
    indices: [anIndexOf(600, 400)],
    ...rest,
    clock: { now: () => clock.time },
  });
  const transport = overHttp
    ? createHttpTransport({ connectTimeoutMillis: 5000, answerTimeoutMillis: 5000 })
    : wireTo(serving.engine, 5000);
  const stop = async () => {
    await transport.close();
    await serving.close();
  };
  const service = { ...serving, close: stop };
  if (rowsPerSecond !== undefined) service.engine.set({ rowsPerSecond });
  const ledger = memoryLedger();
  const nights = nightsInMemory();
  const states: RunState[] = [];
  const log: string[] = [];
  const note = (message: string, fields?: unknown) => log.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const token = { get: async () => service.token, reread: async () => service.token };
  let ids = 0;
  let runs = 0;
  const deployment: Deployment = {
    service,
    clock,
    ledger,
    nights,
    policies,
    states,
    log,
    settings: { stage: 'test', gmsUrl: service.url, mode: 'enforce', minRetentionDays: 7, maxRunHours: 12, ...given },
    services: {
      get settings() {
        return deployment.settings;
      },
      parameters: {
        policies: async () =>
          deployment.policies.length === 0 ? [] : [{ name: 'policies', text: JSON.stringify(deployment.policies) }],
        paused: async () => false,
        token,
      },
      operations: createOperations({
        baseUrl: service.url,
        token,
        transport,
        attempts: 4,
        realNow: () => clock.time,
        sleep: async () => {},
        random: () => 0,
      }),
      ledger,
      nights,
      surroundings: { onLambda: true, lookup: async () => ['127.0.0.1'] },
      clock: { now: () => clock.time, realNow: () => clock.time, monotonic: () => clock.time },
      log: { info: note, warn: note, error: note },
      newId: () => `id-${++ids}`,
    },
    during(step) {
      const deadline = clock.time + functionTimeoutSeconds[step] * 1000;
      return { ...deployment.services, deadline: () => deadline };
    },
    async night(input = {}, name = `run-${++runs}`) {
      let published: Report | undefined;
      await executeWorkflow({
        services: deployment.services,
        publisher: {
          async publish(report) {
            published = report;
          },
        },
        ...(deployment.words && { words: deployment.words }),
        input,
        execution: { name, startTime: new Date(clock.time).toISOString() },
        onState: (_, state) => states.push(state),
        fast: {
          maxWaitMillis: 0,
          skipped: (millis) => {
            clock.time += millis;
          },
        },
      });
      return published!;
    },
    realTruncates: () =>
      service.engine.asked.filter(({ body }) => (body as { dryRun?: boolean } | undefined)?.dryRun === false),
    close: stop,
  };
  return deployment;
}

/** `deploy` for tests: closes what a test deployed when the test ends. */
export function deployments(): typeof deploy {
  const open: Deployment[] = [];
  afterEach(async () => {
    for (const deployment of open.splice(0)) await deployment.close();
  });
  return async (...options) => {
    const deployment = await deploy(...options);
    open.push(deployment);
    return deployment;
  };
}

/** Outcome by `entityType.aspect`. */
export const outcomesOf = (report: Report): Record<string, string> =>
  Object.fromEntries(report.policies.map(({ entityType, aspect, outcome }) => [`${entityType}.${aspect}`, outcome]));

export const only = (report: Report): PolicyEntry => {
  if (report.policies.length !== 1) throw new Error(`one policy expected, not ${report.policies.length}`);
  return report.policies[0]!;
};
