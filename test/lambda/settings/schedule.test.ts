import { describe, expect, test } from 'vitest';
import { firstSkippedTime, parseSchedule } from '../../../lambda/settings/schedule.ts';

const now = Date.UTC(2026, 10, 23, 9);

describe('A schedule expression', () => {
  test.each<[expression: string, longestGapHours: number]>([
    ['cron(30 3 * * ? *)', 24],
    ['cron(0 2,14 * * ? *)', 12],
    ['cron(0/15 * * * ? *)', 0.25],
    ['cron(0 0 ? * MON-FRI *)', 72],
    ['cron(0 0 ? * SUN *)', 168],
    // EventBridge counts from SUN = 1.
    ['cron(0 0 ? * 2-6 *)', 72],
    ['cron(0 9 L * ? *)', 31 * 24],
    ['cron(0 9 1W * ? *)', 33 * 24],
    ['cron(0 9 ? * 6L *)', 35 * 24],
    ['cron(0 9 ? * 2#1 *)', 35 * 24],
    // 2100 has no leap day.
    ['cron(0 0 29 2 ? *)', (8 * 365 + 1) * 24],
    ['cron(30 3 24 11 ? 2026)', 0],
    ['rate(1 day)', 24],
    ['rate(90 minutes)', 1.5],
  ])('%s leaves at most %d hours between two runs', (expression, hours) => {
    expect(parseSchedule(expression, now)).toMatchObject({ longestGapHours: hours });
  });

  test.each<[expression: string, zone: string, skipped: string | undefined]>([
    ['cron(30 2 * * ? *)', 'Europe/Berlin', '2027-03-28T02:30:00.000Z'],
    ['cron(30 2 * * ? *)', 'America/New_York', '2027-03-14T02:30:00.000Z'],
    ['cron(15 2 * * ? *)', 'Australia/Lord_Howe', '2027-10-03T02:15:00.000Z'],
    ['cron(0 0 * * ? *)', 'Africa/Cairo', '2027-04-30T00:00:00.000Z'],
    ['cron(30 3 * * ? *)', 'Europe/Berlin', undefined],
    ['cron(0 3 * * ? *)', 'Europe/Berlin', undefined],
    ['cron(30 2 * * ? *)', 'UTC', undefined],
    // Clocks change on Sundays.
    ['cron(30 2 ? * MON-SAT *)', 'Europe/Berlin', undefined],
  ])('%s in %s: daylight saving skips %s', (expression, zone, skipped) => {
    const { wallTimes } = parseSchedule(expression, now) as { wallTimes: number[] };
    const time = firstSkippedTime(wallTimes, zone);
    expect(time && new Date(time).toISOString()).toBe(skipped);
  });

  test.each<[expression: string, reason: RegExp]>([
    ['30 3 * * ? *', /neither cron/],
    ['at(2027-01-01T00:00:00)', /neither cron/],
    ['cron(30 3 * * ?)', /5 fields instead of 6: EventBridge needs a year/],
    ['cron(30 3 * * * *)', /exactly one of its day-of-month and day-of-week fields must be \?/],
    ['cron(30 3 ? * ? *)', /exactly one of/],
    ['cron(60 3 * * ? *)', /minute: 60/],
    ['cron(0 24 * * ? *)', /hour: 24/],
    ['cron(0 0 ? * 0 *)', /dayOfWeek/],
    ['cron(0 0 ? * MONDAY *)', /MONDAY/],
    ['cron(0 0 * JANUARY ? *)', /JANUARY/],
    ['cron(30-10 3 * * ? *)', /larger than/],
    ['cron(0/0 3 * * ? *)', /stepping/],
    ['cron(x 3 * * ? *)', /illegal characters/],
    ['cron(0 0 31 2 ? *)', /no date from now on matches it, so it would never run/],
    ['cron(30 3 23 11 ? 2026)', /no date from now on matches it, so it would never run/],
    ['rate(0 days)', /must be at least 1/],
  ])('%s is wrong', (expression, reason) => {
    expect(parseSchedule(expression, now)).toEqual({ kind: 'wrong', reason: expect.stringMatching(reason) });
  });
});
