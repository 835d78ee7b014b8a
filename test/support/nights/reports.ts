import type { Report } from '../../../lambda/facts/report-schema.ts';
import { groups } from './all.ts';
import { playedOnce } from './play.ts';

/** The reports of named nights, as their runs write them. */

/** @param name group and night, such as `ordinary/healthy` */
export async function nightReport(name: string): Promise<Report> {
  const [group = '', night = ''] = name.split('/');
  const found = groups[group]?.[night];
  if (!found) throw new Error(`there is no night called ${name}`);
  return (await playedOnce(found)).report;
}

/** All of them, by group and night. */
export async function nightReports(): Promise<[name: string, report: Report][]> {
  const names = Object.entries(groups).flatMap(([group, nights]) =>
    Object.keys(nights).map((one) => `${group}/${one}`),
  );
  const reports: [string, Report][] = [];
  for (const name of names.sort()) reports.push([name, await nightReport(name)]);
  return reports;
}
