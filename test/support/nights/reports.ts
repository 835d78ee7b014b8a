import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import type { Report } from '../../../lambda/facts/report-schema.ts';
import { groups } from './all.ts';
import { type Played, play } from './play.ts';

/** Named nights as they are played on Lambda, each once: the first process that asks plays it, and the others read what it left. */

const played = new Map<string, Promise<Played>>();

/** @param name group and night, such as `ordinary/healthy` */
export function playedOnce(name: string): Promise<Played> {
  const known = played.get(name) ?? playedByOne(name);
  played.set(name, known);
  return known;
}

async function playedByOne(name: string): Promise<Played> {
  const [group = '', one = ''] = name.split('/');
  const night = groups[group]?.[one];
  if (!night) throw new Error(`there is no night called ${name}`);
  const folder = inject('nights');
  if (folder === undefined) return play(night);
  const file = join(folder, `${group}-${one}.json`);
  if (!isFirst(`${file}.lock`)) return readOnceThere(file);
  const told = await play(night).catch((error: unknown) => ({ failed: String(error) }));
  // In one step: nobody reads half of it.
  writeFileSync(`${file}.part`, JSON.stringify(told));
  renameSync(`${file}.part`, file);
  return readOnceThere(file);
}

function isFirst(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx'));
    return true;
  } catch {
    return false;
  }
}

async function readOnceThere(file: string): Promise<Played> {
  while (!existsSync(file)) await sleep(5);
  const told = JSON.parse(readFileSync(file, 'utf8')) as Played | { failed: string };
  if ('failed' in told) throw new Error(told.failed);
  return told;
}

/** The report of a night, as its run writes it. */
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
