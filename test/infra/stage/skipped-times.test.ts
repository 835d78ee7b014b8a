import { expect, test } from 'vitest';
import { parseSchedule } from '../../../infra/stage/cron.ts';
import { skippedTime } from '../../../infra/stage/skipped-times.ts';

const now = Date.UTC(2026, 10, 22);

function skipped(schedule: string, timeZone: string, from = now) {
  const parsed = parseSchedule(schedule);
  if (parsed.kind !== 'cron') throw new Error(`${schedule} is ${parsed.kind}.`);
  return skippedTime(parsed, timeZone, from);
}

test.each<[schedule: string, timeZone: string, skipped: ReturnType<typeof skippedTime>]>([
  ['cron(30 3 * * ? *)', 'Europe/Athens', { date: '2027-03-28', time: '03:30', from: '03:00', to: '04:00' }],
  ['cron(0 3 * * ? *)', 'Europe/Athens', { date: '2027-03-28', time: '03:00', from: '03:00', to: '04:00' }],
  ['cron(30 2 * * ? *)', 'Europe/Berlin', { date: '2027-03-28', time: '02:30', from: '02:00', to: '03:00' }],
  ['cron(15 2 * * ? *)', 'America/New_York', { date: '2027-03-14', time: '02:15', from: '02:00', to: '03:00' }],
  ['cron(0 1,3 ? * SUN *)', 'Europe/Athens', { date: '2027-03-28', time: '03:00', from: '03:00', to: '04:00' }],
  ['cron(15 2 * * ? *)', 'Australia/Lord_Howe', { date: '2027-10-03', time: '02:15', from: '02:00', to: '02:30' }],
  // The day begins at 01:00.
  ['cron(30 0 * * ? *)', 'Africa/Cairo', { date: '2027-04-30', time: '00:30', from: '00:00', to: '01:00' }],
  // Once a year, and only in some years on the day of the change.
  ['cron(30 3 28 3 ? *)', 'Europe/Athens', { date: '2027-03-28', time: '03:30', from: '03:00', to: '04:00' }],
])('%s in %s has a run at a time that does not exist', (schedule, timeZone, expected) => {
  expect(skipped(schedule, timeZone)).toEqual(expected);
});

test.each([
  ['cron(30 3 * * ? *)', 'UTC'],
  ['cron(30 3 * * ? *)', 'Europe/Berlin'],
  ['cron(0 4 * * ? *)', 'Europe/Athens'],
  ['cron(59 2 * * ? *)', 'Europe/Athens'],
  // In autumn this time occurs twice, and EventBridge runs it once.
  ['cron(30 2 * 9-12 ? *)', 'Europe/Berlin'],
  ['cron(30 3 ? * MON-FRI *)', 'Europe/Athens'],
  ['cron(30 3 * * ? *)', 'Asia/Kolkata'],
  ['cron(30 2 * * ? *)', 'Asia/Tokyo'],
  ['cron(30 3 * * ? 2026)', 'Europe/Athens'],
])('%s in %s has none', (schedule, timeZone) => {
  expect(skipped(schedule, timeZone)).toBeUndefined();
});

/** One of each group of zones, among those that Node knows, that have the same time in every month. */
function zonesThatDiffer(): string[] {
  const months = Array.from({ length: 24 }, (_, month) => Date.UTC(2026, 10 + month));
  const byTimes = new Map<string, string>();
  for (const timeZone of Intl.supportedValuesOf('timeZone')) {
    const format = new Intl.DateTimeFormat('en', { timeZone, timeStyle: 'short' });
    byTimes.set(months.map((month) => format.format(month)).join(), timeZone);
  }
  return [...byTimes.values()];
}

test('every zone that Node knows is read, and a gap is never longer than a day', () => {
  for (const timeZone of zonesThatDiffer()) {
    const found = skipped('cron(0/5 * * * ? *)', timeZone);
    if (found) expect([timeZone, found.from < found.to || found.to === '00:00']).toEqual([timeZone, true]);
  }
});
