import { expect, test } from 'vitest';
import type { Report } from '../../../lambda/model/report-schema.ts';
import { mail } from '../../../lambda/report/destinations/mail.ts';
import { teams } from '../../../lambda/report/destinations/teams.ts';
import { messageOf } from '../../../lambda/report/message.ts';
import { anEntry, aReport } from '../../support/reports.ts';
import { teamsMessage } from './receivers.ts';

const audience = { kind: 'machine', program: './retention', options: '--gms-url http://gms' } as const;

function shown(report: Report) {
  const body = teams.render(messageOf(report, { audience }));
  const [attached] = teamsMessage.parse(JSON.parse(JSON.stringify(body))).attachments;
  const runs = attached!.content.body.flatMap(({ inlines }) => inlines);
  return { runs, text: runs.map(({ text }) => text).join('\n') };
}

test('A card for Teams has the whole mail, its commands in a fixed width', () => {
  const ceiling = anEntry('above-ceiling', { kind: 'above-ceiling', approveRows: 100 });
  const report = aReport([ceiling], {}, audience);
  const { runs, text } = shown(report);
  const message = messageOf(report, { audience });
  const lines = mail
    .render(message)
    .split('\n')
    .map((line) => line.trim());
  expect(text).toBe([message.subject, ...lines].filter((line) => line !== '').join('\n'));
  const commands = runs.filter(({ fontType }) => fontType === 'Monospace').map((one) => one.text);
  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) expect(command).toMatch(/^\.\/retention /);
});
