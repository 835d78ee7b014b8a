import type { SNSClient } from '@aws-sdk/client-sns';
import { expect } from 'vitest';
import type { Report, ReportFacts } from '../../../lambda/facts/report-schema.ts';
import { composeMessage } from '../../../lambda/notification/message.ts';
import { entryStep } from '../../../lambda/notification/next/entry-steps.ts';
import { errorStep, noteStep } from '../../../lambda/notification/next/run-steps.ts';
import { snsPublisher } from '../../../lambda/notification/publish.ts';
import { reportMetrics } from '../../../lambda/telemetry/metrics.ts';
import { worded } from '../../../lambda/wording/worded.ts';
import type { Night } from '../../support/nights/night.ts';
import { type Played, play } from '../../support/nights/play.ts';
import { context } from './custom-notification.ts';

const say = 'lorem';

function lorem(facts: ReportFacts): Report {
  const { error, notes, preflight, policies, ...rest } = worded(facts);
  return {
    ...rest,
    ...(error !== undefined && { error: say }),
    ...(notes && { notes: notes.map((note) => ({ ...note, text: say })) }),
    ...(preflight && {
      preflight: preflight.map((check) => ({ ...check, text: say, ...(check.remedy && { remedy: say }) })),
    }),
    policies: policies.map((entry) => ({ ...entry, reason: say })),
  };
}

const withoutWords = (report: Report): Report =>
  JSON.parse(JSON.stringify(report), (key, value) =>
    ['reason', 'error', 'text', 'remedy'].includes(key) && typeof value === 'string' ? say : value,
  );

const stepsOf = (report: Report) => [
  errorStep(report, context),
  ...report.policies.map((entry) => entryStep([entry], report, context)),
  ...(report.notes ?? []).map((note) => noteStep(note, context)),
];

/** Commands and requests, as an email shows them. */
const commandsOf = (report: Report) => composeMessage(report, context).email.match(/^ {2}\S.*$/gm) ?? [];

/** Whether a subscriber who is only notified of problems receives the report. */
async function isDelivered(report: Report): Promise<boolean> {
  let published = 0;
  const client = {
    async send({ constructor: { name } }: object) {
      if (name === 'PublishCommand') published++;
      return { Attributes: { SubscriptionsConfirmed: '1' } };
    },
  } as unknown as SNSClient;
  const log = { info() {}, warn() {}, error() {} };
  await snsPublisher({ client, topicArn: 'arn', notify: 'problems', log, writeLine: () => {} }).publish(report);
  return published > 0;
}

/**
 * Nothing depends on words: a renderer that says `lorem` for everything makes the same report as the real one in terms of
 * outcomes, result (which is the local runner's exit status), next steps, delivery and metrics.
 */
export async function expectWordsDoNotMatter(report: Report, facts: ReportFacts): Promise<void> {
  const told = lorem(facts);
  expect(JSON.stringify(told)).not.toMatch(/POST \/_aliases/);
  expect(withoutWords(told)).toEqual(withoutWords(report));
  expect(stepsOf(told)).toEqual(stepsOf(report));
  expect(commandsOf(told)).toEqual(commandsOf(report));
  expect(composeMessage(told).subject).toBe(composeMessage(report).subject);
  expect(await isDelivered(told)).toBe(await isDelivered(report));
  expect(reportMetrics(told)).toEqual(reportMetrics(report));
}

/** A night that is played with that renderer ends like the real one, in its facts, its run states and its ledger. */
export async function expectNightDoesNotRead(night: Night, real: Played): Promise<void> {
  const told = await play(night, lorem);
  expect(withoutWords(told.report)).toEqual(withoutWords(real.report));
  expect([told.ledger, told.states]).toEqual([real.ledger, real.states]);
}
