import { hour, minute } from '../time.ts';
import type { Behavior } from '../world/server.ts';

/** What a server may be like for a night, or for good. */
type Mood = Partial<Behavior>;

/** Kinds of servers: each history has one. */
export const kinds = {
  'deletes in place': {},
  // It deletes in place, and answers 400 to a field that it does not know.
  'deletes, refuses the field': { force: 'refuses' },
  // It deletes in place, and answers without a count where it sees a field that it does not know.
  'deletes, chokes on the field': { force: 'chokes' },
  // The specification’s service: its dry run says "Reindexing", and it deletes.
  'deletes, announces nothing': { force: 'ignores', announces: false },
  // It announces a reindex; new rows go to the new index.
  'reindexes, alias first': { truncates: 'reindex', force: 'ignores' },
  // It announces a reindex; rows written meanwhile stay in the old index.
  'reindexes, alias last': { truncates: 'reindex', force: 'ignores', swap: 'last' },
  // An old server that reindexes where most rows are old.
  'reindexes most, refuses the field': { truncates: 'most', force: 'refuses' },
  // Its dry run does not say how it removes rows.
  'reindexes, announces nothing': { truncates: 'reindex', force: 'ignores', announces: false, swap: 'last' },
} as const satisfies Record<string, Mood>;

/** What the status of a reindex may count; each server always counts the same. */
export const counters = [
  'rows to keep',
  'failures are conflicts',
  'rows to keep are updated',
  'all rows',
  'all rows, old ones are noops',
  'all rows, old ones are deleted',
  'no total',
] as const;
export type Counters = (typeof counters)[number];

/** Counters in which a row that came in after the baseline can make up for one that is lost. */
export const vagueCounters: readonly Counters[] = ['failures are conflicts', 'no total'];

/** When a reindex takes the place of its source, if not when its kind of server usually does that. */
export const swaps = {
  'in place half-way': { swap: 'half-way' },
  'in place at the end': { swap: 'last', swapMillis: 0 },
  'in place a quarter of an hour later': { swap: 'last', swapMillis: 15 * minute },
  'in place hours later': { swap: 'last', swapMillis: 14 * hour },
  'in place the night after': { swap: 'last', swapMillis: 26 * hour },
  'never in place': { swap: 'never' },
} as const satisfies Record<string, Mood>;

export const moods = {
  'ends at 99 %': { pace: { millis: 20_000, endsAt: { share: 0.99, as: 'completed' } } },
  // The same at half.
  'ends half-way': { pace: { millis: 20_000, endsAt: { share: 0.5, as: 'completed' } } },
  cancelled: { pace: { millis: 60_000, endsAt: { share: 0.6, as: 'cancelled' } } },
  // Tasks die at 40 %, and their record goes.
  dies: { pace: { millis: 60_000, endsAt: { share: 0.4, as: 'dead' } } },
  'dies at once': { pace: { millis: 60_000, endsAt: { share: 0, as: 'dead' } } },
  'some rows fail': { pace: { millis: 20_000, fails: 0.2 } },
  'one row fails': { pace: { millis: 20_000, fails: 0.01 } },
  'every row fails': { pace: { millis: 20_000, fails: 1 } },
  'takes minutes': { pace: { millis: 15 * minute } },
  'takes hours': { pace: { millis: 5 * hour } },
  'takes more than a day': { pace: { millis: 30 * hour } },
  'hangs for an hour': { pace: { millis: 60_000, hangMillis: hour } },
  'hangs for a day': { pace: { millis: 60_000, hangMillis: 26 * hour } },
  'status denied': { status: 'denied' },
  'status unknown': { status: 'unknown' },
  // It says only whether a task has ended.
  'status without counters': { status: 'without counters' },
  'new index without refreshes': { refreshesLate: true },
  'sizes denied': { sizes: 'denied' },
  'sizes by alias': { sizes: 'by alias' },
  // Answers do not say what time it is.
  'no Date header': { date: false },
  'clock off': { skewMillis: -hour },
  'clock ahead': { skewMillis: 15 * minute },
  // More rows to delete than there are.
  'racing counts': { racing: true },
} as const satisfies Record<string, Mood>;
