import type { Report } from '../../lambda/facts/report-schema.ts';
import { redactor } from '../../lambda/facts/secrets.ts';
import { type ComposedMessage, cleanReport, composeMessage } from '../../lambda/notification/message.ts';
import { isQuiet } from '../../lambda/notification/quiet.ts';
import { type OutputFile, WriteError, writeOutputFile } from '../files/output-file.ts';
import { post } from '../notify/post.ts';
import { slackMessage } from '../notify/slack.ts';
import { type Webhook, withoutAddress } from '../notify/webhook.ts';
import type { Output } from '../output/output.ts';
import { pageOfRun } from '../pages/run/write.ts';
import { drawPage } from '../pages/write.ts';
import type { LocalRun } from './run-once.ts';

/**
 * Reports the result, the most reliable way first: on screen, to a file, over the network. A page comes last, because
 * its ages have to be counted first; the exit status does not depend on it.
 * @returns the exit status: 0 if the result is ok and everyone who should be notified is, else 1
 */
export async function tellReport(made: Report, run: LocalRun, output: Output): Promise<number> {
  const { command, fast, server, json, html, webhook } = run;
  const withoutToken = redactor([server.tokenText]);
  const clean = webhook ? (text: string) => withoutToken(withoutAddress(webhook)(text)) : withoutToken;
  const report = cleanReport(made, clean);
  const context = {
    local: true,
    localCommand: command,
    waitsCutShort: fast,
    secrets: [server.tokenText],
  };
  const message = composeMessage(report, context);
  output.report(report, message);
  const written = json === undefined || writeReport(report, json, output);
  const told = webhook === undefined || (await postMessage(report, message, webhook, server.caPem, output));
  if (html) {
    const { connection, policies, nights } = run;
    const ended = { report, message, context, server: server.baseUrl, operations: connection.operations };
    await drawPage(() => pageOfRun({ ...ended, policies: policies.first, nights }, output.counted), {
      file: html,
      output,
      clean,
    });
  }
  return report.result === 'ok' && written && told ? 0 : 1;
}

function writeReport(report: Report, json: OutputFile, output: Output): boolean {
  try {
    writeOutputFile(json, `${JSON.stringify(report, null, 2)}\n`);
  } catch (error) {
    if (!(error instanceof WriteError)) throw error;
    output.problem(error.message);
    return false;
  }
  output.written('report', json.path);
  return true;
}

async function postMessage(
  report: Report,
  message: ComposedMessage,
  webhook: Webhook,
  caPem: string | undefined,
  output: Output,
): Promise<boolean> {
  if (webhook.when === 'problems' && isQuiet(report)) return true;
  const body = webhook.format === 'json' ? message.default : JSON.stringify(slackMessage(message));
  const posted = await post(webhook, body, { caPem });
  output.posted(posted);
  return posted.kind === 'posted';
}
