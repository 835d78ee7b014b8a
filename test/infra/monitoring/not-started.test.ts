import { describe, expect, test } from 'vitest';
import { synthesize } from '../synthesize.ts';

/** How CloudWatch evaluates an alarm that ignores missing data, as its user guide documents it. */

type State = 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';
/** Within the threshold, breaching, missing. */
type Point = '0' | 'X' | '-';
interface Evaluated {
  EvaluationPeriods: number;
  DatapointsToAlarm: number;
}

/** @param range the points that CloudWatch has retrieved, the oldest first: at least as many as evaluation periods */
function evaluate(range: readonly Point[], { EvaluationPeriods: n, DatapointsToAlarm: m }: Evaluated, current: State) {
  const existing = range.filter((point) => point !== '-');
  if (existing.slice(-n).filter((point) => point === 'X').length >= m) return 'ALARM';
  return existing.length >= n || existing.includes('0') ? 'OK' : current;
}

type NotStarted = Evaluated & {
  ComparisonOperator: string;
  Threshold: number;
  Metrics: [{ Expression: string }, { MetricStat: { Metric: Record<string, string>; Period: number } }];
};

const notStarted = (fields: object = {}): NotStarted =>
  synthesize(fields)
    .resources('AWS::CloudWatch::Alarm')
    .map(([, { Properties }]) => Properties)
    .find(({ AlarmName }) => AlarmName.endsWith('/NotStarted'));

const expression = '(RUNNING_SUM(FILL(starts, 0) > 0) == 1) * (FILL(starts, REPEAT) - FILL(starts, 0))';

/** What that makes of a range of hours; a value that repeats the last start needs one before it. */
function pointsOf(counts: readonly (number | undefined)[]): Point[] {
  let last: number | undefined;
  let starts = 0;
  return counts.map((count) => {
    last = count ?? last;
    if (count !== undefined && count > 0) starts++;
    if (last === undefined) return '-';
    return Number(starts === 1) * (last - (count ?? 0)) >= 1 ? 'X' : '0';
  });
}

/**
 * Goes through hours, each with its scheduled starts or none.
 * @param beyond how many points CloudWatch reads beyond the evaluation periods, which it does not document
 * @returns the states in turn, without repetition, each with the hour in which it begins
 */
function statesOver(starts: readonly (number | undefined)[], alarm: NotStarted, beyond: number): [State, number][] {
  let state: State = 'INSUFFICIENT_DATA';
  const states: [State, number][] = [[state, 0]];
  for (let hour = 0; hour < starts.length; hour++) {
    const since = Math.max(0, hour + 1 - alarm.EvaluationPeriods - beyond);
    const next = evaluate(pointsOf(starts.slice(since, hour + 1)), alarm, state);
    if (next !== state) states.push([next, hour]);
    state = next;
  }
  return states;
}

/** Days, of which some have a start at 3 o'clock. */
const days = (count: number, hasStart: (day: number) => boolean) =>
  Array.from({ length: count * 24 }, (_, hour) => (hour % 24 === 3 && hasStart(Math.floor(hour / 24)) ? 1 : undefined));

test('The alarm NotStarted reads the starts by the schedule alone: a preview by hand is none', () => {
  const alarm = notStarted();
  const usual = { ComparisonOperator: 'GreaterThanOrEqualToThreshold', Threshold: 1, TreatMissingData: 'ignore' };
  expect(alarm).toMatchObject(usual);
  expect(alarm.Metrics).toMatchObject([
    { Expression: expression },
    { MetricStat: { Metric: { Namespace: 'AWS/Scheduler', MetricName: 'InvocationAttemptCount' }, Period: 3600 } },
  ]);
});

describe.each([0, 4])('The alarm NotStarted, where CloudWatch reads %i points more than it evaluates,', (beyond) => {
  const threeAttempts = days(5, () => true).map((count, hour) => (hour === 27 ? 3 : count));
  const workdays = days(21, (day) => day % 7 < 5);

  test.each<[what: string, starts: (number | undefined)[], after: [State, number][], fields?: object]>([
    ['is silent after a fresh deployment, for as long as nothing has started', days(9, () => false), []],
    ['is OK from the first start on, and on each day with one', days(20, (day) => day > 0), [['OK', 27]]],
    [
      'calls for the first night without a start, until the next one',
      days(5, (day) => day !== 2),
      [
        ['OK', 3],
        ['ALARM', 27 + 26],
        ['OK', 75],
      ],
    ],
    [
      'calls once for a schedule that was deleted, and does not forget it',
      days(15, (day) => day < 3),
      [
        ['OK', 3],
        ['ALARM', 51 + 26],
      ],
    ],
    [
      'calls for the second start, where only the first one came',
      days(5, (day) => day === 0),
      [
        ['OK', 3],
        ['ALARM', 3 + 26],
      ],
    ],
    ['is not misled by a start that took three attempts', threeAttempts, [['OK', 3]]],
    ['is silent on Mondays after weekends without a start', workdays, [['OK', 3]], { alarmIfNotStartedHours: 74 }],
  ])('%s', (_, starts, after, fields) => {
    expect(statesOver(starts, notStarted(fields), beyond)).toEqual([['INSUFFICIENT_DATA', 0], ...after]);
  });
});

test('For a weekly schedule, the alarm is silent in weeks with a start, and calls after one without', () => {
  const weekly = days(50, (day) => day % 7 === 0 && day !== 35);
  expect(statesOver(weekly, notStarted({ alarmIfNotStartedHours: 168 }), 4)).toEqual([
    ['INSUFFICIENT_DATA', 0],
    ['OK', 3],
    ['ALARM', 28 * 24 + 3 + 168],
    ['OK', 42 * 24 + 3],
  ]);
});
