import { describe, expect, test } from 'vitest';
import { reportSchema } from '../../../lambda/facts/report-schema.ts';
import { composeMessage } from '../../../lambda/notification/message.ts';
import { groups } from '../../support/nights/all.ts';
import { playedOnce } from '../../support/nights/reports.ts';
import { contextOf } from './custom-notification.ts';
import { expectNightDoesNotRead, expectWordsDoNotMatter } from './lorem.ts';
import { expectValid } from './what-sns-takes.ts';

/**
 * What people and programs receive after real runs, word for word, in test/lambda/notification/golden/. After a change of
 * wording: `npx vitest run test/lambda/notification/golden.test.ts -u`, then read the diff like someone who gets the
 * message at 7 in the morning.
 */
/** An ordinary night, one that went wrong, and a preview: examples for anyone who writes a program that reads reports. */
const asMachinesGetIt = new Set(['healthy', 'rows-missing-after-a-reindex', 'preview']);

describe.each(Object.entries(groups))('%s:', (group, nights) => {
  test.each(Object.keys(nights))('%s', async (name) => {
    const { report, facts, mode } = await playedOnce(`${group}/${name}`);
    const message = composeMessage(report, contextOf(mode));
    const { subject, email, https, default: json } = message;
    const file = (ending: string) => `golden/${group}/${name}.${ending}`;
    expect(reportSchema.parse(report)).toEqual(report);
    expect(JSON.parse(json)).toEqual(report);
    expectValid(
      message,
      report.policies.map(({ entityType, aspect }) => `${entityType}.${aspect}`),
    );
    await expectWordsDoNotMatter(report, facts);
    await expect(`Subject: ${subject}\n\n${email}`).toMatchFileSnapshot(file('email.txt'));
    await expect(`${JSON.stringify(JSON.parse(https), null, 2)}\n`).toMatchFileSnapshot(file('slack.json'));
    if (asMachinesGetIt.has(name)) {
      await expect(`${JSON.stringify(report, null, 2)}\n`).toMatchFileSnapshot(file('report.json'));
    }
  });

  // If a run depended on its own words, every night of a kind would: so one of each kind is played again.
  test.each(Object.entries(nights).slice(-1))('%s ends in the same way with other words', async (name, night) => {
    await expectNightDoesNotRead(night, await playedOnce(`${group}/${name}`));
  });
});
