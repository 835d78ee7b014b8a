import type { Check } from '../../lambda/facts/check.ts';
import { oneLine } from '../../lambda/facts/text.ts';
import type { IndexSize } from '../../lambda/operations/operations.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import { checkWords } from '../../lambda/wording/checks.ts';
import { errorText } from '../../lambda/wording/errors.ts';
import { type Paint, plain } from '../screen/colour.ts';
import { type Column, freedMb, share, short, size, table, widthOf, wrap } from '../screen/text.ts';
import { ages, type Survey, type SurveyedIndex } from './count.ts';

/** The survey's text, line by line. */

/** Server text must neither control the terminal nor fill it. */
const said = (text: string): string => oneLine(text, 2000);

const marks: Record<Check['state'], string> = { ok: 'ok', note: 'note', failed: 'FAILED' };

/** One line for each check, with what to do below it if it failed. */
export function renderChecks(checks: readonly Check[], width: number, paint: Paint = plain): string[] {
  return checks.flatMap((check) => {
    const { name, state } = check;
    const { text, remedy } = checkWords(check, 'machine', Date.now());
    const head = `  ${paint(state, marks[state].padEnd(6))}  ${name.padEnd(11)}  `;
    return [
      ...wrap(said(text), width, head),
      ...(remedy ? wrap(remedy, width, `${' '.repeat(widthOf(head))}-> `) : []),
    ];
  });
}

/**
 * The table: for each index a line with the share of rows older than each age, one with the rows that would remain, and
 * one with the disk space that would be freed. Fits 100 columns with DataHub's own names; on a narrower terminal each
 * index gets a paragraph.
 */
export function renderTable(indices: readonly SurveyedIndex[], width: number): string[] {
  const columns: Column[] = [
    { title: 'Index' },
    { title: 'Rows', align: 'right' },
    { title: 'Size', align: 'right' },
    ...ages.map((age): Column => ({ title: `>${age} d`, align: 'right' })),
  ];
  const lines = table(columns, indices.flatMap(cells));
  return Math.max(...lines.map(widthOf)) <= width ? lines : indices.flatMap((index) => paragraph(index, width));
}

function cells(index: SurveyedIndex): string[][] {
  const { counts, sizeMb } = index;
  const sizeCell = sizeMb === undefined ? '-' : size(sizeMb);
  if (counts.kind === 'failed') return [[dottedName(index), 'failed', sizeCell]];
  const { rowsTotal, older } = counts;
  return [
    [dottedName(index), short(rowsTotal), sizeCell, ...ages.map((age) => share(older[age], rowsTotal))],
    ['  would remain', '', '', ...ages.map((age) => short(rowsTotal - older[age]))],
    ...(sizeMb === undefined || rowsTotal === 0 || index.protected
      ? []
      : [['  would free, about', '', '', ...ages.map((age) => size(freedMb(older[age], rowsTotal, sizeMb)!))]]),
  ];
}

function paragraph(index: SurveyedIndex, width: number): string[] {
  const { counts, sizeMb } = index;
  const sizeText = sizeMb === undefined ? '' : `, ${size(sizeMb)}`;
  if (counts.kind === 'failed') return wrap(`${dottedName(index)}: failed${sizeText}`, width, '', '  ');
  const { rowsTotal, older } = counts;
  return [
    ...wrap(`${dottedName(index)}: ${short(rowsTotal)} rows${sizeText}`, width, '', '  '),
    ...ages.flatMap((age) => {
      const mb = index.protected ? undefined : freedMb(older[age], rowsTotal, sizeMb);
      const freed = mb === undefined ? '' : `, frees about ${size(mb)}`;
      const line = `>${age} d: ${share(older[age], rowsTotal)}, ${short(rowsTotal - older[age])} would remain${freed}`;
      return wrap(line, width, '  ', '    ');
    }),
  ];
}

/** What can be shown if counting is not allowed: the indices by size. */
export function renderSizes(sizes: readonly IndexSize[]): string[] {
  if (sizes.length === 0) return [];
  const largestFirst = [...sizes].sort((one, other) => (other.sizeMb ?? 0) - (one.sizeMb ?? 0));
  const rows = largestFirst.map(({ indexName, sizeMb }) => [indexName, sizeMb === undefined ? '-' : size(sizeMb)]);
  return [...table([{ title: 'Index' }, { title: 'Size', align: 'right' }], rows), ''];
}

/** Why indices could not be counted, each reason once. */
export function renderFailures(found: Survey, width: number): string[] {
  const { stopped } = found;
  return [
    ...[...failuresByReason(found)].flatMap(([reason, names]) =>
      wrap(`Not counted: ${names.join(', ')}: ${reason}`, width, '', '  '),
    ),
    ...(stopped === undefined ? [] : wrap(`Stopped there: ${said(errorText(stopped))}`, width, '', '  ')),
  ];
}

/** The names of indices that were not counted, by reason. */
export function failuresByReason({ indices }: Survey): Map<string, string[]> {
  const byReason = new Map<string, string[]>();
  for (const index of indices) {
    if (index.counts.kind !== 'failed') continue;
    const reason = said(errorText(index.counts.error));
    byReason.set(reason, [...(byReason.get(reason) ?? []), dottedName(index)]);
  }
  return byReason;
}
