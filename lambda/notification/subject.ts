import type { Report } from '../facts/report-schema.ts';
import { ascii } from '../facts/text.ts';
import type { Part } from './digest/headline.ts';
import { inWords, partsOf } from './digest/totals.ts';

/** SNS: below 100 characters, ASCII, no line break, beginning with a letter, number or punctuation mark. */
const maxSubject = 99;

/** `[DataHub retention] prod: 3 truncated, 1 needs attention`; a valid SNS subject, whatever the stage is called. */
export function subject(report: Report): string {
  const start = `[DataHub retention] ${report.mode === 'preview' ? 'PREVIEW ' : ''}`;
  const parts = partsOf(report);
  const stage = ascii(report.stage, maxSubject) || 'unnamed';
  const whole = fitting(`${start}${stage}: `, parts);
  if (whole.length <= maxSubject) return ascii(whole, maxSubject);
  const name = ascii(stage, Math.max(8, stage.length - (whole.length - maxSubject)));
  return ascii(fitting(`${start}${name}: `, parts), maxSubject);
}

/** Drops counts of others first, then details, then the night: the second night must not read like the first. */
function fitting(start: string, parts: readonly Part[]): string {
  const isShort = (given: readonly Part[]) => start.length + inWords(given).length <= maxSubject;
  let kept = parts;
  while (!isShort(kept) && kept.length > 1 && kept.at(-1)?.isCount) kept = kept.slice(0, -1);
  return start + inWords(isShort(kept) ? kept : kept.map(({ text }) => ({ text })));
}
