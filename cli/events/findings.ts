import type { ServerError } from '../../lambda/model/server-error.ts';
import { dottedName } from '../../lambda/policy/aspects.ts';
import type { PolicyInput } from '../../lambda/policy/schema.ts';
import { inWords, percent } from '../../lambda/report/sentences/numbers.ts';
import { errorText } from '../../lambda/report/sentences/server-errors.ts';

/** What a survey reports: plain data, and the few figures that both screen and page use. */

export interface Check {
  name: 'Address' | 'Token' | 'Headers' | 'Certificate' | 'Truncation' | 'Task status' | 'Sizes' | 'Clock';
  state: 'ok' | 'note' | 'failed' | 'not checked';
  text: string;
  remedy?: string;
}

/** The ages that the survey asks for, days. */
export const ages = [30, 90, 180, 365] as const;
export type Age = (typeof ages)[number];

export interface SurveyedIndex {
  entityType: string;
  aspect: string;
  /** The state of stateful ingestion: not history. */
  protected: boolean;
  /** The physical index, if sizes are available. */
  indexName?: string;
  /** Decimal megabytes, primaries only. */
  sizeMb?: number;
  counts: IndexCounts;
}

export type IndexCounts =
  | {
      kind: 'counted';
      rowsTotal: number;
      /** Rows that are at least this many days old: these ages, and the retention that this job knows of. */
      older: Record<Age, number> & { [days: number]: number | undefined };
      /** Rows older than 25 and older than 32 days, asked if none are older than 90: does something cut at 30? */
      around30?: { days25: number; days32: number } | undefined;
      /** Rows older than the physical index itself, whose name contains its creation time. */
      created?: Creation;
      /** True if the server does not say of each age that it would delete in place; of these it does. */
      reindexes: boolean;
      deletesAt?: ReadonlySet<number>;
      clockSkewMillis?: number | undefined;
    }
  | { kind: 'failed'; error: ServerError };

export interface Creation {
  /** Epoch milliseconds. */
  at: number;
  rowsBefore: number;
  /** Rows from before it or the two days after; asked if there are none from before. */
  rowsSoonAfter?: number;
}

export interface Survey {
  indices: SurveyedIndex[];
  /** Indices whose names do not reveal entity type and aspect. */
  unnamed: string[];
  /** A failure that every further request would have hit: counting stopped there. */
  stopped?: ServerError;
}

export const rowsOf = ({ counts }: SurveyedIndex): number => (counts.kind === 'counted' ? counts.rowsTotal : 0);

/** How old the oldest rows are, as far as the counts show it. */
export function ageOfOldest(
  { rowsTotal, older }: IndexCounts & { kind: 'counted' },
  { under, over, to } = inWords,
): string {
  if (rowsTotal === 0) return '-';
  const oldest = ages.findLast((age) => older[age] > 0);
  if (oldest === undefined) return `${under}${ages[0]} d`;
  const next = ages[ages.indexOf(oldest) + 1];
  return next === undefined ? `${over}${oldest} d` : `${oldest}${to}${next} d`;
}

/** The names of indices that were not counted, by reason. */
export function failuresByReason({ indices }: Survey): Map<string, string[]> {
  const byReason = new Map<string, string[]>();
  for (const index of indices) {
    if (index.counts.kind !== 'failed') continue;
    const reason = errorText(index.counts.error);
    byReason.set(reason, [...(byReason.get(reason) ?? []), dottedName(index)]);
  }
  return byReason;
}

export interface DamageLine {
  kind: 'paragraph' | 'item' | 'command';
  text: string;
}

/** A suggested policy. The reason is for today's reader; the policy itself outlives it. */
export interface Suggestion {
  policy: PolicyInput;
  /** Without its full stop. */
  why: string;
  rowsPastRetention: number;
  /** How many of them a first run would delete. */
  rowsToDelete: number;
  /** Why it would delete none of the others, or no more; a clause. */
  whyNotMore?: string;
}

/** A policies file with the suggested policies, one line each. */
export const policiesText = (suggestions: readonly Suggestion[]): string =>
  `[\n${suggestions.map(({ policy }) => `  ${JSON.stringify(policy)}`).join(',\n')}\n]\n`;

/** Everything that a survey found, and what follows from it: the same for screen, page and JSON. */
export interface Findings {
  survey: Survey;
  checks: readonly Check[];
  /** Indices that may have lost their rows: to be looked at first. */
  damage: DamageLine[];
  /** Their names, as policies have them. */
  damaged: string[];
  hints: string[];
  suggestions: Suggestion[];
  /** What a first run with them would delete, at most where a row limit divides it, and free, as far as sizes are known. */
  gain: { rows: number; of: number; mb: number; isMost: boolean };
  /** Epoch milliseconds. */
  now: number;
}

/** A share as `12.3 %`; a dash where there is nothing to share. */
export const share = (part: number, whole: number, limits = inWords): string =>
  whole === 0 ? '-' : percent((part / whole) * 100, 1, limits);

/**
 * Decimal megabytes that some of an index's rows take, by the average size of a row: an estimate. Rows differ, and the
 * search engine gives disk space back only when it merges.
 * @returns undefined if the size is not known
 */
export const freedMb = (rows: number, rowsTotal: number, sizeMb: number | undefined): number | undefined =>
  sizeMb === undefined || rowsTotal === 0 ? undefined : (sizeMb * rows) / rowsTotal;
