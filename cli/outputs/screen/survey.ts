import { dottedName } from '../../../lambda/policy/aspects.ts';
import { amount, exact, inSigns, size } from '../../../lambda/report/sentences/numbers.ts';
import { errorText } from '../../../lambda/report/sentences/server-errors.ts';
import {
  ageOfOldest,
  ages,
  type Check,
  type Findings,
  failuresByReason,
  freedMb,
  type Survey,
  type SurveyedIndex,
  share,
} from '../../events/findings.ts';
import { type Column, hanging, table, wrapped } from '../table.ts';
import type { Paint } from './screen.ts';

const severities = { ok: 'ok', note: 'note', failed: 'failed', 'not checked': 'attention' } as const;

/** Each check, with what to do below it. @param room for a line, characters; Infinity in a file */
export function checkLines(checks: readonly Check[], paint: Paint, room: number): string[] {
  return checks.flatMap(({ name, state, text, remedy }) => {
    const mark = (state === 'failed' ? 'FAILED' : state).padEnd(11);
    return [
      ...hanging(`  ${paint(severities[state], mark)}  ${name.padEnd(11)}  `, text, room),
      ...(remedy ? hanging(`${' '.repeat(28)}-> `, remedy, room) : []),
    ];
  });
}

/**
 * Everything that a survey found, for a screen.
 * @param width of its table, characters
 * @param room for a line of text; Infinity in a file
 */
export function surveyLines(findings: Findings, width: number, room: number): string[] {
  const { survey, damage, hints, suggestions } = findings;
  if (survey.indices.length === 0) return ['There is no time series index.'];
  return [
    ...damage.flatMap(({ kind, text }) => {
      // What is pasted stays whole.
      if (kind === 'command') return [`  ${text}`];
      return kind === 'item' ? hanging('- ', text, room) : [...wrapped(text, room), ''];
    }),
    'Rows older than N days, and what would remain without them:',
    '',
    sizesTable(survey.indices, width),
    ...below('What to know:', hints, room),
    ...below(
      'Suggested policies:',
      suggestions.map(({ policy, why }) => `${dottedName(policy)}: ${why}.`),
      room,
    ),
    ...(suggestions.length > 0
      ? ['', 'Which screens read each index, and how many days to keep: docs/choosing-days.md']
      : []),
    ...freedTotal(findings).flatMap((line) => wrapped(line, room)),
    // Last, where people see it: what the figures above leave out.
    ...failures(survey).flatMap((line) => wrapped(line, room)),
  ];
}

const below = (title: string, items: readonly string[], room: number): string[] =>
  items.length === 0 ? [] : ['', title, ...items.flatMap((item) => hanging('- ', item, room))];

/** For each index, the share of rows older than each age, the rows that would remain, and the space freed. */
function sizesTable(indices: readonly SurveyedIndex[], width: number): string {
  const columns: Column[] = [
    { title: 'Index' },
    { title: 'Rows', align: 'right' },
    { title: 'Size', align: 'right' },
    { title: 'Oldest', align: 'right' },
    ...ages.map((age): Column => ({ title: `>${age} d`, align: 'right' })),
  ];
  return table(columns, indices.flatMap(cells), width);
}

function cells(index: SurveyedIndex): string[][] {
  const { counts, sizeMb } = index;
  const sizeCell = sizeMb === undefined ? '-' : size(sizeMb, inSigns);
  if (counts.kind === 'failed') return [[dottedName(index), 'failed', sizeCell, '', ...ages.map(() => '')]];
  const { rowsTotal, older } = counts;
  const freed = (rows: number) => size(freedMb(rows, rowsTotal, sizeMb) ?? 0, inSigns);
  return [
    [
      dottedName(index),
      amount(rowsTotal),
      sizeCell,
      ageOfOldest(counts, inSigns),
      ...ages.map((age) => share(older[age], rowsTotal, inSigns)),
    ],
    ['  would remain', '', '', '', ...ages.map((age) => amount(rowsTotal - older[age]))],
    ...(sizeMb === undefined || rowsTotal === 0 || index.protected
      ? []
      : [['  would free ~', '', '', '', ...ages.map((age) => freed(older[age]))]]),
  ];
}

/** What a first run with the suggested policies would delete and free. */
function freedTotal({ gain: { rows, of, mb, isMost } }: Findings): string[] {
  if (rows === 0) return [];
  const first = `With these policies a first run would delete ${isMost ? 'up to ' : ''}${exact(rows)} of ${exact(of)} rows (${share(rows, of)})`;
  if (mb === 0) return ['', `${first}.`];
  const estimate =
    'Disk space is estimated (rows × average size of a row); it comes back when the search engine merges.';
  return ['', `${first} and free ${mb < 1 ? '' : 'about '}${size(mb)}. ${estimate}`];
}

/** Why indices could not be counted, each reason once. */
function failures(survey: Survey): string[] {
  const reasons = [...failuresByReason(survey)].map(([reason, names]) => `Not counted: ${names.join(', ')}: ${reason}`);
  const stopped = survey.stopped ? [`Stopped there: ${errorText(survey.stopped)}`] : [];
  return reasons.length + stopped.length === 0 ? [] : ['', ...reasons, ...stopped];
}
