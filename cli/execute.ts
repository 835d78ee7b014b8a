import { existsSync, readFileSync } from 'node:fs';
import { LedgerError } from '../lambda/ledger/ledger.ts';
import type { StoredRecord } from '../lambda/ledger/record.ts';
import { anchorOf, sectionNames, sectionOf } from '../lambda/message/runbook.ts';
import { shellWord } from '../lambda/message/text.ts';
import { isLoopback } from '../lambda/operations/http/base-url.ts';
import { redactor } from '../lambda/operations/secrets.ts';
import { nearest } from '../lambda/policy/nearest.ts';
import { inputOf, nonEmpty } from './command-line/arguments.ts';
import { audienceOf } from './command-line/audience.ts';
import type { Options } from './command-line/options.ts';
import type { CommandLine, Print } from './command-line/read.ts';
import { validate } from './inputs/inspect.ts';
import { noPolicies, policiesFile, samplePolicyList } from './inputs/policies.ts';
import { othersCanRead } from './inputs/read-text.ts';
import { readServer, refuseProxy, type Server } from './inputs/server.ts';
import { readWebhook, type Webhook, withoutAddress } from './inputs/webhook.ts';
import { chooseLedger, defaultLedgerPath, ledgerAt, openLedger } from './ledgers/choose.ts';
import { type LastRun, lastRunLines } from './ledgers/last-run.ts';
import { memoryLedger } from './ledgers/memory-ledger.ts';
import { statusJson } from './ledgers/status.ts';
import { demoReading } from './operations-service/reading.ts';
import { startOperationsService } from './operations-service/server.ts';
import { checkOutputFile, type OutputFile, writeOutputFile } from './outputs/output-file.ts';
import { isNowhere } from './outputs/screen/screen.ts';
import { statusText } from './outputs/status.ts';
import { writeSurvey } from './outputs/survey-files.ts';
import { type ReportOutputs, reportPublisher } from './outputs/tell-report.ts';
import { type Connection, connect } from './run/connect.ts';
import { onInterrupt } from './run/interrupt.ts';
import { type LocalRun, runOnce } from './run/run-once.ts';
import { isFine, surveyAttempts, surveyServer } from './survey/command.ts';
import { stageAddressWarnings } from './survey/stage-address.ts';
import { UsageError } from './telling/mistakes.ts';
import type { Output, Printed } from './telling/output.ts';

/** What a command needs of its surroundings. */
export interface Surroundings {
  env: NodeJS.ProcessEnv;
  /** How this program was started, for commands in messages. */
  program: string;
  /** Whether there is a terminal with a person at it: a timer has none. */
  hasTerminal: boolean;
  /** Asks the person at the terminal; undefined where nobody can answer. */
  ask?: ((question: string) => Promise<boolean>) | undefined;
  /** Standard output was closed, or is the null device: nobody reads it. */
  isOutputNowhere: boolean;
  /** Characters of a line of standard output. */
  width: number;
  /** Writes to standard output. */
  print(text: string): void;
  /** Whether standard output has taken all that was written so far. */
  printed(): Promise<Printed>;
  /** Made when it is needed: text for people, or lines of JSON. */
  output(asked: Pick<Options, 'log' | 'json'>): Output;
}

/**
 * Carries out the command line; everything that it names is read and checked before the first request.
 * @returns the exit status
 * @throws UsageError
 */
export async function execute(asked: CommandLine | Print, surroundings: Surroundings): Promise<number> {
  const { program, print } = surroundings;
  switch (asked.verb) {
    case 'print':
      print(asked.text);
      return 0;
    case 'validate':
      print(`${[...validate(asked), ...(await stageAddressWarnings(asked.stage))].join('\n')}\n`);
      return 0;
    case 'runbook':
      print(`${runbook(asked.words[0], program)}\n`);
      return 0;
    case 'status':
      return status(asked, surroundings);
    default: {
      const output = surroundings.output(asked);
      try {
        const act = { survey, demo, preview: runOnServer, enforce: runOnServer, release: runOnServer }[asked.verb];
        return await act(asked, output, surroundings);
      } finally {
        output.close();
      }
    }
  }
}

async function status(asked: CommandLine, { env, print, width, program }: Surroundings): Promise<number> {
  const { ledger: named } = asked;
  const folder = named ?? defaultLedgerPath(env, false);
  const file = outputFile(asked.json, 'status', [], asked);
  const ledger = ledgerAt(folder, env);
  let records: StoredRecord[];
  let lastRun: LastRun | undefined;
  try {
    if (named !== undefined && !ledger.exists())
      throw new LedgerError(`The ledger ${folder} does not exist: name another with --ledger.`);
    records = await ledger.list();
    lastRun = await ledger.lastRun();
  } catch (error) {
    if (error instanceof LedgerError) throw new UsageError(error.message);
    throw error;
  }
  if (file !== undefined) {
    writeOutputFile(file, statusJson(records, lastRun));
    return 0;
  }
  // A pod that names its ledger may have no home folder.
  const samples = named === undefined ? defaultLedgerPath(env, true) : undefined;
  print(`${lastRunLines(lastRun).join('\n')}\nLedger  ${folder}\n`);
  print(
    records.length === 0
      ? `It has no record: no run with this ledger has truncated anything.\n`
      : statusText(records, width),
  );
  if (samples !== undefined && existsSync(samples))
    print(`\nRuns on sample data have a ledger of their own: ${program} status --ledger ${shellWord(samples)}\n`);
  return 0;
}

/** In the repository and in the package alike: beside the folder of the program. */
const runbookFile = new URL('../docs/runbook.md', import.meta.url);

/**
 * `runbook [SECTION]`: what to do when a message asks for it.
 * @returns the section; without a name, the names of all
 * @throws UsageError
 */
function runbook(section: string | undefined, program: string): string {
  const text = readFileSync(runbookFile, 'utf8');
  const names = sectionNames(text).map(anchorOf);
  const list = names.map((name) => `  ${name}`);
  if (section === undefined)
    return ['The sections of the runbook:', ...list, `${program} runbook SECTION prints one.`].join('\n');
  const found = sectionOf(text, section);
  if (found === undefined) {
    const meant = nearest(anchorOf(section), names);
    const hint = meant === undefined ? ['it has:', ...list].join('\n') : `did you mean ${program} runbook ${meant}?`;
    throw new UsageError(`The runbook has no such section; ${hint}`);
  }
  return found;
}

async function survey(asked: CommandLine, output: Output, { env, program }: Surroundings): Promise<number> {
  const { json, html, ledger, name } = asked;
  const server = readServer(asked, env);
  refuseProxy(server.baseUrl, env);
  const others = [...serverFiles(asked), ['--ledger', ledger]] as const;
  const policies = outputFile(json, 'policies', others, asked);
  const page = outputFile(html, 'page', [...others, ['--json', json]], asked);
  output.header({ server: server.baseUrl, from: server.from, mode: 'survey', embedded: false, fast: false });
  for (const remark of remarks(asked.tokenFile)) output.note(remark);
  const audience = audienceOf(program, asked, env);
  const connection = connect(server, { attempts: surveyAttempts });
  const { isSample, close } = connection;
  const leave = onInterrupt(async () => {
    output.close();
    return ['Stopped. A survey only reads: nothing was changed.'];
  });
  try {
    // The ledger shows what this job has done itself; the survey works without one, or with a broken one.
    const records = async () => ledgerAt(ledger ?? defaultLedgerPath(env, isSample()), env).list();
    const findings = await surveyServer(server, connection, records, output);
    const { baseUrl, tokenText } = server;
    const surveyed = { baseUrl, name, audience, clean: redactor([tokenText]) };
    const isWritten = writeSurvey(findings, { json: policies, html: page }, surveyed, output);
    return findings && isFine(findings) && isWritten ? 0 : 1;
  } finally {
    leave();
    await close();
  }
}

async function demo(
  asked: CommandLine,
  output: Output,
  { program, hasTerminal, printed }: Surroundings,
): Promise<number> {
  const { policies: path, failOn } = asked;
  const input = inputOf(asked);
  const files = runFiles(asked, [
    ['--policies', path],
    ['--notify-url-file', asked.notifyUrlFile],
  ]);
  const policies = path === undefined ? samplePolicyList(input.indices) : policiesFile(path, input.indices);
  const webhook = hidden(readWebhook(asked), output);
  const service = await startOperationsService({ reading: demoReading });
  const { url: baseUrl, token: tokenText } = service;
  let connection: Connection | undefined;
  try {
    const token = { get: async () => tokenText, reread: async () => tokenText };
    const server: Server = { baseUrl, token, tokenText };
    output.header({ server: baseUrl, mode: 'enforce', embedded: true, fast: true });
    for (const remark of remarks(asked.notifyUrlFile)) output.note(remark);
    connection = connect(server, { onServerEvent: output.serverEvent });
    const audience = { kind: 'machine', program, demo: true } as const;
    const name = asked.name ?? 'demo';
    const ledger = memoryLedger();
    const run = { server, connection, policies, input, fast: true, embedded: true, ledger, name, audience };
    // One of the sample policies has a ceiling, to show what happens there.
    const expected = path === undefined ? (['above-ceiling'] as const) : undefined;
    const telling = { server, audience, ...files, webhook, failOn, expected, byHand: hasTerminal, printed };
    return await publishedStatus(run, telling, output);
  } finally {
    await connection?.close();
    await service.close();
  }
}

async function runOnServer(asked: CommandLine, output: Output, surroundings: Surroundings): Promise<number> {
  const { env, program, printed } = surroundings;
  const { verb, fast = false, ledger: named, failOn } = asked;
  const input = inputOf(asked);
  refuseUnattended(asked, surroundings);
  const server = readServer(asked, env);
  refuseProxy(server.baseUrl, env);
  const policies = asked.policies === undefined ? noPolicies : policiesFile(asked.policies, input.indices);
  const webhook = hidden(readWebhook(asked), output);
  const files = runFiles(asked, [
    ...serverFiles(asked),
    ['--policies', asked.policies],
    ['--notify-url-file', asked.notifyUrlFile],
    ['--ledger', named],
  ]);
  // A given ledger is checked before anything is printed; otherwise it depends on the server.
  const given = named === undefined ? undefined : await openLedger(named, asked, policies, env);
  const { baseUrl, from } = server;
  const mode = input.release ? ('release' as const) : input.mode;
  output.header({ server: baseUrl, from, mode, embedded: false, fast, ledger: named });
  for (const warning of policies.warnings) output.note(warning);
  const isPod = audienceOf(program, asked, env).kind === 'kubernetes';
  for (const remark of remarks(asked.tokenFile, asked.notifyUrlFile)) output.note(remark);
  const connection = connect(server, { onServerEvent: output.serverEvent });
  try {
    const path = await chooseLedger(asked, server, env, connection);
    const { ledger, begins } = given ?? (await openLedger(path, asked, policies, env));
    if (given === undefined) output.ledger(path);
    if (begins) output.note(`${isPod ? 'The ledger' : path} ${beginsLedger} ${isPod ? otherRelease : otherFolder}`);
    const name = asked.name ?? new URL(baseUrl).hostname;
    // Commands in its messages must reach the same ledger: at a loopback address, enforce needs --ledger.
    const isNamed = isLoopback(new URL(baseUrl).hostname) && !connection.isSample();
    const audience = audienceOf(program, { ...asked, ledger: isNamed ? path : named }, env);
    const ask = verb === 'enforce' && !asked.yes ? surroundings.ask : undefined;
    const run = { server, connection, policies, input, fast, embedded: false, ledger, name, audience, ask };
    const kept = { place: ledger, verb: mode };
    const telling = { server, audience, ...files, webhook, failOn, byHand: isByHand(surroundings), kept, printed };
    return await publishedStatus(run, telling, output);
  } finally {
    await connection.close();
  }
}

async function publishedStatus(run: LocalRun, telling: ReportOutputs, output: Output): Promise<number> {
  const publisher = reportPublisher(telling, output);
  await runOnce(run, output, publisher);
  return publisher.status();
}

/**
 * A run that changes something needs a person who says yes, now or in its arguments, and a reader of its result.
 * @throws UsageError
 */
function refuseUnattended(asked: CommandLine, { ask, isOutputNowhere, program }: Surroundings) {
  const { verb, yes, json } = asked;
  if (verb === 'enforce' && !yes && ask === undefined) {
    throw new UsageError(
      `enforce asks before it deletes rows for good, and there is no terminal to ask at: to delete without being asked, add --yes, as in ${program} enforce --yes`,
    );
  }
  const isRead = json !== undefined && json !== '-' && !isNowhere(json);
  const isPosted = (asked.notifyUrlFile ?? asked.notifyUrl) !== undefined;
  if (verb === 'preview' || !isOutputNowhere || isPosted || isRead) return;
  throw new UsageError(
    `Nobody would see the result of ${verb}: its output is closed or goes to the null device. Send the output somewhere, or add --json FILE or --notify-url-file FILE.`,
  );
}

/** A container has no terminal; there a person gives the arguments in a variable, which no schedule sets. */
const isByHand = ({ env, hasTerminal }: Surroundings): boolean =>
  hasTerminal || nonEmpty(env['DATAHUB_RETENTION_ARGS']) !== undefined;

/** From now on the webhook's address is removed from all output. */
function hidden(webhook: Webhook | undefined, output: Output): Webhook | undefined {
  if (webhook !== undefined) output.neverShow(withoutAddress(webhook));
  return webhook;
}

const beginsLedger = 'holds no record, so this counts as the first run against this server. If it is not, stop and';
const otherFolder = 'name the existing ledger with --ledger.';
const otherRelease =
  'install the release where the records are: their namespace, or their claim (ledger.existingClaim).';

type NamedFiles = ReadonlyArray<readonly [option: string, path: string | undefined]>;

/** The files that a run writes, once it is known that they can be written. @throws UsageError */
const runFiles = (asked: CommandLine, others: NamedFiles) => ({
  json: outputFile(asked.json, 'report', others, asked),
  metrics: outputFile(asked.metricsFile, 'figures', [...others, ['--json', asked.json]], asked),
});

function outputFile<Holds extends OutputFile['holds']>(
  path: string | undefined,
  holds: Holds,
  others: NamedFiles,
  { force = false }: Options,
): OutputFile<Holds> | undefined {
  if (path === undefined) return undefined;
  const file = { path, holds, force };
  checkOutputFile(file, others);
  return file;
}

const serverFiles = ({ tokenFile, caFile }: Options): NamedFiles => [
  ['--token-file', tokenFile],
  ['--ca-file', caFile],
];

/** Files with secrets that others can read. */
const remarks = (...paths: Array<string | undefined>): string[] =>
  paths.flatMap((path) => (path === undefined ? [] : (othersCanRead(path) ?? [])));
