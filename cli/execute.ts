import { existsSync, readFileSync } from 'node:fs';
import { LedgerError } from '../lambda/ledger/ledger.ts';
import type { StoredRecord } from '../lambda/ledger/record.ts';
import { anchorOf, sectionNames, sectionOf } from '../lambda/message/runbook.ts';
import { shellWord } from '../lambda/message/text.ts';
import { isLoopback } from '../lambda/operations/http/base-url.ts';
import { redactor } from '../lambda/operations/secrets.ts';
import { nearest } from '../lambda/policy/nearest.ts';
import {
  type Arguments,
  type DemoArguments,
  type FileArgument,
  type NotifyArguments,
  nonEmpty,
  type ServerArguments,
  type ServerRunArguments,
  type SurveyArguments,
} from './command-line/arguments.ts';
import { audienceOf, pathOfSecret } from './command-line/audience.ts';
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
import { reportPublisher, type Telling } from './outputs/tell-report.ts';
import { type Connection, connect } from './run/connect.ts';
import { onInterrupt } from './run/interrupt.ts';
import { type LocalRun, runOnce } from './run/run-once.ts';
import { isFine, surveyAttempts, surveyServer } from './survey/command.ts';
import { UsageError } from './telling/mistakes.ts';
import type { Output, Printed } from './telling/output.ts';

/** What a command needs of its surroundings. */
export interface Surroundings {
  env: NodeJS.ProcessEnv;
  /** How this program was started, for commands in messages. */
  program: string;
  /** Somebody sits at a terminal: a timer has none. */
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
  output(asked: { log: 'text' | 'json'; json?: FileArgument }): Output;
}

/**
 * Carries out the command line; everything that it names is read and checked before the first request.
 * @returns the exit status
 * @throws UsageError
 */
export async function execute(asked: Arguments, surroundings: Surroundings): Promise<number> {
  const { program, print } = surroundings;
  switch (asked.kind) {
    case 'print':
      print(asked.text);
      return 0;
    case 'validate':
      print(`${validate(asked).join('\n')}\n`);
      return 0;
    case 'runbook':
      print(`${runbook(asked.section, program)}\n`);
      return 0;
    case 'status':
      return status(asked, surroundings);
    default: {
      const output = surroundings.output(asked);
      try {
        if (asked.kind === 'survey') return await survey(asked, output, surroundings);
        return await (asked.kind === 'demo'
          ? demo(asked, output, surroundings)
          : runOnServer(asked, output, surroundings));
      } finally {
        output.close();
      }
    }
  }
}

async function status(
  { ledgerPath, json }: Extract<Arguments, { kind: 'status' }>,
  { env, print, width, program }: Surroundings,
): Promise<number> {
  const folder = ledgerPath ?? defaultLedgerPath(env, false);
  const file = outputFile(json, 'status', []);
  const ledger = ledgerAt(folder, env);
  let records: StoredRecord[];
  let lastRun: LastRun | undefined;
  try {
    if (ledgerPath !== undefined && !ledger.exists())
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
  const samples = ledgerPath === undefined ? defaultLedgerPath(env, true) : undefined;
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

async function survey(asked: SurveyArguments, output: Output, { env, program }: Surroundings): Promise<number> {
  const { json, html, ledgerPath, name } = asked;
  const server = readServer(asked.server, env);
  refuseProxy(server.baseUrl, env);
  const others = [...serverFiles(asked.server), ['--ledger', ledgerPath]] as const;
  const policies = outputFile(json, 'policies', others);
  const page = outputFile(html, 'page', [...others, ['--json', json?.path]]);
  output.header({ server: server.baseUrl, from: server.from, mode: 'survey', embedded: false, fast: false });
  for (const remark of remarks(asked.server.tokenPath)) output.note(remark);
  const audience = audienceOf(program, asked, env);
  const connection = connect(server, { attempts: surveyAttempts });
  const { isSample, close } = connection;
  const leave = onInterrupt(async () => {
    output.close();
    return ['Stopped. A survey only polls: nothing was changed.'];
  });
  try {
    // What this job has done is not attributed to other tools; without a ledger, or with a broken one, there is nothing to know.
    const records = async () => ledgerAt(ledgerPath ?? defaultLedgerPath(env, isSample()), env).list();
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
  asked: DemoArguments,
  output: Output,
  { program, hasTerminal, printed }: Surroundings,
): Promise<number> {
  const { input, policiesPath, notify, failOn } = asked;
  const files = runFiles(asked, [['--policies', policiesPath], ...notifyFiles(notify)]);
  const policies =
    policiesPath === undefined ? samplePolicyList(input.indices) : policiesFile(policiesPath, input.indices);
  const webhook = notify && hidden(readWebhook(notify), output);
  const service = await startOperationsService({ reading: demoReading });
  const { url: baseUrl, token: tokenText } = service;
  let connection: Connection | undefined;
  try {
    const token = { get: async () => tokenText, reread: async () => tokenText };
    const server: Server = { baseUrl, token, tokenText };
    output.header({ server: baseUrl, mode: 'enforce', embedded: true, fast: true });
    for (const remark of remarks(pathOfSecret(notify?.url))) output.note(remark);
    connection = connect(server, { onHeard: output.heard });
    const audience = { kind: 'machine', program, demo: true } as const;
    const name = asked.name ?? 'demo';
    const ledger = memoryLedger();
    const run = { server, connection, policies, input, fast: true, embedded: true, ledger, name, audience };
    // One of the sample policies has a ceiling, to show what happens there.
    const expected = policiesPath === undefined ? (['above-ceiling'] as const) : undefined;
    const telling = { server, audience, ...files, webhook, failOn, expected, byHand: hasTerminal, printed };
    return await publishedStatus(run, telling, output);
  } finally {
    await connection?.close();
    await service.close();
  }
}

async function runOnServer(asked: ServerRunArguments, output: Output, surroundings: Surroundings): Promise<number> {
  const { env, program, printed } = surroundings;
  const { input, fast, notify, ledgerPath, policiesPath, failOn } = asked;
  refuseUnattended(asked, surroundings);
  const server = readServer(asked.server, env);
  refuseProxy(server.baseUrl, env);
  const policies = policiesPath === undefined ? noPolicies : policiesFile(policiesPath, input.indices);
  const webhook = notify && hidden(readWebhook(notify), output);
  const others = [...serverFiles(asked.server), ['--policies', policiesPath], ...notifyFiles(notify)] as const;
  const files = runFiles(asked, [...others, ['--ledger', ledgerPath]]);
  // If it is given, it can be checked before anything is printed; otherwise the server determines which one it is.
  const given = ledgerPath === undefined ? undefined : await openLedger(ledgerPath, asked, policies, env);
  output.header({
    server: server.baseUrl,
    from: server.from,
    mode: asked.verb,
    embedded: false,
    fast,
    ledger: ledgerPath,
  });
  for (const warning of policies.warnings) output.note(warning);
  const isPod = audienceOf(program, asked, env).kind === 'kubernetes';
  for (const remark of remarks(asked.server.tokenPath, pathOfSecret(notify?.url))) output.note(remark);
  const connection = connect(server, { onHeard: output.heard });
  try {
    const path = await chooseLedger(asked, server, env, connection);
    const { ledger, begins } = given ?? (await openLedger(path, asked, policies, env));
    if (given === undefined) output.ledger(path);
    if (begins) output.note(`${isPod ? 'The ledger' : path} ${beginsLedger} ${isPod ? otherRelease : otherFolder}`);
    const name = asked.name ?? new URL(server.baseUrl).hostname;
    // What is pasted from its messages must reach the same ledger: at a loopback address enforce wants it named.
    const isNamed = isLoopback(new URL(server.baseUrl).hostname) && !connection.isSample();
    const audience = audienceOf(program, { ...asked, ledgerPath: isNamed ? path : ledgerPath }, env);
    const ask = asked.verb === 'enforce' && !asked.yes ? surroundings.ask : undefined;
    const run = { server, connection, policies, input, fast, embedded: false, ledger, name, audience, ask };
    const kept = { place: ledger, verb: asked.verb };
    const telling = { server, audience, ...files, webhook, failOn, byHand: isByHand(surroundings), kept, printed };
    return await publishedStatus(run, telling, output);
  } finally {
    await connection.close();
  }
}

async function publishedStatus(run: LocalRun, telling: Telling, output: Output): Promise<number> {
  const publisher = reportPublisher(telling, output);
  await runOnce(run, output, publisher);
  return publisher.status();
}

/**
 * A run that changes something needs a person who said yes, now or in its arguments, and somebody who reads its result.
 * @throws UsageError
 */
function refuseUnattended(
  { verb, yes, notify, json }: ServerRunArguments,
  { ask, isOutputNowhere, program }: Surroundings,
) {
  if (verb === 'enforce' && !yes && ask === undefined) {
    throw new UsageError(
      `enforce asks before it deletes rows for good, and standard input is not a terminal: to delete without being asked, add --yes, as in ${program} enforce --yes`,
    );
  }
  const isJsonRead = json !== undefined && json.path !== '-' && !isNowhere(json.path);
  if (verb === 'preview' || !isOutputNowhere || notify !== undefined || isJsonRead) return;
  throw new UsageError(
    `Nobody would see the result of ${verb}: its output is closed or goes to the null device. Let it print somewhere, or add --json FILE or --notify-url-file FILE.`,
  );
}

/** A container has no terminal; there a person gives the arguments in a variable, which no schedule sets. */
const isByHand = ({ env, hasTerminal }: Surroundings): boolean =>
  hasTerminal || nonEmpty(env['DATAHUB_RETENTION_ARGS']) !== undefined;

/** From now on the webhook's address is removed from all output. */
function hidden(webhook: Webhook, output: Output): Webhook {
  output.neverShow(withoutAddress(webhook));
  return webhook;
}

const beginsLedger = 'holds no record, so this counts as the first run against this server. If it is not, stop and';
const otherFolder = 'name the existing ledger with --ledger.';
const otherRelease =
  'install the release where the records are: their namespace, or their claim (ledger.existingClaim).';

type NamedFiles = ReadonlyArray<readonly [option: string, path: string | undefined]>;

/** The files that a run writes, once it is known that they can be written. @throws UsageError */
const runFiles = ({ json, metrics }: Pick<DemoArguments, 'json' | 'metrics'>, others: NamedFiles) => ({
  json: outputFile(json, 'report', others),
  metrics: outputFile(metrics, 'figures', [...others, ['--json', json?.path]]),
});

function outputFile<Holds extends OutputFile['holds']>(
  asked: FileArgument | undefined,
  holds: Holds,
  others: NamedFiles,
): OutputFile<Holds> | undefined {
  if (asked === undefined) return undefined;
  const file = { ...asked, holds };
  checkOutputFile(file, others);
  return file;
}

const serverFiles = ({ tokenPath, caPath }: ServerArguments): NamedFiles => [
  ['--token-file', tokenPath],
  ['--ca-file', caPath],
];

const notifyFiles = (notify: NotifyArguments | undefined): NamedFiles => [
  ['--notify-url-file', pathOfSecret(notify?.url)],
];

/** Files with secrets that others can read. */
const remarks = (...paths: Array<string | undefined>): string[] =>
  paths.flatMap((path) => (path === undefined ? [] : (othersCanRead(path) ?? [])));
