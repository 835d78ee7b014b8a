import type { Stack } from 'aws-cdk-lib';
import { alarmSections, anchorOf, dashboardSections, dashboardUrl, sectionOf } from '../../lambda/words/runbook.ts';
import type { Settings } from '../stage/settings.ts';

/**
 * The sections that the dashboard carries, as Markdown. Throws if the runbook lacks one.
 * @param runbook the text of docs/runbook.md
 */
export function sectionsForDashboard(runbook: string): string[] {
  return dashboardSections.map((name) => {
    const section = sectionOf(runbook, name);
    if (section === undefined) throw new Error(`docs/runbook.md has no section "${name}", which the dashboard shows.`);
    // Links to other pages lead nowhere from a dashboard.
    return section.replace(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1');
  });
}

/** Where an alarm's section can be read: in the stage's own runbook, or else on its dashboard. */
export function linkOf(alarm: keyof typeof alarmSections, { stage, runbookUrl }: Settings, { region }: Stack): string {
  if (runbookUrl !== undefined) return `${runbookUrl}#${anchorOf(alarmSections[alarm])}`;
  return dashboardUrl({ stage, region })!;
}
