import type { Behaviour } from '../world/server.ts';

/** What a server may be like for a night, or for good. */
export interface Mood {
  says: string;
  changes: Partial<Behaviour>;
}

const minute = 60_000;
const hour = 60 * minute;

/** Kinds of servers: each history has one. */
export const kinds = {
  'deletes in place': { says: 'it obeys, as DataHub does since 0.12', changes: {} },
  'deletes, refuses the field': {
    says: 'it deletes in place, and answers 400 to a field that it does not know',
    changes: { force: 'refuses' },
  },
  'deletes, chokes on the field': {
    says: 'it deletes in place, and answers without a count where it sees a field that it does not know',
    changes: { force: 'chokes' },
  },
  'deletes, announces nothing': {
    says: 'the specification’s service: its dry run says "Reindexing", and it deletes',
    changes: { force: 'ignores', announces: false },
  },
  'copies, alias first': {
    says: 'it announces a copy; new rows go to the new index',
    changes: { removes: 'copy', force: 'ignores' },
  },
  'copies, alias last': {
    says: 'it announces a copy; rows written meanwhile stay in the old index',
    changes: { removes: 'copy', force: 'ignores', swap: 'last' },
  },
  'copies most, refuses the field': {
    says: 'an old server that copies where most rows are old',
    changes: { removes: 'most', force: 'refuses' },
  },
  'copies, announces nothing': {
    says: 'its dry run does not say how it removes rows',
    changes: { removes: 'copy', force: 'ignores', announces: false, swap: 'last' },
  },
} as const satisfies Record<string, Mood>;

export const moods = {
  'ends at 99 %': {
    says: 'tasks end, completed, at 99 % of their rows',
    changes: { pace: { millis: 20_000, endsAt: { share: 0.99, as: 'completed' } } },
  },
  'ends half-way': {
    says: 'the same at half',
    changes: { pace: { millis: 20_000, endsAt: { share: 0.5, as: 'completed' } } },
  },
  cancelled: {
    says: 'tasks are cancelled at 60 %',
    changes: { pace: { millis: 60_000, endsAt: { share: 0.6, as: 'cancelled' } } },
  },
  dies: {
    says: 'tasks die at 40 %, and their record goes',
    changes: { pace: { millis: 60_000, endsAt: { share: 0.4, as: 'dead' } } },
  },
  'dies at once': {
    says: 'tasks die before their first row',
    changes: { pace: { millis: 60_000, endsAt: { share: 0, as: 'dead' } } },
  },
  'some rows fail': {
    says: 'a fifth of the rows changed meanwhile',
    changes: { pace: { millis: 20_000, fails: 0.2 } },
  },
  'one row fails': { says: 'a hundredth of the rows fails', changes: { pace: { millis: 20_000, fails: 0.01 } } },
  'every row fails': { says: 'every row changed meanwhile', changes: { pace: { millis: 20_000, fails: 1 } } },
  'takes minutes': { says: 'tasks take 15 minutes', changes: { pace: { millis: 15 * minute } } },
  'takes hours': { says: 'tasks take 5 hours', changes: { pace: { millis: 5 * hour } } },
  'takes more than a day': { says: 'tasks take 30 hours', changes: { pace: { millis: 30 * hour } } },
  'hangs for an hour': {
    says: 'tasks stand still half-way for an hour',
    changes: { pace: { millis: 60_000, hangMillis: hour } },
  },
  'hangs for a day': {
    says: 'tasks stand still half-way for 26 hours',
    changes: { pace: { millis: 60_000, hangMillis: 26 * hour } },
  },
  'status denied': { says: 'the privilege to read statuses is missing', changes: { status: 'denied' } },
  'status unknown': { says: 'no task is ever found', changes: { status: 'unknown' } },
  'status without counters': { says: 'it says only whether a task has ended', changes: { status: 'without counters' } },
  'sizes denied': { says: 'the privilege to read sizes is missing', changes: { sizes: false } },
  'no Date header': { says: 'answers do not say what time it is', changes: { date: false } },
  'clock off': { says: 'its clock is an hour behind', changes: { skewMillis: -hour } },
  'clock ahead': { says: 'its clock is 15 minutes ahead', changes: { skewMillis: 15 * minute } },
  'racing counts': { says: 'more rows to delete than there are', changes: { racing: true } },
} as const satisfies Record<string, Mood>;
