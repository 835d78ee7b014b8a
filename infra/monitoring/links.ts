import type { Stack } from 'aws-cdk-lib';
import { alarmSections, anchorOf, sectionOf } from '../../lambda/report/guide/runbook.ts';
import { clip } from '../../lambda/report/sentences/text.ts';
import type { Settings } from '../../lambda/settings/settings.ts';
import { dashboardUrl } from '../workflow/dashboard-url.ts';

export type AlarmName = keyof typeof alarmSections;

/** CloudWatch takes 1,024 characters; the rest is for the link. */
const maxAlarmText = 780;

/** The runbook's section about an alarm as one line: the mail of an alarm is enough to begin. */
export function alarmText(runbook: string, alarm: AlarmName, stage: string): string {
  const section = sectionOf(runbook, alarmSections[alarm]);
  if (section === undefined) throw new Error(`docs/runbook.md has no section "${alarmSections[alarm]}".`);
  const plain = section
    .replace(/^## .*/, '')
    .replace(/^```.*/gm, '')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replaceAll('stage=STAGE', `stage=${stage}`)
    .replace(/\s+/g, ' ')
    .trim();
  return clip(plain, maxAlarmText);
}

/** Where an alarm's section can be read: in the stage's own runbook, or else on its dashboard. */
export function linkTo(stack: Stack, { stage, runbookUrl, dashboard }: Settings): (alarm: AlarmName) => string {
  if (runbookUrl !== undefined) return (alarm) => `${runbookUrl}#${anchorOf(alarmSections[alarm])}`;
  const url = dashboard ? dashboardUrl(stack, stage) : '';
  return () => url;
}
