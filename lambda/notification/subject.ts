import type { Report } from '../facts/report-schema.ts';
import { ascii } from '../facts/text.ts';
import { summary } from './digest/totals.ts';

/** SNS: below 100 characters, ASCII, no line break, beginning with a letter, number or punctuation mark. */
const maxSubject = 99;

/** `[DataHub retention] prod: 3 truncated, 1 needs attention`; a valid SNS subject, whatever the stage is called. */
export function subject(report: Report): string {
  const preview = report.mode === 'preview' ? 'PREVIEW ' : '';
  const start = `[DataHub retention] ${preview}`;
  const result = summary(report);
  const stage = ascii(report.stage, Math.max(8, maxSubject - start.length - result.length - 2)) || 'unnamed';
  return ascii(fitting(`${start}${stage}: ${result}`), maxSubject);
}

/** What is said last matters least: whole parts go before a word is cut. */
function fitting(text: string): string {
  const parts = text.split(', ');
  while (parts.length > 1 && parts.join(', ').length > maxSubject && !(parts.at(-1) ?? '').includes(')')) parts.pop();
  return parts.join(', ');
}
