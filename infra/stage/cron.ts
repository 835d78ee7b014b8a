/**
 * Schedule expressions of EventBridge Scheduler: `cron(minutes hours day-of-month month day-of-week year)` and
 * `rate(value unit)`, checked at synth because CloudFormation would refuse them only in the middle of a deployment.
 * Rules: EventBridge Scheduler user guide, "Schedule types".
 *
 * Written by hand, because people need a sentence that names the wrong field. Of the cases in `cron.test.ts`, aws-cron-parser
 * 1.1.12 accepts four of the thirteen wrong expressions (both day fields given, MONDAY, JANUARY, 31 February), crashes on
 * four more, fails on the correct one with LW, and knows no 29 February. croner 11 knows the calendar as well as this code
 * does, but not the dialect: it would replace only the three matchers at the end, and every check would stay.
 */

export type Schedule =
  /** `longestGapHours` between two runs, ignoring daylight saving. */
  | { kind: 'rate'; longestGapHours: number }
  | ({ kind: 'cron'; longestGapHours: number } & LocalTimes)
  | { kind: 'wrong'; reason: string };

/** When a cron expression runs, in the local time of its time zone. */
export interface LocalTimes {
  /** Minutes after midnight, ascending. */
  minutesOfDay: number[];
  /** Whether it runs on this date, given as midnight in UTC. */
  runsOn(date: Date): boolean;
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

interface Field {
  name: string;
  min: number;
  max: number;
  names?: string[];
}

const fields: Field[] = [
  { name: 'minutes', min: 0, max: 59 },
  { name: 'hours', min: 0, max: 23 },
  { name: 'day-of-month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: months },
  { name: 'day-of-week', min: 1, max: 7, names: weekdays },
  { name: 'year', min: 1970, max: 2199 },
];

export function parseSchedule(expression: string): Schedule {
  const rate = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression);
  if (rate) {
    const value = Number(rate[1]);
    if (value < 1) return { kind: 'wrong', reason: 'a rate must be at least 1' };
    return { kind: 'rate', longestGapHours: value * { minute: 1 / 60, hour: 1, day: 24 }[rate[2] as 'minute'] };
  }
  const cron = /^cron\((.*)\)$/.exec(expression);
  if (!cron) return { kind: 'wrong', reason: 'it is neither cron(...) nor rate(...)' };
  const parts = cron[1]!.trim().split(/\s+/);
  if (parts.length !== 6) {
    const hint = parts.length === 5 ? ': EventBridge needs a year, * for every year, as the sixth' : '';
    return { kind: 'wrong', reason: `it has ${parts.length} fields instead of 6${hint}` };
  }
  try {
    const times = localTimes(parts);
    return { kind: 'cron', longestGapHours: longestGapHours(times, parts[5] === '*'), ...times };
  } catch (error) {
    if (error instanceof CronError) return { kind: 'wrong', reason: error.message };
    throw error;
  }
}

class CronError extends Error {
  override readonly name = 'CronError';
}

function localTimes(parts: string[]): LocalTimes {
  const [minutes, hours, , month] = parts.map((text, position) => plainValues(text, fields[position]!));
  const isDay = dayMatcher(parts[2]!, parts[4]!);
  const years = plainValues(parts[5]!, fields[5]!);
  return {
    minutesOfDay: hours!.flatMap((hour) => minutes!.map((minute) => hour * 60 + minute)).sort((a, b) => a - b),
    runsOn: (date) => years.includes(date.getUTCFullYear()) && month!.includes(date.getUTCMonth() + 1) && isDay(date),
  };
}

function longestGapHours({ minutesOfDay: times, runsOn }: LocalTimes, anyYear: boolean): number {
  const [first, last] = [times[0]!, times[times.length - 1]!];
  let gap = Math.max(0, ...times.slice(1).map((time, position) => time - times[position]!));
  let previous: number | undefined;
  let runs = 0;
  // Four years hold every weekday and a leap day; which four does not matter for a gap.
  for (let day = Date.UTC(2027, 0, 1); day < Date.UTC(2031, 0, 1); day += 86_400_000) {
    if (!runsOn(new Date(day))) continue;
    if (previous !== undefined) gap = Math.max(gap, (day - previous) / 60_000 + first - last);
    previous = day;
    runs++;
  }
  if (anyYear && runs === 0) throw new CronError('no date matches it, so it would never run');
  return runs > 1 ? gap / 60 : (4 * 365 + 1) * 24;
}

/** The numbers in a list of values, ranges and steps, without what only `dayMatcher` reads (`?`, L, W, #). */
function plainValues(text: string, field: Field): number[] {
  const isDayField = field.name.startsWith('day-of');
  const values = new Set<number>();
  for (const item of text.split(',')) {
    if (isDayField && (item === '?' || /[LW#]/.test(item.replace(/JUL|WED/gi, '')))) continue;
    const match = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(item);
    if (!match) throw new CronError(`"${item}" is not a value, range or step of its ${field.name} field`);
    const [, every, from, to, step] = match;
    const start = every ? field.min : number(from!, field);
    const end = to !== undefined ? number(to, field) : every || step !== undefined ? field.max : start;
    if (step !== undefined && Number(step) < 1) throw new CronError(`the step in "${item}" is 0`);
    if (start > end) throw new CronError(`the range "${item}" of its ${field.name} field runs backwards`);
    for (let value = start; value <= end; value += Number(step ?? 1)) values.add(value);
  }
  return [...values].sort((a, b) => a - b);
}

function number(text: string, field: Field): number {
  const named = field.names?.indexOf(text.toUpperCase()) ?? -1;
  const value = named >= 0 ? named + field.min : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= field.min && value <= field.max)) {
    throw new CronError(`"${text}" is not between ${field.min} and ${field.max} in its ${field.name} field`);
  }
  return value;
}

/** Exactly one of the two day fields has a value, the other one is `?`. */
function dayMatcher(dayOfMonth: string, dayOfWeek: string): (date: Date) => boolean {
  if ((dayOfMonth === '?') === (dayOfWeek === '?')) {
    throw new CronError('exactly one of its day-of-month and day-of-week fields must be ?');
  }
  if (dayOfWeek === '?') return monthDayMatcher(dayOfMonth);
  return weekDayMatcher(dayOfWeek);
}

const daysIn = (date: Date) => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();

function monthDayMatcher(text: string): (date: Date) => boolean {
  const field = fields[2]!;
  if (text === 'L') return (date) => date.getUTCDate() === daysIn(date);
  if (text === 'LW') return (date) => date.getUTCDate() === nearestWeekday(date, daysIn(date));
  const weekday = /^(\d+)W$/.exec(text);
  if (weekday) {
    const day = number(weekday[1]!, field);
    return (date) => day <= daysIn(date) && date.getUTCDate() === nearestWeekday(date, day);
  }
  if (/[LW#?]/.test(text)) throw new CronError(`"${text}" is not a day of its day-of-month field`);
  const days = plainValues(text, field);
  return (date) => days.includes(date.getUTCDate());
}

/** The weekday nearest to a day, within its month. */
function nearestWeekday(date: Date, day: number): number {
  const weekday = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day)).getUTCDay();
  if (weekday === 6) return day > 1 ? day - 1 : day + 2;
  if (weekday === 0) return day < daysIn(date) ? day + 1 : day - 2;
  return day;
}

function weekDayMatcher(text: string): (date: Date) => boolean {
  const field = fields[4]!;
  const last = /^(\w+?)L$/i.exec(text);
  if (text === 'L') return (date) => date.getUTCDay() === 6;
  if (last) {
    const weekday = number(last[1]!, field);
    return (date) => date.getUTCDay() + 1 === weekday && date.getUTCDate() + 7 > daysIn(date);
  }
  const nth = /^(\w+)#([1-5])$/.exec(text);
  if (nth) {
    const weekday = number(nth[1]!, field);
    return (date) => date.getUTCDay() + 1 === weekday && Math.ceil(date.getUTCDate() / 7) === Number(nth[2]);
  }
  if (/[#?]/.test(text)) throw new CronError(`"${text}" is not a day of its day-of-week field`);
  const days = plainValues(text, field);
  return (date) => days.includes(date.getUTCDay() + 1);
}
