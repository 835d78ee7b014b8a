import { memoryLedger } from '../cli/ledgers/memory-ledger.ts';
import { type Step, states } from '../cli/run/state-machine.ts';
import { reportMetrics } from '../lambda/aws/metrics.ts';
import { createOperations } from '../lambda/gms/http/http-operations.ts';
import { fixedIdentity } from '../lambda/gms/identity.ts';
import { type HttpRequest, type Transport, TransportError } from '../lambda/gms/transport.ts';
import type { Report } from '../lambda/model/report-schema.ts';
import { messageOf } from '../lambda/report/message.ts';
import { withSentences } from '../lambda/report/sentences/sentences.ts';
import { functionTimeoutSeconds } from '../lambda/run/deadlines.ts';
import type { RunServices } from '../lambda/run/services.ts';
import { createEngine, type Engine } from '../test/simulated-gms/engine.ts';
import { executeSteps, takeStep } from '../test/support/steps.ts';
import type { Scenario } from './scenarios.ts';
import { VirtualTime } from './virtual-time.ts';

/**
 * One run in virtual time: the workflow file, the four steps and the client of a deployment, connected to the embedded
 * service in this process. What takes time besides the workflow's own waits is assumed, not measured: round figures,
 * slower than these services usually are.
 */
const millis = {
  transition: 50,
  warmStart: 20,
  coldStart: 800,
  /** Idle containers are assumed gone after this long. */
  containerLives: 5 * 60_000,
  /** One call of DynamoDB, of Parameter Store, of SNS. */
  awsCall: 15,
  /** Two `_count` queries; a submission; a task's status, or the sizes. */
  answer: { dryRun: 200, truncate: 400, read: 100 },
} as const;

/** Lambda's own lines about an invocation, and the fields that the logger adds to a line. */
const logBytes = { invocation: 600, line: 250 } as const;

/** What one run has done. */
export interface Usage {
  requests: number;
  transitions: number;
  historyEvents: number;
  invocations: number;
  billedMillis: number;
  ledgerReads: number;
  ledgerWrites: number;
  decryptions: number;
  logBytes: number;
  metrics: number;
}

export interface Measured {
  usage: Usage;
  report: Report;
  /** From the end of the last task to the published report; undefined if a task still runs. */
  lagSeconds: number | undefined;
  largestStateBytes: number;
}

/** The server of a scenario, and a client of it that counts its requests. */
export function serverOf({ indices, rowsPerSecond }: Scenario, start: number) {
  const time = new VirtualTime(start);
  const engine = createEngine({ profile: 'plain', clock: time, indices });
  engine.set({ rowsPerSecond, batchOverheadMillis: 0, batchJitter: 0 });
  const usage: Usage = { ...nothing };
  const identity = fixedIdentity({ token: engine.token });
  const operations = createOperations({
    baseUrl: 'http://gms.example.com',
    identity,
    transport: inProcess(engine, time, usage),
    realNow: time.now,
    sleep: time.sleep,
    random: () => 0.5,
  });
  return { time, engine, usage, identity, operations };
}

/** When the last task has ended, epoch milliseconds; undefined while one runs. */
export function endOf(engine: Engine): number | undefined {
  const ends = engine.tasks().map(({ completedAt }) => completedAt);
  return ends.every((end) => end !== undefined) ? Math.max(...ends.map(Number)) : undefined;
}

/** @param start epoch milliseconds */
export async function measureRun(scenario: Scenario, start: number): Promise<Measured> {
  const server = serverOf(scenario, start);
  const { time, engine, usage } = server;
  const services = servicesOf(scenario, server);
  let largestStateBytes = 0;
  let published: { report: Report; at: number } | undefined;

  const invoke = functionsOf(time, usage);
  const publish = async (made: Report) => {
    await time.sleep(2 * millis.awsCall);
    published = { report: made, at: time.now() };
    messageOf(made, { audience: { kind: 'aws' } });
    return true;
  };
  const take = (step: Step, event: unknown) =>
    invoke(step, async () => {
      const deadline = time.now() + functionTimeoutSeconds[step] * 1000;
      const given = { ...services, deadline: () => deadline, publisher: { publish }, addSentences: withSentences };
      const result = await takeStep(step, event, given);
      largestStateBytes = Math.max(largestStateBytes, Buffer.byteLength(JSON.stringify(result ?? null)));
      return result;
    });
  await executeSteps(take, {
    input: { mode: 'enforce' },
    startTime: new Date(start).toISOString(),
    sleep: (millis) => time.sleep(millis),
  });

  if (published === undefined) throw new Error(`${scenario.name}: the run has published nothing`);
  usage.metrics = metricsOf(published.report);
  const end = endOf(engine);
  const lagSeconds = end === undefined ? undefined : (published.at - end) / 1000;
  return { usage, report: published.report, lagSeconds, largestStateBytes };
}

const nothing: Usage = {
  requests: 0,
  // An execution starts and ends.
  transitions: 1,
  historyEvents: 2,
  invocations: 0,
  billedMillis: 0,
  ledgerReads: 0,
  ledgerWrites: 0,
  decryptions: 0,
  logBytes: 0,
  metrics: 0,
};

/** The states that the workflow enters for each step until the next decision. */
const statesOf: Record<Step, string[]> = {
  plan: ['Plan', 'NextStep'],
  truncate: ['Truncate', 'NextStep'],
  poll: ['Wait', 'Poll', 'NextStep'],
  report: ['Report', 'Succeeded'],
};

/** The deployed functions in terms of time and money: their containers start cold, and keep the identity in memory. */
function functionsOf(time: VirtualTime, usage: Usage) {
  const usedUntil = new Map<Step, number>();
  return async <Result>(step: Step, call: () => Promise<Result>): Promise<Result> => {
    for (const name of statesOf[step]) {
      usage.transitions += 1;
      // A Task writes that it was scheduled, started and succeeded, too.
      usage.historyEvents += states[name]?.Type === 'Task' ? 5 : 2;
    }
    await time.sleep(statesOf[step].length * millis.transition);
    const isCold = time.now() - (usedUntil.get(step) ?? 0) > millis.containerLives;
    const since = time.now();
    await time.sleep(isCold ? millis.coldStart : millis.warmStart);
    if (isCold && step !== 'report') {
      usage.decryptions += 1;
      await time.sleep(millis.awsCall);
    }
    const result = await call();
    usage.invocations += 1;
    usage.billedMillis += time.now() - since;
    usage.logBytes += logBytes.invocation;
    usedUntil.set(step, time.now());
    return result;
  };
}

function servicesOf(
  scenario: Scenario,
  { time, usage, identity, operations }: ReturnType<typeof serverOf>,
): Omit<RunServices, 'deadline'> {
  const ledger = memoryLedger();
  const called = async <Result>(what: 'ledgerReads' | 'ledgerWrites', call: () => Promise<Result>): Promise<Result> => {
    usage[what] += 1;
    await time.sleep(millis.awsCall);
    return call();
  };
  const line = (message: string, fields: Record<string, unknown> = {}) => {
    usage.logBytes += logBytes.line + message.length + JSON.stringify(fields).length;
  };
  return {
    settings: {
      stage: 'bench',
      gmsUrl: 'http://gms.example.com',
      mode: 'enforce',
      minRetentionDays: 7,
      maxRunHours: scenario.maxRunHours,
    },
    parameters: {
      policies: async () => [{ name: 'policies', text: JSON.stringify(scenario.policies) }],
      paused: async () => false,
      identity,
    },
    operations,
    ledger: {
      read: (index) => called('ledgerReads', () => ledger.read(index)),
      list: () => called('ledgerReads', () => ledger.list()),
      replace: (next) => called('ledgerWrites', () => ledger.replace(next)),
    },
    clock: time,
    log: { info: line, warn: line, error: line },
  };
}

/** The client's transport, connected to the service: same wire, no network. */
function inProcess(engine: Engine, time: VirtualTime, usage: Usage): Transport {
  const post = async ({ url, headers, body }: HttpRequest) => {
    usage.requests += 1;
    const { pathname, search } = new URL(url);
    const isRead = !search.includes('truncateTimeseriesAspect');
    const { dryRun, truncate: submission, read } = millis.answer;
    const lasts = isRead ? read : (JSON.parse(body) as { dryRun: boolean }).dryRun ? dryRun : submission;
    await time.sleep(lasts / 2);
    const lowerCase = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const reply = engine.handle({ method: 'POST', path: pathname + search, headers: lowerCase, body });
    await time.sleep(lasts / 2);
    if (reply.kind !== 'reply') throw new TransportError('reset', true);
    const answered = Object.entries(reply.headers).map(([name, value]) => [name.toLowerCase(), value]);
    const received = Object.fromEntries(answered);
    return { status: reply.status, headers: received, dates: [received['date']], body: reply.body, complete: true };
  };
  return {
    post,
    async postAtMostOnce(request, maySend) {
      if (!maySend()) throw new TransportError('withheld', false);
      return post(request);
    },
  };
}

/** Metrics in the embedded format, and the one of subscriptions. */
const metricsOf = (published: Report): number =>
  1 +
  reportMetrics(published)
    .map((line) => JSON.parse(line) as { _aws: { CloudWatchMetrics: { Metrics: unknown[] }[] } })
    .reduce((sum, { _aws }) => sum + _aws.CloudWatchMetrics.reduce((all, { Metrics }) => all + Metrics.length, 0), 0);
