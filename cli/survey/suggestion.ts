import { dottedName } from '../../lambda/policy/aspects.ts';
import type { PolicyInput } from '../../lambda/policy/schema.ts';
import { freedMb, grouped, share } from '../screen/text.ts';
import { type Age, rowsOf, type Survey, type SurveyedIndex } from './count.ts';
import { isDamaged } from './damage.ts';
import { isCutAt30Days } from './hints.ts';

/** A suggested policy; its `note` is the reason, which every message then shows next to the index. */
export interface Suggestion {
  policy: PolicyInput & { note: string };
  /** The reason, with more detail where there is some; without its full stop. */
  why: string;
}

/** For a list: it begins with the index. */
export const reasonOf = ({ policy, why }: Suggestion): string => `${dottedName(policy)}: ${why}.`;

/** A policies file with the suggested policies, one line each. */
export const policiesText = (suggestions: readonly Suggestion[]): string =>
  `[\n${suggestions.map(({ policy }) => `  ${JSON.stringify(policy)}`).join(',\n')}\n]\n`;

/** One suggestion for each index that could be counted and may be truncated. */
export const suggest = ({ indices }: Survey, now: number): Suggestion[] =>
  indices.flatMap((index) => {
    if (index.counts.kind !== 'counted' || index.protected) return [];
    return [isDamaged(index, now) ? untilFound(index) : suggestOne(index, index.counts)];
  });

const suggestion = (policy: PolicyInput, note: string, hint = ''): Suggestion => ({
  policy: { ...policy, note },
  why: `${note}${hint}`,
});

const untilFound = ({ entityType, aspect }: SurveyedIndex): Suggestion =>
  suggestion(
    { entityType, aspect, retentionDays: 365, enabled: false },
    'switched off until it is known whether it has lost rows',
    ' (see above)',
  );

/** The default of `minDeletePercent`, as a share: from here on a truncation is worthwhile. */
const worthwhile = 0.1;

/** Deleting more rows than this in the first night means hours of load, merges, and a disk that grows before it shrinks. */
const bigNightRows = 10_000_000;
const biteRows = 5_000_000;

/** The longest first, because deletion cannot be undone. 30 days are never suggested. */
const candidates: readonly Age[] = [365, 180, 90];

function suggestOne(index: SurveyedIndex, counts: SurveyedIndex['counts'] & { kind: 'counted' }): Suggestion {
  const { entityType, aspect } = index;
  const with365 = { entityType, aspect, retentionDays: 365 };
  if (isCutAt30Days(index)) {
    return suggestion(
      { ...with365, enabled: false },
      'switched off, because something else already cuts it at 30 days; switch it on when that has stopped',
      ' (see above)',
    );
  }
  if (holdsLatestState(aspect)) {
    return suggestion(
      with365,
      '365 days, because DataHub shows the latest row as the current result: a shorter time would delete the only row of what runs rarely',
    );
  }
  const age = candidates.find((days) => counts.rowsTotal > 0 && counts.older[days] / counts.rowsTotal >= worthwhile);
  if (age === undefined) {
    return suggestion(with365, '365 days, because there is too little older than 90 days to be worth it yet');
  }
  const part = `${share(counts.older[age], counts.rowsTotal)} of its rows (${grouped(counts.older[age])}) are older`;
  const note =
    age === 365
      ? `365 days, because ${part}, and DataHub shows usage of up to a year`
      : `${age} days, because ${part}; at 365 days it would be ${share(counts.older[365], counts.rowsTotal)}`;
  const policy = { entityType, aspect, retentionDays: age };
  // A server that reindexes anyway copies everything, however little is deleted.
  if (counts.older[age] <= bigNightRows || counts.ignoresForce) return suggestion(policy, note);
  const nights = Math.ceil(counts.older[age] / biteRows);
  return suggestion(
    { ...policy, maxRowsPerRun: biteRows },
    note,
    `. At most ${grouped(biteRows)} rows are deleted a night, so that the first run is no heavier than later ones: about ${nights} nights`,
  );
}

/** What a first run would delete from one index: nothing if it is not worthwhile, and no more than a bite. */
export function rowsToGo({ counts }: SurveyedIndex, { policy }: Suggestion): number {
  if (counts.kind !== 'counted' || policy.enabled === false || counts.rowsTotal === 0) return 0;
  const past = counts.older[policy.retentionDays as Age];
  if (past / counts.rowsTotal < worthwhile) return 0;
  return Math.min(past, policy.maxRowsPerRun ?? past);
}

/** The same for all indices, with the disk space that it would free, as far as sizes are known. */
export function gainOf(
  { indices }: Survey,
  suggestions: readonly Suggestion[],
): { rows: number; of: number; mb?: number } {
  const suggested = new Map(suggestions.map((one) => [dottedName(one.policy), one]));
  let [rows, of, mb] = [0, 0, undefined as number | undefined];
  for (const index of indices) {
    const suggestion = suggested.get(dottedName(index));
    const go = suggestion ? rowsToGo(index, suggestion) : 0;
    const freed = freedMb(go, rowsOf(index), index.sizeMb);
    rows += go;
    of += rowsOf(index);
    if (freed !== undefined) mb = (mb ?? 0) + freed;
  }
  return { rows, of, ...(mb !== undefined && { mb }) };
}

/** Profiles and results: the newest row of an entity is what its page shows. */
const holdsLatestState = (aspect: string): boolean => /profile|assertion|runevent|runsummary/i.test(aspect);
