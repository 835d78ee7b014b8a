import { redactor } from '../../lambda/gms/secrets.ts';
import { LedgerError } from '../../lambda/ledger/ledger.ts';
import { keepRun, type RunStore, summaryOfRun } from '../../lambda/ledger/runs.ts';
import { results } from '../../lambda/model/outcomes.ts';
import type { Report } from '../../lambda/model/report-schema.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import { destinations } from '../../lambda/report/destinations/registry.ts';
import type { Audience } from '../../lambda/report/guide/audience.ts';
import { isWorthPublishing, type Message, messageOf } from '../../lambda/report/message.ts';
import { moment } from '../../lambda/report/sentences/numbers.ts';
import type { Publisher } from '../../lambda/run/services.ts';
import type { Options } from '../command-line/options.ts';
import type { Printed, RunListener } from '../events/run-listener.ts';
import type { Server } from '../inputs/server.ts';
import { type Webhook, withoutAddress } from '../inputs/webhook.ts';
import { keepLastRun, type LastRun, type LastRunStore, lastRunOf } from '../ledgers/stored-ledger.ts';
import { figuresOf } from './figures.ts';
import { type OutputFile, writeAndTell } from './output-file.ts';
import { post } from './post.ts';
import { pushFigures } from './push-metrics.ts';

/** Where the result of a run goes: the screen, files, and a webhook. */
interface ReportOutputs {
  /** Its identity appears nowhere; its certificates are trusted for the webhook, too. */
  server: Server;
  json?: OutputFile<'report'>;
  metrics?: OutputFile<'figures'>;
  pushUrl?: URL | undefined;
  webhook?: Webhook;
  failOn?: Options['failOn'];
  /** A person started it, so that its message is never held back (rule 12). */
  byHand: boolean;
  audience: Audience;
  /** Where this run is kept as the last one; the embedded service has no such place. */
  lastRun?: { store: LastRunStore & { runs?: RunStore }; verb: LastRun['verb'] };
  /** Whether standard output has taken all that was written so far. */
  printed(): Promise<Printed>;
  printError(text: string): void;
}

/**
 * Reports the result: first on the screen, then to the files, then to the webhook, each once. The next run reports
 * again what a refused post did not deliver (rule 15).
 * @returns with it the exit status: 0 if the result is good enough and everyone who should be notified is; 1 else, also
 *   if nothing was published
 */
export function reportPublisher(run: ReportOutputs, output: RunListener): Publisher & { status(): number } {
  let status = 1;
  return {
    status: () => status,
    async publish(made) {
      const { audience, server, webhook } = run;
      const withoutSecrets = redactor(server.secrets());
      const clean = webhook ? (text: string) => withoutSecrets(withoutAddress(webhook)(text)) : withoutSecrets;
      const message = messageOf(made, { audience, clean });
      output.report(message);
      const delivery = await deliverAll(message, run, output);
      status = isDelivered(delivery) && !isBad(message.report, run) ? 0 : 1;
      await keepRuns(message, lacksReader(delivery, run), run, output);
      return isPublished(delivery);
    },
  };
}

interface Delivery {
  report: Report;
  printed: Printed;
  posting: 'posted' | 'refused' | 'not-asked';
  /** The JSON file and the figures are where they were asked for; `true` where nobody asked. */
  hasFile: boolean;
  hasFigures: boolean;
}

async function deliverAll(message: Message, run: ReportOutputs, output: RunListener): Promise<Delivery> {
  const { report } = message;
  const { server, json, metrics, pushUrl } = run;
  const hasFile = writeAndTell(json, () => `${JSON.stringify(report, null, 2)}\n`, output);
  const hasFiguresFile = writeAndTell(metrics, () => figuresOf(report), output);
  const printed = await run.printed();
  const posting = await postMessage(message, run, output);
  const unreported = unreportedIndices(report);
  if (posting === 'refused' && unreported.length > 0) {
    output.problem(`Until a message is posted, nothing more is deleted in ${unreported.join(', ')}.`);
  }
  const pushProblem = pushUrl && (await pushFigures(pushUrl, figuresOf(report), { caPem: server.ca?.() }));
  if (pushProblem !== undefined) output.problem(redactor(server.secrets())(pushProblem));
  return { report, printed, posting, hasFile, hasFigures: hasFiguresFile && pushProblem === undefined };
}

/** A person who quits the pager early loses nothing, unless a verdict was shown nowhere else. */
function isDelivered({ report, printed, posting, hasFile, hasFigures }: Delivery): boolean {
  const isRead = printed !== 'gone' || posting === 'posted' || unreportedIndices(report).length === 0;
  return isRead && printed !== 'refused' && posting !== 'refused' && hasFile && hasFigures;
}

/**
 * Whether its decisions count as reported (rule 15). The person who started a preview reads its screen; the person on
 * call does not.
 */
function isPublished({ report, printed, posting, hasFile }: Delivery): boolean {
  const isShown = report.mode === 'preview' ? posting === 'posted' : printed === 'taken' || printed === 'not-asked';
  return isShown && hasFile && posting !== 'refused';
}

/** A preview's reader wanted no more; of a run that may have deleted rows, a person has to hear. */
const lacksReader = ({ report, printed, posting }: Delivery, { json }: ReportOutputs): boolean =>
  printed === 'gone' && posting !== 'posted' && json === undefined && report.mode !== 'preview';

async function keepRuns(
  { report, subject }: Message,
  unread: boolean,
  { lastRun, printError }: ReportOutputs,
  output: RunListener,
): Promise<void> {
  if (unread) {
    const where = lastRun === undefined ? '' : '; status shows what is known';
    printError(`Standard output was closed, so nobody has read this run's report${where}: ${subject}`);
  }
  if (lastRun === undefined) return;
  const { store, verb } = lastRun;
  const { runs } = store;
  const last = { ...lastRunOf(report, verb, subject), unread: unread || undefined };
  await keep(output, () => keepLastRun(store, last));
  if (verb !== 'preview' && runs) await keep(output, () => keepRun(runs, summaryOfRun(report)));
}

/** If the disk is full by now, the report has said so. */
async function keep(output: RunListener, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    output.problem(`status will not show this run: ${error.message}`);
  }
}

/** Indices with an unreported verdict or release, each with its moment (rule 15). */
const unreportedIndices = ({ policies, notes = [], finishedAt }: Report): string[] => [
  ...policies.flatMap(({ decidedAt, ...entry }) =>
    decidedAt === undefined ? [] : [`${dottedName(entry)} (decided on ${moment(Date.parse(decidedAt))})`],
  ),
  ...notes.flatMap((note) =>
    note.kind === 'released' ? [`${note.index} (released on ${moment(Date.parse(note.decidedAt ?? finishedAt))})`] : [],
  ),
];

const isBad = ({ result }: Report, { failOn = 'attention' }: ReportOutputs): boolean =>
  results.indexOf(result) >= results.indexOf(failOn);

async function postMessage(
  message: Message,
  { webhook, server, byHand }: ReportOutputs,
  output: RunListener,
): Promise<'posted' | 'refused' | 'not-asked'> {
  if (webhook === undefined) return 'not-asked';
  if (webhook.when === 'problems' && !isWorthPublishing(message.report, byHand)) return 'not-asked';
  const body = destinations[webhook.format].render(message);
  const posted = await post(webhook, body, { caPem: server.ca?.() });
  // We never send a receiver the identity, but what it answers may hold it all the same.
  const clean = redactor(server.secrets());
  output.posted(posted.kind === 'failed' ? { ...posted, problem: clean(posted.problem) } : posted);
  return posted.kind === 'posted' ? 'posted' : 'refused';
}
