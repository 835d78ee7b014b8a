import { alarmSections, anchorOf, sectionOf } from '../../lambda/report/guide/runbook.ts';
import { clip } from '../../lambda/report/sentences/text.ts';
import type { Settings } from '../../lambda/settings/settings.ts';

export type AlarmName = keyof typeof alarmSections;

/**
 * The runbook's section about an alarm as one line: the mail of an alarm is enough to begin.
 * @param room for it, in characters
 */
export function alarmText(runbook: string, alarm: AlarmName, stage: string, room: number): string {
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
  return clip(plain, Math.min(780, room));
}

/** Where an alarm's section can be read: in the stage's own runbook, or else on its dashboard. */
export const linkTo = (alarm: AlarmName, { runbookUrl }: Settings, dashboardUrl = ''): string =>
  runbookUrl === undefined ? dashboardUrl : `${runbookUrl}#${anchorOf(alarmSections[alarm])}`;
