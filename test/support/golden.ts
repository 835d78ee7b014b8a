import { readFileSync } from 'node:fs';
import { type Report, reportSchema } from '../../lambda/facts/report-schema.ts';

/** Reports of real runs, as test/lambda/notification/golden.test.ts has written them. */

const folder = new URL('../lambda/notification/golden/', import.meta.url);

/** @param name group and night, such as `ordinary/healthy` */
export const goldenReport = (name: string): Report =>
  reportSchema.parse(JSON.parse(readFileSync(new URL(`${name}.report.json`, folder), 'utf8')));
