import { redactor } from '../../lambda/gms/secrets.ts';
import type { Audience } from '../../lambda/report/guide/audience.ts';
import { guideOf } from '../../lambda/report/guide/guides.ts';
import { shellWord } from '../../lambda/report/guide/words.ts';
import { audienceOf } from '../command-line/audience.ts';
import type { CommandLine } from '../command-line/read.ts';
import { type Findings, policiesText } from '../events/findings.ts';
import { UsageError } from '../events/mistakes.ts';
import type { RunListener } from '../events/run-listener.ts';
import { NoTokenError } from '../inputs/identity.ts';
import { addressInPolicies, noPolicies, originOf, policiesFile, withServer } from '../inputs/policies.ts';
import { type AddressInFile, readServer } from '../inputs/server.ts';
import { defaultLedgerPath, ledgerAt } from '../ledgers/choose.ts';
import { type OutputFile, outputFile, writeAndTell } from '../outputs/output-file.ts';
import { surveyPage } from '../outputs/pages/survey-page.ts';
import { connect } from '../run/connect.ts';
import { onInterrupt } from '../run/interrupt.ts';
import { isAnswered } from '../survey/checks.ts';
import { isFine, surveyAttempts, surveyServer } from '../survey/survey-server.ts';
import { remarksOn } from './files.ts';
import type { ProcessContext } from './process-context.ts';

/** `survey`: looks at a server, and changes nothing. @throws UsageError */
export async function survey(
  commandLine: CommandLine,
  output: RunListener,
  { env, program }: ProcessContext,
): Promise<number> {
  const { ledger } = commandLine;
  const given = commandLine.policies === undefined ? noPolicies : policiesFile(commandLine.policies, undefined);
  const server = await serverOf(commandLine, env, () => addressInPolicies(given.settings));
  const name = commandLine.name ?? given.settings.name?.value;
  const policies = outputFile('policies', commandLine);
  const page = outputFile('page', commandLine);
  output.header({ server: server.baseUrl, from: server.from, mode: 'survey', embedded: false, fast: false });
  const origin = originOf(given.settings, commandLine) ?? [];
  for (const remark of [origin, given.warnings, remarksOn(commandLine)].flat()) output.note(remark);
  const audience = audienceOf(program, withServer(commandLine, given.settings), env);
  const connection = connect(server, { attempts: surveyAttempts });
  const { isSample, close } = connection;
  const stopListening = onInterrupt(async () => {
    output.close();
    return ['Stopped. A survey only reads: nothing was changed.'];
  });
  try {
    // The ledger shows what this job has done itself; the survey works without one, or with a broken one.
    const records = async () => ledgerAt(ledger ?? defaultLedgerPath(env, isSample()), env).list();
    const findings = await surveyServer(server, connection, records, output);
    if (findings === undefined) {
      output.note('Nothing can be counted until that is fixed, and no file is written.');
      return 1;
    }
    const hasPolicies = policies === undefined || writePolicies(findings, policies, audience, output);
    const clean = redactor(server.secrets());
    const hasPage = writeAndTell(page, () => surveyPage(findings, server.baseUrl, name, clean), output);
    return isFine(findings) && hasPolicies && hasPage ? 0 : 1;
  } finally {
    stopListening();
    await close();
  }
}

/** Without a token, the error says whether the server asks for one: one dry run finds out. @throws UsageError */
async function serverOf(options: CommandLine, env: NodeJS.ProcessEnv, inPolicies: () => AddressInFile | undefined) {
  try {
    return readServer(options, env, inPolicies);
  } catch (error) {
    if (!(error instanceof NoTokenError)) throw error;
    const server = readServer({ ...options, identity: false }, env, inPolicies);
    const { operations, close } = connect(server, { attempts: { failed: 1, timedOut: 1 } });
    const answers = await isAnswered(operations).finally(close);
    throw answers
      ? new UsageError(
          'No access token, but this server answers without one: add --no-identity. Anyone who reaches it can delete rows, too.',
        )
      : error;
  }
}

/** The suggested policies, and how to go on with them. @returns whether they are written */
function writePolicies(
  { suggestions }: Findings,
  file: OutputFile<'policies'>,
  audience: Audience,
  output: RunListener,
): boolean {
  if (suggestions.length === 0) {
    output.note('No index could be counted, so there is no policy to suggest.');
    return false;
  }
  if (!writeAndTell(file, () => policiesText(suggestions), output)) return false;
  if (file.path === '-') return true;
  const next = guideOf({ ...audience, policies: shellWord(file.path) } as Audience).runByHand({ mode: 'preview' });
  if (next) output.note('Edit them as needed. To see what a run would do, without changing anything:', [`  ${next}`]);
  return true;
}
