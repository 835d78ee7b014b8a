import { readdirSync, readFileSync } from 'node:fs';
import { type Report, reportSchema } from '../../lambda/facts/report-schema.ts';

/** Reports of real runs, as test/lambda/notification/golden.test.ts has written them. */

const folder = new URL('../lambda/notification/golden/', import.meta.url);
const ending = '.report.json';

/** @param name group and night, such as `ordinary/healthy` */
export const goldenReport = (name: string): Report =>
  reportSchema.parse(JSON.parse(readFileSync(new URL(`${name}${ending}`, folder), 'utf8')));

/** All of them, by group and night. */
export const goldenReports = (): [name: string, report: Report][] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => file.slice(0, -ending.length))
    .sort()
    .map((name) => [name, goldenReport(name)]);
