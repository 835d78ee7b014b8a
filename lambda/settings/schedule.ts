import { Cron } from 'croner';
import { hourMillis } from '../model/time.ts';

/**
 * Schedule expressions of EventBridge Scheduler: `cron(minutes hours day-of-month month day-of-week year)` and
 * `rate(value unit)`, checked at synth because CloudFormation would refuse them only in the middle of a deployment.
 * croner knows the calendar; only what differs in EventBridge's dialect is here (its user guide, "Schedule types").
 */

export type Schedule =
  /** `longestGapHours` between two runs, ignoring daylight saving; 0 if there is only one run left. */
  | { kind: 'rate'; longestGapHours: number }
  /** `wallTimes` of the next runs: what the clock on the wall says, as if it were UTC, epoch milliseconds. */
  | { kind: 'cron'; longestGapHours: number; wallTimes: number[] }
  | { kind: 'wrong'; reason: string };

/** Enough for a year of daily runs, or for two weeks of hourly ones. */
const runsAhead = 400;

/** @param now epoch milliseconds: a schedule whose last run is over never fires again */
export function parseSchedule(expression: string, now: number): Schedule {
  const rate = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression);
  if (rate) {
    const value = Number(rate[1]);
    if (value < 1) return { kind: 'wrong', reason: 'a rate must be at least 1' };
    return { kind: 'rate', longestGapHours: value * { minute: 1 / 60, hour: 1, day: 24 }[rate[2] as 'minute'] };
  }
  const [, cron] = /^cron\((.*)\)$/.exec(expression) ?? [];
  if (cron === undefined) return { kind: 'wrong', reason: 'it is neither cron(...) nor rate(...)' };
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== 6) {
    const hint = fields.length === 5 ? ': EventBridge needs a year, * for every year, as the sixth' : '';
    return { kind: 'wrong', reason: `it has ${fields.length} fields instead of 6${hint}` };
  }
  // croner takes ? for *; EventBridge wants it in exactly one of the two.
  if ((fields[2] === '?') === (fields[4] === '?')) {
    return { kind: 'wrong', reason: 'exactly one of its day-of-month and day-of-week fields must be ?' };
  }
  return cronOf(fields, now);
}

function cronOf(fields: readonly string[], now: number): Schedule {
  let runs: number[];
  try {
    // croner has seconds first. EventBridge counts weekdays from SUN = 1, and takes 0/15 for */15.
    const options = { paused: true, timezone: 'UTC', alternativeWeekdays: true, sloppyRanges: true };
    runs = new Cron(`0 ${fields.join(' ')}`, options).nextRuns(runsAhead, new Date(now)).map(Number);
  } catch (error) {
    return { kind: 'wrong', reason: (error as Error).message.replace(/^CronPattern: /, '').replace(/\.$/, '') };
  }
  if (runs.length === 0) return { kind: 'wrong', reason: 'no date from now on matches it, so it would never run' };
  const gaps = runs.slice(1).map((run, position) => (run - (runs[position] ?? run)) / hourMillis);
  return { kind: 'cron', longestGapHours: Math.max(0, ...gaps), wallTimes: runs };
}

/**
 * The first of these wall-clock times that the zone skips when daylight saving begins: nothing starts then.
 * @param wallTimes as `parseSchedule` returns them
 * @returns one of them, or undefined
 */
export function firstSkippedTime(wallTimes: readonly number[], timeZone: string): number | undefined {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const wallAt = (instant: number) => Date.parse(`${format.format(instant).replace(' ', 'T')}Z`);
  return wallTimes.find((wall) => {
    // The zone's distance from UTC is that of the day before or of the day after.
    const instants = [-24, 24].map((hours) => {
      const near = wall + hours * hourMillis;
      return wall - (wallAt(near) - near);
    });
    return !instants.some((instant) => wallAt(instant) === wall);
  });
}
