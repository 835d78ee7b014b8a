import type { Report } from '../facts/report-schema.ts';
import { ascii } from '../facts/text.ts';
import { summary } from './digest/totals.ts';

/** SNS: below 100 characters, ASCII, no line break, beginning with a letter, number or punctuation mark. */
const maxSubject = 99;

/** `[DataHub retention] prod: 3 truncated, 1 needs attention`; a valid SNS subject, whatever the stage is called. */
export function subject(report: Report): string {
  const start = `[DataHub retention] ${report.mode === 'preview' ? 'PREVIEW ' : ''}`;
  const result = summary(report);
  const stage = ascii(report.stage, maxSubject) || 'unnamed';
  const whole = fitting(`${start}${stage}: ${result}`);
  if (whole.length <= maxSubject) return ascii(whole, maxSubject);
  const name = ascii(stage, Math.max(8, stage.length - (whole.length - maxSubject)));
  return ascii(fitting(`${start}${name}: ${result}`), maxSubject);
}

/** Counts of others go before details, and details before the night: the second one must not read like the first. */
function fitting(text: string): string {
  const isShort = (one: string) => one.length <= maxSubject;
  const parts = text.split(', ');
  while (!isShort(parts.join(', ')) && /^\d+ [a-z ]+$/.test(parts.at(-1) ?? '')) parts.pop();
  const most = parts.join(', ');
  return isShort(most) ? most : most.replace(/ \([^()]*\)/g, '');
}
