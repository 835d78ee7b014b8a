import type { Check } from '../../lambda/facts/check.ts';
import type { Night } from '../../lambda/memory/night.ts';
import { checkWords } from '../../lambda/wording/checks.ts';
import { clip } from '../../lambda/wording/clean.ts';
import { errorText } from '../../lambda/wording/errors.ts';
import { grouped, share, size } from '../screen/text.ts';
import { ages, type IndexCounts, nameOf, rowsOf, type Survey, type SurveyedIndex } from '../survey/count.ts';
import { hints } from '../survey/hints.ts';
import { type Suggestion, suggest } from '../survey/suggestion.ts';
import { byAge } from './by-age.ts';
import { moment } from './dates.ts';
import type { Attention, Bar, IndexPicture, Page } from './model.ts';
import { nightPoints } from './night-points.ts';

/** What a survey found, as a page. */

export interface Surveyed {
  survey: Survey;
  checks: readonly Check[];
  server: string;
  /** Epoch milliseconds. */
  now: number;
  /** The memory of nights, where there is one of this server. */
  nightsOf?(index: SurveyedIndex): readonly Night[];
  /** The policies as `--json` writes them. */
  policiesJson: string;
}

/** The default of `minDeletePercent`. */
const threshold = 10;

export function surveyPage({ survey, checks, server, now, nightsOf, policiesJson }: Surveyed): Page {
  const suggestions = suggest(survey);
  const suggested = new Map(suggestions.map((one) => [nameOf(one.policy), one]));
  const { indices } = survey;
  const rows = indices.reduce((sum, index) => sum + rowsOf(index), 0);
  const pictures = indices.map((index) => pictureOf(index, suggested.get(nameOf(index)), nightsOf?.(index)));
  const past = pictures.flatMap(({ bar }) => bar?.parts ?? []).filter(({ fate }) => fate === 'goes');
  const goes = past.reduce((sum, part) => sum + part.rows, 0);
  const sizes = indices.some(({ sizeMb }) => sizeMb !== undefined);
  const mb = indices.reduce((sum, { sizeMb = 0 }) => sum + sizeMb, 0);
  const attention = [...checks.flatMap((check) => checkAlert(check, now)), ...failures(survey)];
  return {
    kind: 'survey',
    title: 'DataHub retention: survey',
    heading: `${grouped(indices.length)} ${indices.length === 1 ? 'index' : 'indices'}, ${grouped(rows)} rows${sizes ? `, ${size(mb)}` : ''}`,
    severity: attention.some(({ severity }) => severity === 'failed') ? 'failed' : 'ok',
    about: [
      { term: 'Server', text: server },
      { term: 'Surveyed', text: moment(now) },
      { term: 'Read-only', text: 'nothing was changed' },
    ],
    totals: [
      { term: 'Rows', text: grouped(rows) },
      { term: 'would go, with the policies below', text: grouped(goes) },
      { term: 'of all rows', text: share(goes, rows) },
      ...(sizes ? [{ term: 'Primaries', text: size(mb) }] : []),
    ],
    attention,
    allWell: 'Address, connection, token, privileges and clock are well, and every index was counted.',
    indices: pictures,
    toKnow: hints(survey, now),
    unmanaged: [],
    ...(suggestions.length > 0 && { suggestions: { reasons: suggestions.map(({ reason }) => reason), json: policiesJson } }),
  };
}

function checkAlert(check: Check, now: number): Attention[] {
  if (check.state === 'ok') return [];
  const { text, remedy } = checkWords(check, 'machine', now);
  return [
    {
      severity: check.state,
      title: check.state === 'failed' ? `${check.name} failed` : check.name,
      lines: [sentence(clip(text, 600))],
      instructions: [],
      ...(remedy !== undefined && { next: { text: sentence(remedy) } }),
    },
  ];
}

function failures({ indices, stopped }: Survey): Attention[] {
  const byReason = new Map<string, string[]>();
  for (const index of indices) {
    if (index.counts.kind !== 'failed') continue;
    const reason = errorText(index.counts.error);
    byReason.set(reason, [...(byReason.get(reason) ?? []), nameOf(index)]);
  }
  return [
    ...[...byReason].map(([reason, names]): Attention => ({
      severity: 'failed',
      title: `Not counted: ${names.join(', ')}`,
      lines: [sentence(clip(reason, 600))],
      instructions: [],
    })),
    ...(stopped === undefined
      ? []
      : [
          {
            severity: 'failed' as const,
            title: 'The counting stopped there',
            lines: [sentence(clip(errorText(stopped), 600))],
            instructions: [],
          },
        ]),
  ];
}

const sentence = (text: string): string => {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
};

function pictureOf(
  index: SurveyedIndex,
  suggestion: Suggestion | undefined,
  nights: readonly Night[] | undefined,
): IndexPicture {
  const { counts, sizeMb, indexName } = index;
  const name = nameOf(index);
  return {
    name,
    ...(counts.kind === 'failed' && { badge: { text: 'not counted', severity: 'failed' as const } }),
    ...(index.protected
      ? { sentence: 'The state of stateful ingestion, not history: it must not be truncated, and policies for it are refused.' }
      : suggestion && { sentence: withoutName(suggestion.reason, name) }),
    ...(counts.kind === 'counted' && { bar: barOf(counts, suggestion) }),
    facts: [
      ...(sizeMb === undefined ? [] : [{ term: 'Size', text: size(sizeMb) }]),
      ...(indexName === undefined ? [] : [{ term: 'Index', text: indexName }]),
    ],
    sizeMb,
    ...(nights && { nights: nightPoints(nights) }),
  };
}

/** A suggestion's reason begins with its index, which is the heading here. */
function withoutName(reason: string, name: string): string {
  return reason.startsWith(`${name}: `) ? `Suggested: ${reason.slice(name.length + 2)}` : reason;
}

function barOf(
  { rowsTotal, older }: IndexCounts & { kind: 'counted' },
  suggestion: Suggestion | undefined,
): Bar {
  const counted = new Map(ages.map((age) => [age as number, older[age]]));
  const days = suggestion?.policy.enabled === false ? undefined : suggestion?.policy.retentionDays;
  if (days === undefined) return { parts: byAge(rowsTotal, counted, []) };
  const rows = counted.get(days) ?? 0;
  const isWorthIt = rowsTotal > 0 && rows > 0 && (rows / rowsTotal) * 100 >= threshold;
  return {
    parts: byAge(rowsTotal, counted, [{ days, rows, fate: isWorthIt ? 'goes' : 'overdue' }]),
    cutDays: days,
    threshold,
  };
}
