import type { Report } from '../../../lambda/facts/report-schema.ts';
import type { World } from './world.ts';

/** Whether subscribers get a report (rule 12): those of a stage that reports only problems get nothing else. */
export const isTold = ({ notify }: World, report: Report, byHand: boolean): boolean =>
  notify === 'always' || byHand || report.result !== 'ok' || report.policies.some(mayBeLost);

const mayBeLost = ({ rowsMissing = 0, copies, indexNow }: Report['policies'][number]): boolean =>
  rowsMissing > 0 || copies === true || indexNow !== undefined;
