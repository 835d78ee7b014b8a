import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { systemClock } from '../../lambda/facts/clock.ts';
import type { Report } from '../../lambda/facts/report-schema.ts';
import { fileLedger } from '../../lambda/ledger/file.ts';
import { type Ledger, LedgerError } from '../../lambda/ledger/ledger.ts';
import { memoryLedger } from '../../lambda/ledger/memory.ts';
import type { StoredRecord } from '../../lambda/ledger/record.ts';
import { lookup } from '../../lambda/operations/http/lookup.ts';
import { realSleep } from '../../lambda/operations/http/sleep.ts';
import type { Operations } from '../../lambda/operations/operations.ts';
import { indexName, searchIndexOfName } from '../../lambda/policy/aspects.ts';
import { nearest } from '../../lambda/policy/nearest.ts';
import { type PolicySource, parsePolicies } from '../../lambda/policy/parse.ts';
import type { Policy } from '../../lambda/policy/schema.ts';
import { type Log, ParametersError } from '../../lambda/run/services.ts';
import type { RunState } from '../../lambda/run/state.ts';
import { worded } from '../../lambda/wording/report.ts';
import { type RunArguments, UsageError } from '../command-line/arguments.ts';
import type { Server } from '../files/server.ts';
import { renderMessage } from '../screen/message.ts';
import { createProgress, type Progress, type Screen } from '../screen/progress.ts';
import { wrap } from '../screen/text.ts';
import { renderChecks } from '../survey/render.ts';
import { executeWorkflow } from '../workflow.ts';
import { type FastClock, fastClock } from './clock.ts';
import { type Connection, connect } from './connect.ts';
import { onInterrupt, whatGoesOn } from './interrupt.ts';
import { sampleOnly } from './sample.ts';

/** The settings that a stage file has and a command line does not, with the stage file's defaults. */
export const localSettings = { stage: 'local', minRetentionDays: 7, maxRunHours: 12 } as const;

export interface Policies {
  /** As they were read and checked before the first request. */
  first: PolicySource[];
  /** Reads them again. Throws UsageError. */
  again(): PolicySource[];
}

export interface LocalRun {
  server: Server;
  policies: Policies;
  input: RunArguments;
  fast: boolean;
  /** The embedded service's data is a sample, and both end with this process. */
  embedded: boolean;
  /** No answer counts unless it says that the data is a sample. */
  sampleOnly: boolean;
  /** The ledger's file; left out for the embedded service. */
  ledgerPath?: string;
  jsonPath?: string;
  /** How this run was started, up to the options that a next step may add; for the notification. */
  command: string;
}

/**
 * Runs once and shows it.
 * @returns the exit status: 0 when the result is ok, else 1
 * @throws UsageError when the ledger's file cannot be used; LedgerError and whatever the workflow throws
 */
export async function runOnce(run: LocalRun, screen: Screen): Promise<number> {
  const connection = connect(run.server);
  const ledger = openLedger(run);
  const progress = createProgress(screen);
  const clock = run.fast ? fastClock() : systemClock;
  const print = (lines: string[]) => screen.write(`${lines.join('\n')}\n`);
  let stopped = false;
  const leave = onInterrupt(async () => {
    stopped = true;
    progress.stop();
    if (run.input.mode === 'preview') return ['Stopped. This was a preview: nothing was started.'];
    return run.embedded ? ['Stopped, and the embedded service with it.'] : await whatGoesOn(ledger);
  });
  let published: Report | undefined;
  try {
    await checkClear(run, ledger);
    print(header(run));
    const startTime = new Date(clock.now()).toISOString();
    await executeWorkflow({
      services: {
        settings: { ...localSettings, gmsUrl: run.server.baseUrl, mode: run.input.mode },
        parameters: {
          policies: policiesOf(run.policies),
          // Nobody but the person who started it has a say in a local run.
          paused: async () => false,
          token: run.server.token,
        },
        operations: operationsOf(run, connection, () => stopped),
        ledger,
        surroundings: {
          onLambda: false,
          lookup,
          // The dry runs may take minutes; what the preflight says is worth reading meanwhile.
          onPreflight: (checks) => print(['Preflight:', ...renderChecks(checks, screen.width), '']),
        },
        clock,
        log: screenLog(progress, screen.width),
        newId: randomUUID,
        sleep: run.fast ? (clock as FastClock).sleep : realSleep,
      },
      publisher: {
        async publish(report) {
          published = report;
        },
      },
      words: (facts) => worded(facts, 'machine'),
      input: run.input,
      execution: { name: `local-${startTime.replace(/[-:]|\.\d+/g, '')}-${randomUUID().slice(0, 8)}`, startTime },
      onState: (step, state: RunState) => progress.onState(step, state),
      onFailure: (step, error) =>
        progress.line(`  ${step} failed: ${error instanceof Error ? error.message : String(error)}`),
      ...(run.fast && { fast: clock as FastClock }),
    });
  } finally {
    progress.stop();
    leave();
    await connection.close();
    if ('close' in ledger) (ledger as { close(): void }).close();
  }
  // The workflow has ended well, and it does so by publishing a report only.
  const report = published!;
  const { command, fast, server } = run;
  print(['', ...renderMessage(report, screen.width, { command, fast, secrets: [server.tokenText] })]);
  if (run.jsonPath !== undefined) {
    writeFileSync(run.jsonPath, `${JSON.stringify(report, null, 2)}\n`, { mode: 0o600 });
    print(['', `The report is in ${run.jsonPath}.`]);
  }
  return report.result === 'ok' ? 0 : 1;
}

/** Nothing is sent any more by a process that was told to stop. */
function operationsOf({ sampleOnly: only }: LocalRun, { operations, isSample }: Connection, isStopped: () => boolean) {
  const checked = only ? sampleOnly(operations, isSample) : operations;
  const truncate: Operations['truncate'] = (fields, maySend) =>
    checked.truncate(fields, () => !isStopped() && maySend());
  return { ...checked, truncate };
}

/** Plan takes what was checked before the first request; Truncate reads the file again. */
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

function header({ server, input, embedded, fast, ledgerPath }: LocalRun): string[] {
  const enforces = input.mode === 'enforce';
  const mode = input.clear
    ? 'clear: counts rows and changes the ledger; truncates nothing'
    : !enforces
      ? 'PREVIEW: nothing is changed; --enforce truncates for real'
      : embedded
        ? 'enforce: really truncating, but sample data only'
        : 'ENFORCE: truncates for real';
  return [
    `Server  ${server.baseUrl}${embedded ? ' (the embedded operations service)' : ''}`,
    `Mode    ${mode}${fast ? '; waits are cut short' : ''}`,
    ...(ledgerPath === undefined ? [] : [`Ledger  ${ledgerPath}`]),
    ...(enforces && !embedded
      ? [
          'Note    A deployed job for this server has a ledger of its own and knows nothing of this one: pause it first.',
        ]
      : []),
    '',
  ];
}

const parsedPolicies = ({ policies }: LocalRun): Policy[] =>
  parsePolicies(policies.first, localSettings.minRetentionDays).flatMap((item) =>
    item.kind === 'policy' ? [item.policy] : [],
  );

/** A quarantined index may have lost its policy; a name that the ledger does not know, either, is a typing error. */
async function checkClear(run: LocalRun, ledger: Ledger): Promise<void> {
  const { clear = [] } = run.input;
  if (clear.length === 0) return;
  const records = await ledger.list();
  const names = parsedPolicies(run).map(indexName);
  const known = [...new Set([...names, ...records.flatMap(nameOf)])];
  for (const name of clear) {
    if (known.some((one) => searchIndexOfName(one) === searchIndexOfName(name))) continue;
    const meant = nearest(name, known);
    throw new UsageError(
      `--clear ${name}: neither the policies nor the ledger know it; ${meant ? `did you mean ${meant}?` : `there are ${known.join(', ')}.`}`,
    );
  }
}

function nameOf(record: StoredRecord): string[] {
  const names = record.state === 'other-version' ? record.head : record;
  return names ? [indexName(names)] : [];
}

/** A preview leaves no trace: where there is no ledger yet, it does not make one, and one that is there is only read. */
function openLedger({ input, ledgerPath }: LocalRun): Ledger {
  const readOnly = input.mode === 'preview';
  if (ledgerPath === undefined || (readOnly && !existsSync(ledgerPath))) return memoryLedger();
  try {
    return fileLedger(ledgerPath, { readOnly });
  } catch (error) {
    if (error instanceof LedgerError) throw new UsageError(`--ledger: ${error.message}`);
    throw error;
  }
}

/** Decisions are on the screen already, from the run state; warnings are not. */
const screenLog = (progress: Progress, width: number): Log => {
  const tell = (lead: string) => (message: string) => {
    for (const text of wrap(message, width, lead, '    ')) progress.line(text);
  };
  return { info: () => {}, warn: tell('  Note: '), error: tell('  Error: ') };
};
