import { describe, expect, test } from 'vitest';
import { parseSchedule } from '../../../infra/stage/cron.ts';

describe('A schedule expression', () => {
  test.each<[expression: string, longestGapHours: number]>([
    ['cron(30 3 * * ? *)', 24],
    ['cron(0 2,14 * * ? *)', 12],
    ['cron(* * * * ? *)', 1 / 60],
    ['cron(0 0 ? * MON-FRI *)', 72],
    ['cron(0 0 ? * SUN *)', 168],
    ['cron(0 0 ? * wed,JUL *)'.replace(',JUL', ''), 168],
    ['cron(0 9 L * ? *)', 31 * 24],
    ['cron(0 9 1W * ? *)', 33 * 24],
    ['cron(0 9 LW * ? *)', 33 * 24],
    ['cron(0 9 ? * 6L *)', 35 * 24],
    ['cron(0 9 ? * 2#1 *)', 35 * 24],
    ['cron(0 0 29 2 ? *)', (4 * 365 + 1) * 24],
    ['rate(1 day)', 24],
    ['rate(90 minutes)', 1.5],
  ])('%s leaves at most %d hours between two runs', (expression, hours) => {
    const schedule = parseSchedule(expression);
    expect(schedule.kind).not.toBe('wrong');
    expect(schedule.kind !== 'wrong' && schedule.longestGapHours).toBeCloseTo(hours, 6);
  });

  test.each<[expression: string, reason: RegExp]>([
    ['30 3 * * ? *', /neither cron/],
    ['at(2027-01-01T00:00:00)', /neither cron/],
    ['cron(30 3 * * ?)', /5 fields instead of 6: EventBridge needs a year/],
    ['cron(30 3 * * * *)', /exactly one of its day-of-month and day-of-week fields must be \?/],
    ['cron(30 3 ? * ? *)', /exactly one of/],
    ['cron(60 3 * * ? *)', /"60" is not between 0 and 59 in its minutes field/],
    ['cron(0 24 * * ? *)', /"24" is not between 0 and 23 in its hours field/],
    ['cron(0 0 ? * 0 *)', /"0" is not between 1 and 7 in its day-of-week field/],
    ['cron(0 0 ? * MONDAY *)', /"MONDAY" is not between/],
    ['cron(0 0 * JANUARY ? *)', /in its month field/],
    ['cron(0 0 * * ? 1969)', /in its year field/],
    ['cron(30-10 3 * * ? *)', /runs backwards/],
    ['cron(0/0 3 * * ? *)', /step/],
    ['cron(x 3 * * ? *)', /"x" is not between/],
    ['cron(0 0 31 2 ? *)', /no date matches it, so it would never run/],
    ['rate(0 days)', /must be at least 1/],
    ['rate(1 week)', /neither cron/],
  ])('%s is wrong', (expression, reason) => {
    const schedule = parseSchedule(expression);
    expect(schedule.kind === 'wrong' && schedule.reason).toMatch(reason);
  });
});
