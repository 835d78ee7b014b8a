import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import { executeWorkflow, stepOf } from '../../../cli/run/state-machine.ts';
import { createOperations } from '../../../lambda/gms/http/http-operations.ts';
import { createHttpTransport } from '../../../lambda/gms/http/http-transport.ts';
import { fixedIdentity } from '../../../lambda/gms/identity.ts';
import type { PolicyEntry, Report } from '../../../lambda/model/report-schema.ts';
import { mail } from '../../../lambda/report/destinations/mail.ts';
import type { Audience } from '../../../lambda/report/guide/audience.ts';
import { isWorthPublishing, messageOf } from '../../../lambda/report/message.ts';
import { withSentences } from '../../../lambda/report/sentences/sentences.ts';
import { functionTimeoutSeconds } from '../../../lambda/run/deadlines.ts';
import type { RunServices } from '../../../lambda/run/services.ts';
import { takeStep } from '../../support/steps.ts';
import type { ScaledClock } from './shared.ts';

/** The job of one stage: its four steps and its workflow file, on the scaled clock, with a ledger in memory. */
export interface Job {
  /** Starts a run. With an input it is one by hand. */
  run(input?: { release: string[] }): Run;
  /** Stops every run that has not ended. */
  close(): Promise<void>;
}

export interface Run {
  ended: Promise<Ended>;
  /** The run ends where it is, without a report, as if somebody had stopped its execution. */
  stop(): void;
}

export interface Ended {
  /** Omitted if the run did not get to a report. */
  report?: Report;
  /** The index's entry. */
  entry?: PolicyEntry;
  /** The mail; omitted if nobody is told, because `notify: problems` has nothing to tell. */
  message?: string;
  /** Every line of its log. */
  log: string[];
}

export interface JobOptions {
  url: string;
  token: string;
  clock: ScaledClock;
  policy: object;
}

/** Requests are answered in real time. */
const requestMillis = 60_000;

const audience: Audience = { kind: 'machine', program: 'datahub-retention' };

class Stopped extends Error {}

export function createJob({ url, token, clock, policy }: JobOptions): Job {
  const transport = createHttpTransport({ readTimeoutMillis: requestMillis, truncateTimeoutMillis: requestMillis });
  const identity = fixedIdentity({ token });
  const settings = { stage: 'prod', gmsUrl: url, mode: 'enforce', minRetentionDays: 7, maxRunHours: 12 } as const;
  const shared: Omit<RunServices, 'deadline' | 'log'> = {
    settings,
    parameters: {
      policies: async () => [{ name: 'policy', text: JSON.stringify(policy) }],
      paused: async () => false,
      identity,
    },
    operations: createOperations({ baseUrl: url, identity, transport, realNow: clock.now, sleep: clock.sleep }),
    ledger: memoryLedger(),
    clock,
  };
  const runs: Run[] = [];

  function start(input?: { release: string[] }): Run {
    const ended: Ended = { log: [] };
    const log = logTo(ended.log, clock.now);
    let stop: (error: Error) => void = () => {};
    const stopped = new Promise<never>((_, reject) => {
      stop = reject;
    });
    const publish = async (made: Report, byHand?: boolean) => {
      ended.report = made;
      if (made.policies[0]) ended.entry = made.policies[0];
      const message = messageOf(made, { audience });
      if (isWorthPublishing(made, byHand)) ended.message = mail.render(message);
      return true;
    };
    const call = (resource: string, given: unknown): Promise<unknown> => {
      const step = stepOf(resource);
      const deadline = clock.now() + functionTimeoutSeconds[step] * 1000;
      const words = (facts: Parameters<typeof withSentences>[0]) => withSentences(facts, audience);
      return takeStep(step, given, {
        ...shared,
        log,
        deadline: () => deadline,
        publisher: { publish },
        addSentences: words,
      });
    };
    const startTime = new Date(clock.now()).toISOString();
    const given = input ?? { scheduledTime: startTime };
    const executed = executeWorkflow(
      { Execution: { Name: `run-${runs.length + 1}`, StartTime: startTime, Input: given } },
      { input: given },
      {
        random: () => 0.5,
        sleep: (millis) => Promise.race([clock.sleep(millis), stopped]),
        call: (resource, value) => Promise.race([call(resource, value), stopped]),
        entered() {},
      },
    );
    return {
      stop: () => stop(new Stopped()),
      ended: Promise.race([executed, stopped])
        .catch((error: Error) => {
          if (!(error instanceof Stopped)) throw error;
        })
        .then(() => ended),
    };
  }

  return {
    run(input) {
      const run = start(input);
      runs.push(run);
      return run;
    },
    async close() {
      for (const run of runs) run.stop();
      await Promise.allSettled(runs.map(({ ended }) => ended));
      await transport.close();
    },
  };
}

function logTo(lines: string[], now: () => number): RunServices['log'] {
  const write = (message: string, fields: Record<string, unknown> = {}) => {
    lines.push(`${new Date(now()).toISOString()} ${message} ${JSON.stringify(fields)}`);
  };
  return { info: write, warn: write, error: write };
}
