import type { Report } from '../facts/report-schema.ts';
import { ascii } from '../text/text.ts';
import { date } from '../words/numbers.ts';
import type { Place } from '../words/table.ts';
import { countsOf, type Item, problemsOf } from './items.ts';

/** SNS: below 100 characters, ASCII, no line break, beginning with a letter, number or punctuation mark. */
const maxSubject = 99;

/** `[DataHub retention] prod: ROWS MISSING in dataset.operation (after a copy), 1 more`, whatever the stage is called. */
export function subjectOf(report: Report, place: Place): string {
  const late = lateness(report);
  const start = `[DataHub retention] ${late === '' ? '' : `${late}: `}${manner(report)}`;
  const stage = ascii(report.stage, 30) || 'unnamed';
  const forms = [true, false].map((withDetail) => `${start}${stage}: ${summary(report, place, withDetail)}`);
  const fitting = forms.find((form) => form.length <= maxSubject) ?? forms.at(-1) ?? start;
  return ascii(fitting, maxSubject);
}

/** What a run of another manner begins with: `PREVIEW `, `PAUSED `. */
export function manner({ mode, notes = [], policies }: Report): string {
  if (mode === 'preview') return 'PREVIEW ';
  const isPaused =
    notes.some(({ kind }) => kind === 'paused') ||
    policies.some(({ cause }) => cause.kind === 'stopped' && cause.by === 'paused');
  return isPaused ? 'PAUSED ' : '';
}

/** `late, of 21 Nov`, where the report is published long after its run. */
export function lateness({ notes = [] }: Report): string {
  const late = notes.find((note) => note.kind === 'late');
  return late?.kind === 'late' ? `late, of ${date(late.startedAt)}` : '';
}

/** What the report is about, in a few words. */
export function summary(report: Report, place: Place, withDetail = true): string {
  const [worst, ...others] = problemsOf(report, place);
  if (worst === undefined) return fineSummary(report);
  const more = others.reduce((sum, { entries }) => sum + Math.max(1, entries.length), rest(worst));
  return [
    `${worst.subject}${withDetail && worst.detail !== '' ? ` (${worst.detail})` : ''}`,
    more > 0 ? `${more} more` : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}

/** Indices of the same item that the subject does not name. */
const rest = ({ entries, subject }: Item): number => (subject === 'run failed' ? 0 : Math.max(0, entries.length - 1));

function fineSummary(report: Report): string {
  const released = (report.notes ?? []).filter(({ kind }) => kind === 'released' || kind === 'nothing-to-release');
  const [first] = released;
  if (first !== undefined && 'index' in first) {
    const what = first.kind === 'released' ? `${first.index} released` : `nothing to release in ${first.index}`;
    return released.length > 1 ? `${what}, ${released.length - 1} more` : what;
  }
  const acted = report.policies.filter(({ outcome }) => outcome === 'truncated' || outcome === 'would-truncate');
  const others = report.policies.length - acted.length;
  const copied = acted.filter(({ outcome, strategy }) => outcome === 'would-truncate' && strategy === 'reindex').length;
  const how =
    copied === 0 ? '' : `, ${copied === acted.length ? 'by copying (a reindex)' : `${copied} by copying (a reindex)`}`;
  const parts = [`${countsOf(acted)}${how}`, others > 0 ? `${others} with nothing to do` : ''].filter(
    (part) => part !== '',
  );
  return `OK: ${parts.join(', ') || 'no policies'}`;
}
