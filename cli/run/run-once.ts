import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { serverAddress } from '../../lambda/gms/http/base-url.ts';
import type { Operations } from '../../lambda/gms/operations.ts';
import type { Ledger } from '../../lambda/ledger/ledger.ts';
import type { ServerError } from '../../lambda/model/server-error.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import type { PolicySource } from '../../lambda/policy/parse.ts';
import type { Audience } from '../../lambda/report/guide/audience.ts';
import { counted, rows } from '../../lambda/report/sentences/numbers.ts';
import { withSentences } from '../../lambda/report/sentences/sentences.ts';
import { diagnosis } from '../../lambda/report/sentences/server-errors.ts';
import { plannedLine } from '../../lambda/run/plan/plan.ts';
import { type Log, ParametersError, type Publisher } from '../../lambda/run/services.ts';
import type { RunState } from '../../lambda/run/state.ts';
import { defaultLimits } from '../../lambda/settings/fields.ts';
import { systemClock } from '../../lambda/truncation/clock.ts';
import { taskIdLine } from '../../lambda/truncation/send.ts';
import { jobVersion } from '../../version.ts';
import type { LocalInput } from '../command-line/arguments.ts';
import { UsageError } from '../events/mistakes.ts';
import type { RunListener } from '../events/run-listener.ts';
import type { Policies } from '../inputs/policies.ts';
import type { Server } from '../inputs/server.ts';
import { onInterrupt, unresolvedLines } from './interrupt.ts';
import { fastClock } from './sample.ts';
import { runWorkflow } from './workflow.ts';

interface LocalRun {
  server: Server;
  operations: Operations;
  policies: Policies;
  input: LocalInput;
  /** Waits are cut short: the run's clock advances as if it had waited. */
  fast: boolean;
  /** True for the embedded service, which has only sample data and ends with this process. */
  embedded: boolean;
  ledger: Ledger;
  /** What messages call this DataHub, as a stage's name on AWS. */
  name: string;
  /** Who reads its messages. */
  audience: Audience;
  /** Asks the person at the terminal before the first truncation; undefined where nobody is asked. */
  ask?: ((question: string) => Promise<boolean>) | undefined;
}

/** Of the options, the stage file or the values. */
const limitsOf = ({ settings: { minRetentionDays, maxRunHours, maxRowsPerRun } }: Policies) => ({
  minRetentionDays: minRetentionDays?.value ?? defaultLimits.minRetentionDays,
  maxRunHours: maxRunHours?.value ?? defaultLimits.maxRunHours,
  maxRowsPerRun: maxRowsPerRun?.value,
});

/** The person who was asked said no: thrown between two states, where no Retry and no Catch takes it for a failure. */
class Declined extends Error {}

/**
 * Runs once, and has its report published; nothing is published where the person who was asked said no.
 * @throws whatever the workflow throws
 */
export async function runOnce(run: LocalRun, output: RunListener, publisher: Publisher): Promise<void> {
  const clock = run.fast ? fastClock() : systemClock;
  let stopped = false;
  let declined = false;
  let last: RunState | undefined;
  const tellTroubles = troubleReporter(output);
  /** Truncate is between its call and its last write. */
  let calling: { ended: Promise<void>; end(): void } | undefined;
  const stopListening = onInterrupt(async () => {
    stopped = true;
    await Promise.race([calling?.ended, systemClock.sleep(graceMillis)]);
    const lines = await linesAfterStop(run, last);
    output.stopped(lines);
    output.close();
    return lines;
  });
  try {
    output.counted(0, run.policies.count);
    const startTime = new Date(clock.now()).toISOString();
    await runWorkflow({
      services: {
        settings: {
          ...limitsOf(run.policies),
          stage: run.name,
          jobVersion: jobVersion(),
          gmsUrl: run.server.baseUrl,
          mode: run.input.mode,
          asksPerson: run.ask !== undefined,
        },
        parameters: {
          policies: () => policiesOf(run),
          // A local run is controlled only by the person who started it.
          paused: async () => false,
          identity: run.server.identity,
        },
        operations: operationsOf(run, {
          isStopped: () => stopped,
          onCall: () => {
            calling = pendingCall();
          },
        }),
        ledger: run.ledger,
        clock,
        log: logOf(run, output),
      },
      publisher,
      addSentences: (data) => withSentences(data, run.audience),
      input: run.input,
      execution: { name: executionName(run, startTime), startTime },
      onState: async (step, state) => {
        last = state;
        calling?.end();
        output.state(step, state);
        // Nothing is printed between the plan and the question.
        if (step !== 'plan') tellTroubles(state);
        const question = step === 'plan' ? questionOf(run, state) : undefined;
        if (question === undefined || run.ask === undefined || (await run.ask(question))) return;
        stopped = true;
        declined = true;
      },
      entered: () => {
        if (declined) throw new Declined();
      },
      onFailure: (step, error) => {
        calling?.end();
        output.problem(`${step} failed: ${error instanceof Error ? error.message : String(error)}`);
      },
    });
  } catch (error) {
    if (!(error instanceof Declined)) throw error;
    output.note('You said no: nothing was sent.', await linesAfterStop(run, last));
  } finally {
    stopListening();
  }
}

/** A report comes hours later: what a server says instead of an answer, once until it says something else. */
function troubleReporter(output: RunListener): (state: RunState) => void {
  const shown = new Map<string, string | undefined>();
  const tell = (index: string, about: 'call' | 'check', error: ServerError | undefined, then: string) => {
    const text = error && `${index}: ${diagnosis(error)}. ${then}`;
    if (text !== undefined && text !== shown.get(`${about} ${index}`)) output.problem(text);
    shown.set(`${about} ${index}`, text);
  };
  return ({ entries }) => {
    for (const { names, record, watch } of entries.filter((entry) => entry.phase === 'watched')) {
      const callError = record.state === 'sending' ? record.attempt.callError : undefined;
      const index = dottedName(names);
      tell(index, 'call', callError, 'It may still have arrived: the run does not send it again, and counts its rows.');
      tell(index, 'check', watch.error, 'The run goes on checking.');
    }
  };
}

/** A pod's name says which log to read, and no other pod has it. */
const executionName = ({ audience }: LocalRun, startTime: string): string =>
  audience.kind === 'kubernetes'
    ? hostname()
    : `local-${startTime.replace(/[-:]|\.\d+/g, '')}-${randomUUID().slice(0, 8)}`;

/**
 * What the plan would delete and where, as a question that can be answered without the table above it; undefined if
 * that is nothing.
 */
function questionOf({ server, name }: LocalRun, { entries }: RunState): string | undefined {
  const approved = entries
    .filter((entry) => entry.phase === 'approved')
    .sort((one, other) => other.plan.counts.rowsToDelete - one.plan.counts.rowsToDelete);
  const [largest, second] = approved;
  if (largest === undefined) return undefined;
  const total = approved.reduce((sum, { plan }) => sum + plan.counts.rowsToDelete, 0);
  const { host, hostname } = new URL(server.baseUrl);
  const where = name === host || name === hostname ? host : `${name} (${host})`;
  const what = second ? counted(approved.length, 'index', 'indices') : dottedName(largest.names);
  const reindexed = approved
    .filter(({ plan }) => plan.counts.method === 'reindex')
    .map(({ names }) => dottedName(names));
  const warning =
    reindexed.length === 0
      ? ''
      : `A reindex cannot be cancelled, and if it fails it can lose rows: ${reindexed.join(', ')} ("refuseReindex": true in the policy sends none).\n`;
  const most = `The largest: ${dottedName(largest.names)}, ${rows(largest.plan.counts.rowsToDelete, 'exact')}.\n`;
  return `${warning}${second ? most : ''}Delete ${rows(total, 'exact')} of ${what} of ${where} for good? [y/N] `;
}

async function linesAfterStop({ server, input, embedded, ledger, audience }: LocalRun, last: RunState | undefined) {
  if (input.mode === 'preview') return ['Stopped. This was a preview: nothing was started.'];
  if (embedded) return ['Stopped, and the embedded service with it.'];
  return unresolvedLines(ledger, last, serverAddress(server.baseUrl), audience.kind === 'kubernetes');
}

/** Most calls are answered within a second, and their task id is worth this wait; a second signal ends it. */
const graceMillis = 3000;

function pendingCall() {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { ended, end };
}

/** A process that was asked to stop sends nothing more. */
function operationsOf(
  { operations }: LocalRun,
  { isStopped, onCall }: { isStopped(): boolean; onCall(): void },
): Operations {
  return {
    ...operations,
    truncate(fields, maySend) {
      onCall();
      return operations.truncate(fields, () => !isStopped() && maySend());
    },
  };
}

/** Plan gets what was checked before the first request; Truncate rereads the file. */
async function policiesOf({ policies }: LocalRun): Promise<PolicySource[]> {
  try {
    return policies.read();
  } catch (error) {
    if (error instanceof UsageError) throw new ParametersError(error.message);
    throw error;
  }
}

/** Decisions are reported from the run state; only the log shows how far planning has got. */
function logOf({ policies }: LocalRun, output: RunListener): Log {
  let planned = 0;
  return {
    info(message, { index, taskId } = {}) {
      if (message === plannedLine) output.counted(++planned, policies.count);
      // Shown before it is stored: if that fails, the id is still known.
      if (message === taskIdLine) output.task(String(index), String(taskId));
    },
    warn: (message) => output.problem(`Note: ${message}`),
    error: (message) => output.problem(`Error: ${message}`),
  };
}
