import type { Report } from '../../../lambda/facts/report-schema.ts';
import { onceForAll } from '../once.ts';
import { groups } from './all.ts';
import { type Played, play } from './play.ts';

/** Named nights, each played once, as on Lambda. */

const played = new Map<string, Promise<Played>>();

/** @param name group and night, such as `ordinary/healthy` */
export function playedOnce(name: string): Promise<Played> {
  const [group = '', one = ''] = name.split('/');
  const night = groups[group]?.[one];
  if (!night) throw new Error(`there is no night called ${name}`);
  const known = played.get(name) ?? onceForAll(`${group}-${one}`, () => play(night));
  played.set(name, known);
  return known;
}

/** A night's report, as its run writes it. */
export const nightReport = async (name: string): Promise<Report> => (await playedOnce(name)).report;

/** All of them, by group and night. */
export async function nightReports(): Promise<[name: string, report: Report][]> {
  const names = Object.entries(groups).flatMap(([group, nights]) =>
    Object.keys(nights).map((one) => `${group}/${one}`),
  );
  const reports: [string, Report][] = [];
  for (const name of names.sort()) reports.push([name, await nightReport(name)]);
  return reports;
}
