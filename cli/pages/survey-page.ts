import type { Check } from '../../lambda/facts/check.ts';
import { oneLine } from '../../lambda/facts/text.ts';
import type { Night } from '../../lambda/memory/night.ts';
import { dottedName, searchIndex } from '../../lambda/policy/aspects.ts';
import { checkWords } from '../../lambda/wording/checks.ts';
import { errorText } from '../../lambda/wording/errors.ts';
import { moment } from '../../lambda/wording/numbers.ts';
import { asSentence } from '../../lambda/wording/punctuation.ts';
import { freedMb, grouped, share, size } from '../screen/text.ts';
import { ages, type IndexCounts, rowsOf, type Survey, type SurveyedIndex } from '../survey/count.ts';
import { type DamageLine, damage, isDamaged } from '../survey/damage.ts';
import { hints } from '../survey/hints.ts';
import { failuresByReason } from '../survey/render.ts';
import { policiesText, reasonOf, rowsToGo, type Suggestion, suggest } from '../survey/suggestion.ts';
import { bitten, byAge } from './by-age.ts';
import type { Attention, Bar, Fate, IndexPicture, Page } from './model.ts';
import { nightPoints } from './night-points.ts';

/** What a survey found, as a page. */

export interface Surveyed {
  survey: Survey;
  checks: readonly Check[];
  server: string;
  /** What people call this DataHub. */
  name?: string;
  /** Epoch milliseconds. */
  now: number;
  /** The memory of nights by search index, if there is one for this server. */
  nights?: ReadonlyMap<string, readonly Night[]> | undefined;
}

/** A text of a server. */
const maxText = 600;

/** The default of `minDeletePercent`. */
const threshold = 10;

export function surveyPage({ survey, checks, server, name, now, nights }: Surveyed): Page {
  const suggestions = suggest(survey, now);
  const suggested = new Map(suggestions.map((one) => [dottedName(one.policy), one]));
  const { indices } = survey;
  const rows = indices.reduce((sum, index) => sum + rowsOf(index), 0);
  const pictures = indices.map((index) =>
    pictureOf(index, suggested.get(dottedName(index)), nights && (nights.get(searchIndex(index)) ?? []), now),
  );
  const of = (wanted: Fate) =>
    pictures
      .flatMap(({ bar }) => bar?.parts ?? [])
      .filter(({ fate }) => fate === wanted)
      .reduce((sum, part) => sum + part.rows, 0);
  const [goes, overdue, later] = [of('goes'), of('overdue'), of('later')];
  const freed = pictures.flatMap(({ bar }) => bar?.freedMb ?? []);
  const sizes = indices.some(({ sizeMb }) => sizeMb !== undefined);
  const mb = indices.reduce((sum, { sizeMb = 0 }) => sum + sizeMb, 0);
  const attention = [
    ...damageAlert(survey, now),
    ...checks.flatMap((check) => checkAlert(check, now)),
    ...failures(survey),
  ];
  return {
    kind: 'survey',
    title: `DataHub retention: survey${name === undefined ? '' : ` of ${name}`}`,
    heading: `${grouped(indices.length)} ${indices.length === 1 ? 'index' : 'indices'}, ${grouped(rows)} rows${sizes ? `, ${size(mb)}` : ''}`,
    severity: attention.some(({ severity }) => severity === 'failed') ? 'failed' : 'ok',
    about: [
      { term: 'Server', text: server },
      { term: 'Surveyed', text: moment(now) },
      { term: 'Read-only', text: 'nothing was changed' },
    ],
    totals: [
      { term: 'Rows', text: grouped(rows) },
      { term: `would go, with the policies below (${share(goes, rows)})`, text: grouped(goes) },
      ...(overdue > 0 ? [{ term: 'past retention, not worth it yet', text: grouped(overdue) }] : []),
      ...(later > 0 ? [{ term: 'go in later runs', text: grouped(later) }] : []),
      ...(freed.length > 0
        ? [{ term: 'would be freed, estimated', text: size(freed.reduce((sum, one) => sum + one, 0)) }]
        : []),
      ...(sizes ? [{ term: 'Primaries', text: size(mb) }] : []),
    ],
    attention,
    allWell: 'Address, connection, token, privileges and clock are OK, and every index was counted.',
    indices: pictures,
    toKnow: hints(survey),
    unmanaged: [],
    ...(suggestions.length > 0 && {
      suggestions: { reasons: suggestions.map(reasonOf), json: policiesText(suggestions) },
    }),
  };
}

function checkAlert(check: Check, now: number): Attention[] {
  if (check.state === 'ok') return [];
  const { text, remedy } = checkWords(check, 'machine', now);
  return [
    {
      severity: check.state,
      title: check.state === 'failed' ? `${check.name} failed` : check.name,
      lines: [asSentence(oneLine(text, maxText))],
      instructions: [],
      ...(remedy !== undefined && { next: { text: asSentence(remedy) } }),
    },
  ];
}

/** Indices that some reindex may have emptied, and where their rows may be. */
function damageAlert(found: Survey, now: number): Attention[] {
  const told = damage(found, now);
  if (told.length === 0) return [];
  const of = (kind: DamageLine['kind']) => told.filter((line) => line.kind === kind).map(({ text }) => text);
  const damaged = found.indices.filter((index) => isDamaged(index, now)).map(dottedName);
  const [, why, ...next] = of('paragraph');
  return [
    {
      severity: 'failed',
      title: `May have lost rows: ${damaged.join(', ')}`,
      lines: [...of('item').map(asSentence), ...(why === undefined ? [] : [why])],
      instructions: of('command').map((line, at) => ({ say: damaged[at] ?? '', line, typedIn: 'search-engine' })),
      ...(next.length > 0 && { next: { text: next.join(' ') } }),
    },
  ];
}

function failures(found: Survey): Attention[] {
  const failed = (title: string, line: string): Attention => ({
    severity: 'failed',
    title,
    lines: [line],
    instructions: [],
  });
  const { stopped } = found;
  return [
    ...[...failuresByReason(found)].map(([reason, names]) =>
      failed(`Not counted: ${names.join(', ')}`, asSentence(reason)),
    ),
    ...(stopped === undefined
      ? []
      : [failed('The counting stopped there', asSentence(oneLine(errorText(stopped), maxText)))]),
  ];
}

function pictureOf(
  index: SurveyedIndex,
  suggestion: Suggestion | undefined,
  nights: readonly Night[] | undefined,
  now: number,
): IndexPicture {
  const { counts, sizeMb, indexName } = index;
  const name = dottedName(index);
  return {
    name,
    ...(counts.kind === 'failed' && { badge: { text: 'not counted', severity: 'failed' as const } }),
    ...(isDamaged(index, now) && { badge: { text: 'may have lost rows', severity: 'failed' as const } }),
    ...(index.protected
      ? {
          sentence:
            'The state of stateful ingestion, not history: it must not be truncated, and policies for it are refused.',
        }
      : suggestion && { sentence: `Suggested: ${suggestion.why}.` }),
    ...(counts.kind === 'counted' && { bar: barOf(index, counts, suggestion) }),
    facts: [
      ...(sizeMb === undefined ? [] : [{ term: 'Size', text: size(sizeMb) }]),
      ...(suggestion?.policy.maxRowsPerRun === undefined
        ? []
        : [{ term: 'Bite', text: `${grouped(suggestion.policy.maxRowsPerRun)} rows a night` }]),
      ...(indexName === undefined ? [] : [{ term: 'Index', text: indexName }]),
    ],
    sizeMb,
    ...(nights && { nights: nightPoints(nights) }),
  };
}

function barOf(
  index: SurveyedIndex,
  { rowsTotal, older }: IndexCounts & { kind: 'counted' },
  suggestion: Suggestion | undefined,
): Bar {
  const counted = new Map(ages.map((age) => [age as number, older[age]]));
  const days = suggestion?.policy.enabled === false ? undefined : suggestion?.policy.retentionDays;
  if (days === undefined) return { parts: byAge(rowsTotal, counted, []) };
  const rows = counted.get(days) ?? 0;
  const isWorthIt = rowsTotal > 0 && rows > 0 && (rows / rowsTotal) * 100 >= threshold;
  const parts = byAge(rowsTotal, counted, [{ days, rows, fate: isWorthIt ? 'goes' : 'overdue' }]);
  const bite = suggestion?.policy.maxRowsPerRun;
  const freed = suggestion && freedMb(rowsToGo(index, suggestion), rowsTotal, index.sizeMb);
  return {
    parts: bite === undefined ? parts : bitten(parts, bite),
    cutDays: days,
    threshold,
    ...(freed !== undefined && { freedMb: freed }),
  };
}
