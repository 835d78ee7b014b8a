import type { Report } from '../facts/report-schema.ts';
import type { Context } from './phrases.ts';
import { type Form, render } from './render.ts';
import { runbookPlace } from './runbook.ts';
import { oneLine } from './text.ts';

/** The mail, for a phone: plain lines, the worst first, at most 60 of them. */

const form: Form = {
  plain: oneLine,
  strong: (line) => line,
  // Only commands are indented.
  command: ({ say, line, typedIn }) => [
    `${say}${typedIn === 'search-engine' ? " (in the search engine's console)" : ''}:`,
    `  ${oneLine(line, 2000)}`,
  ],
  runbook(section, { audience }) {
    const found = runbookPlace(section, audience);
    return oneLine(
      'url' in found ? `Runbook, "${section}": ${found.url}` : `Runbook${found.where}: ${found.command}`,
      700,
    );
  },
  blank: [''],
  room: { head: 900, why: 900, owner: 700, next: 700, remark: 400 },
  most: { problems: Number.POSITIVE_INFINITY, links: Number.POSITIVE_INFINITY, fine: 12, remarks: 4 },
  fits: (lines, part) => part === 'rest' || lines.length <= (part === 'problem' ? 36 : 40),
  left: () => Number.POSITIVE_INFINITY,
};

export const mailOf = (report: Report, context: Context): string => render(report, context, form);
