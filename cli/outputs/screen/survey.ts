import { amount, exact, size } from '../../../lambda/message/numbers.ts';
import { errorText } from '../../../lambda/message/server-errors.ts';
import { dottedName } from '../../../lambda/policy/aspects.ts';
import {
  ages,
  type Check,
  type Findings,
  failuresByReason,
  freedExplained,
  freedMb,
  reach,
  type Survey,
  type SurveyedIndex,
  share,
} from '../../telling/findings.ts';
import { type Column, table } from '../table.ts';
import type { Paint } from './screen.ts';

/** The survey's text, line by line. */

const severities = { ok: 'ok', note: 'note', failed: 'failed', 'not checked': 'attention' } as const;

/** One line for each check, with what to do below it. */
export function checkLines(checks: readonly Check[], paint: Paint): string[] {
  return checks.flatMap(({ name, state, text, remedy }) => {
    const mark = (state === 'failed' ? 'FAILED' : state).padEnd(11);
    const line = `  ${paint(severities[state], mark)}  ${name.padEnd(11)}  ${text}`;
    return remedy ? [line, `${' '.repeat(28)}-> ${remedy}`] : [line];
  });
}

/** Everything that a survey found, for a screen. @param width of its lines, characters */
export function surveyLines(findings: Findings, width: number): string[] {
  const { survey, damage, hints, suggestions } = findings;
  if (survey.indices.length === 0) return ['There is no time series index.'];
  return [
    ...damage.map(({ kind, text }) => (kind === 'command' ? `  ${text}` : kind === 'item' ? `- ${text}` : `${text}\n`)),
    'Rows older than N days, and what would remain without them:',
    '',
    sizesTable(survey.indices, width),
    ...below('What to know:', hints),
    ...below(
      'Suggested policies:',
      suggestions.map(({ policy, why }) => `${dottedName(policy)}: ${why}.`),
    ),
    ...(suggestions.length > 0
      ? ['', 'Which screens read each index, and how many days to keep: docs/choosing-days.md']
      : []),
    ...freedInAll(findings),
    // Last, where people see it: what the figures above leave out.
    ...failures(survey),
  ];
}

const below = (title: string, items: readonly string[]): string[] =>
  items.length === 0 ? [] : ['', title, ...items.map((item) => `- ${item}`)];

/** For each index the share of rows older than each age, the rows that would remain, and the space that would be freed. */
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

/** `under 1 MB` and `180 to 365 d` as a narrow column has them. */
const short = (text: string): string => text.replace('under ', '<').replace('over ', '>').replace(' to ', '-');

function cells(index: SurveyedIndex): string[][] {
  const { counts, sizeMb } = index;
  const sizeCell = sizeMb === undefined ? '-' : short(size(sizeMb));
  if (counts.kind === 'failed') return [[dottedName(index), 'failed', sizeCell, '', ...ages.map(() => '')]];
  const { rowsTotal, older } = counts;
  const freed = (rows: number) => short(size(freedMb(rows, rowsTotal, sizeMb) ?? 0));
  return [
    [
      dottedName(index),
      amount(rowsTotal),
      sizeCell,
      short(reach(counts)),
      ...ages.map((age) => short(share(older[age], rowsTotal))),
    ],
    ['  would remain', '', '', '', ...ages.map((age) => amount(rowsTotal - older[age]))],
    ...(sizeMb === undefined || rowsTotal === 0 || index.protected
      ? []
      : [['  would free ~', '', '', '', ...ages.map((age) => freed(older[age]))]]),
  ];
}

/** What a first run with the suggested policies would delete and free. */
function freedInAll({ gain: { rows, of, mb } }: Findings): string[] {
  if (rows === 0) return [];
  const freed = mb === undefined ? '' : ` and free ${mb < 1 ? '' : 'about '}${size(mb)}`;
  const first = `With them a first run would delete ${exact(rows)} of ${exact(of)} rows (${share(rows, of)})${freed}.`;
  return ['', mb === undefined ? first : `${first} ${freedExplained}`];
}

/** Why indices could not be counted, each reason once. */
function failures(survey: Survey): string[] {
  const reasons = [...failuresByReason(survey)].map(([reason, names]) => `Not counted: ${names.join(', ')}: ${reason}`);
  const stopped = survey.stopped ? [`Stopped there: ${errorText(survey.stopped)}`] : [];
  return reasons.length + stopped.length === 0 ? [] : ['', ...reasons, ...stopped];
}
