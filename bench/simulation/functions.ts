import type { Step } from '../../cli/state-machine.ts';
import type { Night } from '../../lambda/memory/night.ts';
import type { RunServices } from '../../lambda/run/services.ts';
import { awsCallMillis, containerLivesMillis, startMillis } from './latencies.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What the AWS services other than Step Functions have done in one run. */
export interface Usage {
  invocations: number;
  /** Time that is billed: from the start of a function, a new container's included, to its end. */
  billedMillis: number;
  parameterCalls: number;
  decryptions: number;
  ledgerReads: number;
  ledgerWrites: number;
  nightsRead: number;
  nightsWritten: number;
  logBytes: number;
}

export const noUsage = (): Usage => ({
  invocations: 0,
  billedMillis: 0,
  parameterCalls: 0,
  decryptions: 0,
  ledgerReads: 0,
  ledgerWrites: 0,
  nightsRead: 0,
  nightsWritten: 0,
  logBytes: 0,
});

/** Lambda's own lines about an invocation (start, end, report). */
const platformLogBytes = 600;
/** The fields that the logger adds to each line: time, level, service, stage, run id, step. */
const lineOverheadBytes = 250;

/** The deployed functions in terms of time and money: their containers start cold, and keep the token in memory. */
export function simulateFunctions(time: VirtualTime) {
  const usage = noUsage();
  const usedUntil = new Map<Step, number>();
  const withToken = new Set<Step>();

  /** Runs one step as an invocation of its function. */
  const invoke = async <Result>(step: Step, call: () => Promise<Result>): Promise<Result> => {
    const cold = time.now() - (usedUntil.get(step) ?? Number.NEGATIVE_INFINITY) > containerLivesMillis;
    if (cold) withToken.delete(step);
    const since = time.now();
    await time.sleep(cold ? startMillis.cold : startMillis.warm);
    try {
      return await call();
    } finally {
      usage.invocations += 1;
      usage.billedMillis += time.now() - since;
      usage.logBytes += platformLogBytes;
      usedUntil.set(step, time.now());
    }
  };

  /** The services of a step, which take time and cost money for their calls to AWS. */
  const during = (step: Step, services: Omit<RunServices, 'deadline'>): Omit<RunServices, 'deadline'> => {
    const { ledger, nights, parameters } = services;
    const called = async <Result>(count: () => void, call: () => Promise<Result>): Promise<Result> => {
      count();
      await time.sleep(awsCallMillis);
      return call();
    };
    const parameter = () => {
      usage.parameterCalls += 1;
    };
    const token = () => {
      if (withToken.has(step)) return parameters.token.get();
      withToken.add(step);
      usage.decryptions += 1;
      return called(parameter, () => parameters.token.get());
    };
    const read = () => {
      usage.ledgerReads += 1;
    };
    const write = () => {
      usage.ledgerWrites += 1;
    };
    const recalled = () => {
      usage.nightsRead += 1;
    };
    const remembered = () => {
      usage.nightsWritten += 1;
    };
    const line = (message: string, fields: Record<string, unknown> = {}) => {
      usage.logBytes += lineOverheadBytes + message.length + JSON.stringify(fields).length;
    };
    return {
      ...services,
      log: { info: line, warn: line, error: line },
      parameters: {
        policies: () => called(parameter, parameters.policies),
        paused: () => called(parameter, parameters.paused),
        token: { get: token, reread: parameters.token.reread },
      },
      ledger: {
        read: (index) => called(read, () => ledger.read(index)),
        list: () => called(read, () => ledger.list()),
        replace: (previous, next) => called(write, () => ledger.replace(previous, next)),
        takeScheduledTime: (taking) => called(write, () => ledger.takeScheduledTime(taking)),
      },
      ...(nights && {
        nights: {
          read: (index: string) => called(recalled, () => nights.read(index)),
          write: (night: Night) => called(remembered, () => nights.write(night)),
        },
      }),
    };
  };

  return { usage, invoke, during };
}
