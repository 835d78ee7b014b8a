import type { LocalTimes } from './cron.ts';

/**
 * When clocks go forward, the times in between do not exist on that day, and EventBridge Scheduler skips the runs at
 * those times (its user guide, "Time zones", "Daylight saving time"). The rules come from Node's copy of the IANA
 * database.
 */

/** A scheduled time that does not exist. */
export interface SkippedTime {
  /** `2027-03-28`. */
  date: string;
  /** `03:30`. */
  time: string;
  /** The first minute that is skipped and the first one that is not: `03:00` and `04:00`. */
  from: string;
  to: string;
}

const minuteMillis = 60_000;
const dayMillis = 24 * 60 * minuteMillis;
/** Clocks change once or twice a year, but not always on a day with a run. */
const daysAhead = 2 * 366;

/**
 * @param now epoch milliseconds
 * @returns the first skipped time from that day on
 */
export function skippedTime(
  { minutesOfDay, runsOn }: LocalTimes,
  timeZone: string,
  now: number,
): SkippedTime | undefined {
  const offsetAt = offsetIn(timeZone);
  const today = Math.floor(now / dayMillis) * dayMillis;
  // Each offset is needed twice, and finding it takes most of the time.
  const offsets = new Map<number, number>();
  const offsetOn = (day: number): number => {
    const offset = offsets.get(day) ?? offsetAt(day);
    offsets.set(day, offset);
    return offset;
  };
  for (let day = today; day < today + daysAhead * dayMillis; day += dayMillis) {
    // No zone is more than 14 hours from UTC: a change on this day is between these two moments.
    const [before, after] = [offsetOn(day - dayMillis), offsetOn(day + 2 * dayMillis)];
    if (after <= before || !runsOn(new Date(day))) continue;
    const exists = (minute: number): boolean => {
      const local = day + minute * minuteMillis;
      return [before, after].some((offset) => offsetAt(local - offset) === offset);
    };
    const minute = minutesOfDay.find((time) => !exists(time));
    if (minute === undefined) continue;
    let [from, to] = [minute, minute + 1];
    while (!exists(from - 1)) from--;
    while (!exists(to)) to++;
    return { date: new Date(day).toISOString().slice(0, 10), time: clock(minute), from: clock(from), to: clock(to) };
  }
  return undefined;
}

const clock = (minute: number): string => new Date((minute % 1440) * minuteMillis).toISOString().slice(11, 16);

/** How far a zone's clocks are ahead of UTC at a moment, both in milliseconds. */
function offsetIn(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (at) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day, hour, minute, second } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
  };
}
