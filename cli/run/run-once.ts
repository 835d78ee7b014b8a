import { randomUUID } from 'node:crypto';
import type { Cause } from '../../lambda/facts/cause.ts';
import { systemClock } from '../../lambda/facts/clock.ts';
import type { Report, ReportFacts } from '../../lambda/facts/report-schema.ts';
import { type Ledger, LedgerError } from '../../lambda/ledger/ledger.ts';
import type { Nights } from '../../lambda/memory/night.ts';
import type { LocalCommand } from '../../lambda/notification/context.ts';
import { lookup } from '../../lambda/operations/http/lookup.ts';
import type { Operations } from '../../lambda/operations/operations.ts';
import type { PolicySource } from '../../lambda/policy/parse.ts';
import { type Log, ParametersError } from '../../lambda/run/services.ts';
import { worded } from '../../lambda/wording/worded.ts';
import type { RunArguments } from '../command-line/arguments.ts';
import { UsageError } from '../command-line/usage-error.ts';
import type { OutputFile } from '../files/output-file.ts';
import type { Server } from '../files/server.ts';
import type { Webhook } from '../notify/webhook.ts';
import type { Output } from '../output/output.ts';
import { executeWorkflow } from '../workflow.ts';
import { type FastClock, fastClock } from './clock.ts';
import type { Connection } from './connect.ts';
import { onInterrupt, whatGoesOn } from './interrupt.ts';
import type { Policies } from './policies.ts';
import { sampleOnly } from './sample.ts';
import { sampleLedger } from './sample-ledger.ts';
import { localSettings } from './settings.ts';
import { tellReport } from './tell-report.ts';

export interface LocalRun {
  server: Server;
  connection: Connection;
  policies: Policies;
  input: RunArguments;
  fast: boolean;
  /** True for the embedded service, which has only sample data and ends with this process. */
  embedded: boolean;
  /** True if no answer is accepted unless it says that the data is a sample. */
  sampleOnly: boolean;
  ledger: Ledger & { close?(): void };
  nights: Nights;
  json?: OutputFile;
  html?: OutputFile;
  webhook?: Webhook;
  /** What messages call this DataHub, as a stage's name on AWS. */
  name: string;
  /** How this run was started; for next steps. */
  command: LocalCommand;
}

/**
 * Runs once and reports the result.
 * @returns the exit status: 0 if the result is ok and everyone who should be notified is, else 1
 * @throws whatever the workflow throws
 */
export async function runOnce(run: LocalRun, output: Output): Promise<number> {
  const clock = run.fast ? fastClock() : systemClock;
  let stopped = false;
  const leave = onInterrupt(async () => {
    stopped = true;
    const lines = await linesAfterStop(run);
    output.stopped(lines);
    output.close();
    return lines;
  });
  const ledgerFailures = new Map<string, string>();
  let published: Report | undefined;
  try {
    output.counted(0, run.policies.count);
    const startTime = new Date(clock.now()).toISOString();
    await executeWorkflow({
      services: {
        settings: { ...localSettings, stage: run.name, gmsUrl: run.server.baseUrl, mode: run.input.mode },
        parameters: {
          policies: policiesOf(run.policies),
          // A local run is controlled only by the person who started it.
          paused: async () => false,
          token: run.server.token,
        },
        operations: operationsOf(run, () => stopped),
        ledger: run.sampleOnly ? sampleLedger(run.ledger, clock.now) : run.ledger,
        nights: run.nights,
        surroundings: {
          onLambda: false,
          lookup,
          // The dry runs may take minutes; meanwhile, people can read the preflight's checks.
          onPreflight: output.preflight,
        },
        clock,
        log: logOf(run, output),
        newId: randomUUID,
      },
      publisher: {
        async publish(report) {
          published = report;
        },
      },
      words: (facts) => worded(withReasons(facts, ledgerFailures), 'machine'),
      input: run.input,
      execution: { name: `local-${startTime.replace(/[-:]|\.\d+/g, '')}-${randomUUID().slice(0, 8)}`, startTime },
      onState: output.state,
      onFailure: (step, error) => {
        if (error instanceof LedgerError) ledgerFailures.set(step, error.message);
        output.problem(`${step} failed: ${error instanceof Error ? error.message : String(error)}`);
      },
      ...(run.fast && { fast: clock as FastClock }),
    });
  } finally {
    leave();
    run.ledger.close?.();
  }
  // The workflow ended successfully, which only happens by publishing a report.
  return tellReport(published!, run, output);
}

/**
 * The workflow keeps only the name of a step's error, because on AWS the rest is in the log. Here the log is a screen
 * that nobody may have read: the report says what is wrong with the ledger's file (that the disk is full, for example).
 */
function withReasons(facts: ReportFacts, ledgerFailures: ReadonlyMap<string, string>): ReportFacts {
  const withReason = (cause: Cause): Cause => {
    const problem = cause.kind === 'step-failed' ? ledgerFailures.get(cause.step) : undefined;
    return problem === undefined ? cause : { kind: 'ledger', problem };
  };
  return {
    ...facts,
    ...(facts.cause && { cause: withReason(facts.cause) }),
    policies: facts.policies.map((entry) => ({ ...entry, cause: withReason(entry.cause) })),
  };
}

async function linesAfterStop({ input, embedded, ledger, command }: LocalRun): Promise<string[]> {
  if (input.mode === 'preview') return ['Stopped. This was a preview: nothing was started.'];
  if (embedded) return ['Stopped, and the embedded service with it.'];
  return whatGoesOn(ledger, command.byHand !== undefined);
}

/** A process that was asked to stop sends nothing more. */
function operationsOf(
  { connection: { operations, isSample }, ...run }: LocalRun,
  isStopped: () => boolean,
): Operations {
  const checked = run.sampleOnly ? sampleOnly(operations, isSample) : operations;
  const truncate: Operations['truncate'] = (fields, maySend) =>
    checked.truncate(fields, () => !isStopped() && maySend());
  return { ...checked, truncate };
}

/** Plan uses what was checked before the first request; Truncate rereads the file. */
function policiesOf({ first, again }: Policies): () => Promise<PolicySource[]> {
  let isFirst = true;
  return async () => {
    if (isFirst) {
      isFirst = false;
      return first;
    }
    try {
      return again();
    } catch (error) {
      if (error instanceof UsageError) throw new ParametersError(error.message);
      throw error;
    }
  };
}

/** Decisions are reported from the run state; only the log shows how far planning has got. */
function logOf({ policies }: LocalRun, output: Output): Log {
  let planned = 0;
  return {
    info(message) {
      if (message === 'planned') output.counted(++planned, policies.count);
    },
    warn: (message) => output.problem(`Note: ${message}`),
    error: (message) => output.problem(`Error: ${message}`),
  };
}
