import { redactor } from '../../lambda/operations/secrets.ts';
import { audienceOf } from '../command-line/audience.ts';
import type { CommandLine } from '../command-line/read.ts';
import { readServer, refuseProxy } from '../inputs/server.ts';
import { defaultLedgerPath, ledgerAt } from '../ledgers/choose.ts';
import { writeSurvey } from '../outputs/survey-files.ts';
import { connect } from '../run/connect.ts';
import { onInterrupt } from '../run/interrupt.ts';
import { isFine, surveyAttempts, surveyServer } from '../survey/command.ts';
import type { Output } from '../telling/output.ts';
import { outputFile, remarksOn, serverFiles } from './files.ts';
import type { Surroundings } from './surroundings.ts';

/** `survey`: looks at a server, and changes nothing. @throws UsageError */
export async function survey(
  commandLine: CommandLine,
  output: Output,
  { env, program }: Surroundings,
): Promise<number> {
  const { json, html, ledger, name } = commandLine;
  const server = readServer(commandLine, env);
  refuseProxy(server.baseUrl, env);
  const others = [...serverFiles(commandLine, env), ['--ledger', ledger]] as const;
  const policies = outputFile(json, 'policies', others, commandLine);
  const page = outputFile(html, 'page', [...others, ['--json', json]], commandLine);
  output.header({ server: server.baseUrl, from: server.from, mode: 'survey', embedded: false, fast: false });
  for (const remark of remarksOn(commandLine.tokenFile)) output.note(remark);
  const audience = audienceOf(program, commandLine, env);
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
