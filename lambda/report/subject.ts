import { resultOf } from '../model/outcomes.ts';
import type { Report } from '../model/report-schema.ts';
import { defaultTolerance } from '../truncation/kept.ts';
import { countsOf, deciderOf, type Item, isUnread } from './items.ts';
import { counted, date } from './sentences/numbers.ts';
import { ascii } from './sentences/text.ts';

/** SNS: below 100 characters, ASCII, no line break, beginning with a letter, number or punctuation mark. */
const maxSubject = 99;

/** `[DataHub retention] prod: ROWS MISSING in dataset.operation (after a reindex), 1 more`. */
export function subjectOf(report: Report, problems: readonly Item[]): string {
  const late = lateNotice(report);
  const how = kindOfRun(report);
  const start = `[DataHub retention] ${late === '' ? '' : `${late}: `}${how === '' ? '' : `${how} `}`;
  const stage = ascii(report.stage, 30) || 'unnamed';
  const own = [summaryOf(report, problems), summaryOf(report, problems, false)];
  // A result that nobody has read is named as far as there is room; the text always has it.
  const hasUnread = report.policies.some((entry) => isUnread(report, entry) && resultOf[entry.outcome] === 'ok');
  const short = problems.length === 0 ? [...own, 'OK'] : own;
  const withUnread = hasUnread
    ? short.flatMap((summary) => [true, false].map((withRun) => `${summary}; ${unreadSummary(report, withRun)}`))
    : [];
  const forms = [...withUnread, ...own].map((summary) => `${start}${stage}: ${summary}`);
  const fitting = forms.find((form) => form.length <= maxSubject) ?? forms.at(-1) ?? start;
  return ascii(fitting, maxSubject);
}

/** The first words about a run that truncated nothing on purpose; empty for every other run. */
export type KindOfRun = 'PREVIEW OF A CHANGE' | 'PREVIEW' | 'PAUSED' | '';

export function kindOfRun({ mode, notes = [], policies }: Report): KindOfRun {
  if (notes.some(({ kind }) => kind === 'change')) return 'PREVIEW OF A CHANGE';
  if (mode === 'preview') return 'PREVIEW';
  const isPaused =
    notes.some(({ kind }) => kind === 'paused') ||
    policies.some(({ cause }) => cause.kind === 'stopped' && cause.by === 'paused');
  return isPaused ? 'PAUSED' : '';
}

/** `late, of 21 Nov`, if the report is published long after its run. */
export function lateNotice({ notes = [] }: Report): string {
  const late = notes.find((note) => note.kind === 'late');
  return late?.kind === 'late' ? `late, of ${date(late.startedAt)}` : '';
}

/** What the report is about, in a few words. */
export function summaryOf(report: Report, [worst, ...others]: readonly Item[], withDetail = true): string {
  if (worst === undefined) return fineSummary(report);
  const more = others.reduce((sum, { names }) => sum + Math.max(1, names.length), unnamed(worst));
  const detail = withDetail && worst.detail !== '' ? ` (${worst.detail})` : '';
  return `${worst.subject}${detail}${more > 0 ? `, ${more} more` : ''}`;
}

/** How many indices of this item the subject does not name. */
const unnamed = ({ names }: Item): number => Math.max(0, names.length - 1);

/**
 * Rows newer than the cutoff that are gone within the tolerance of their policies, where an index has lost more than go
 * on any day: DataHub deletes an entity's rows with the entity.
 */
export const newerRowsGone = ({ policies }: Pick<Report, 'policies'>): number =>
  policies
    .filter(({ outcome, rowsMissing = 0 }) => outcome === 'truncated' && rowsMissing > defaultTolerance.rows)
    .reduce((sum, { rowsMissing = 0 }) => sum + rowsMissing, 0);

function fineSummary(report: Report): string {
  const answers = (report.notes ?? []).filter(({ kind }) => kind === 'released' || kind === 'not-released');
  const [first] = answers;
  if (first !== undefined && 'index' in first) {
    const what = first.kind === 'released' ? `${first.index} released` : `nothing to release in ${first.index}`;
    return answers.length > 1 ? `${what}, ${answers.length - 1} more` : what;
  }
  const own = report.policies.filter((entry) => !isUnread(report, entry));
  const acted = own.filter(({ outcome }) => outcome === 'truncated' || outcome === 'would-truncate');
  const others = own.length - acted.length;
  const reindexed = acted.filter(
    ({ outcome, announced }) => outcome === 'would-truncate' && announced === 'reindex',
  ).length;
  const how = reindexed === 0 ? '' : `, ${reindexed === acted.length ? '' : `${reindexed} `}by a reindex`;
  const gone = newerRowsGone(report);
  const parts = [
    `${countsOf(acted)}${how}`,
    others > 0 ? `${others} with nothing to do` : '',
    gone > 0 ? `${counted(gone, 'newer row', 'newer rows')} gone as well` : '',
  ];
  return `OK: ${parts.filter((part) => part !== '').join(', ') || 'no policies'}`;
}

/** `unread, 21 Nov, run 0a1b2c3d: 1 truncated`. */
function unreadSummary(report: Report, withRun: boolean): string {
  const unread = report.policies.filter((entry) => isUnread(report, entry) && resultOf[entry.outcome] === 'ok');
  return `unread${deciderOf(unread, withRun)}: ${countsOf(unread)}`;
}
