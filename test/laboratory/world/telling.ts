import type { Report } from '../../../lambda/facts/report-schema.ts';
import type { World } from './world.ts';

/** Whether subscribers get a report: those of a stage that reports only problems get nothing else. */
export const isTold = ({ notify }: World, report: Report): boolean => notify === 'always' || report.result !== 'ok';
