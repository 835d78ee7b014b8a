import { describe, expect, test } from 'vitest';
import { synthesize } from '../synthesize.ts';
import { type Evaluated, evaluate, type Point, type State } from './missing-data.ts';

describe('The table of missing data in the user guide of CloudWatch', () => {
  const treatments = ['missing', 'ignore', 'breaching', 'notBreaching'] as const;
  const kept: State = 'OK';

  // The last two rows of each are those that keep the state.
  test.each<[points: string, m: number, states: State[]]>([
    ['0-X-X', 3, ['OK', 'OK', 'OK', 'OK']],
    ['0----', 3, ['OK', 'OK', 'OK', 'OK']],
    ['-----', 3, ['INSUFFICIENT_DATA', kept, 'ALARM', 'OK']],
    ['0XX-X', 3, ['ALARM', 'ALARM', 'ALARM', 'ALARM']],
    ['----X', 3, ['INSUFFICIENT_DATA', kept, 'ALARM', 'OK']],
    ['X----', 3, ['ALARM', kept, 'ALARM', 'OK']],
    ['0-X-X', 2, ['ALARM', 'ALARM', 'ALARM', 'ALARM']],
    ['00X0X', 2, ['ALARM', 'ALARM', 'ALARM', 'ALARM']],
    ['0-X--', 2, ['OK', 'OK', 'ALARM', 'OK']],
    ['----0', 2, ['OK', 'OK', 'ALARM', 'OK']],
    ['----X', 2, ['INSUFFICIENT_DATA', kept, 'ALARM', 'OK']],
  ])('%s, %i of 3', (points, DatapointsToAlarm, states) => {
    const found = treatments.map((TreatMissingData) =>
      evaluate([...points] as Point[], { EvaluationPeriods: 3, DatapointsToAlarm, TreatMissingData }, kept),
    );
    expect(found).toEqual(states);
  });
});

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

const days = (count: number, startsAt: (day: number) => number | undefined) =>
  Array.from({ length: count * 24 }, (_, hour) => (startsAt(Math.floor(hour / 24)) === hour % 24 ? 1 : undefined));

describe.each([0, 4])('The alarm NotStarted, where CloudWatch reads %i points more than it evaluates,', (beyond) => {
  const alarm = notStarted();

  test('reads the starts by the schedule alone: a preview by hand is none', () => {
    const [{ Expression }, { MetricStat }] = alarm.Metrics;
    expect(Expression).toBe(expression);
    expect([MetricStat.Metric['Namespace'], MetricStat.Metric['MetricName'], MetricStat.Period]).toEqual([
      'AWS/Scheduler',
      'InvocationAttemptCount',
      3600,
    ]);
    expect([alarm.ComparisonOperator, alarm.Threshold]).toEqual(['GreaterThanOrEqualToThreshold', 1]);
  });

  test('is silent after a fresh deployment, for as long as nothing has started', () => {
    expect(
      statesOver(
        days(9, () => undefined),
        alarm,
        beyond,
      ),
    ).toEqual([['INSUFFICIENT_DATA', 0]]);
  });

  test('is OK from the first start on, and on each day with one', () => {
    expect(
      statesOver(
        days(20, (day) => (day === 0 ? undefined : 3)),
        alarm,
        beyond,
      ),
    ).toEqual([
      ['INSUFFICIENT_DATA', 0],
      ['OK', 27],
    ]);
  });

  test('calls for the first night without a start, until the next one', () => {
    expect(
      statesOver(
        days(5, (day) => (day === 2 ? undefined : 3)),
        alarm,
        beyond,
      ),
    ).toEqual([
      ['INSUFFICIENT_DATA', 0],
      ['OK', 3],
      ['ALARM', 27 + 26],
      ['OK', 75],
    ]);
  });

  test('calls once for a schedule that was deleted, and does not forget it', () => {
    expect(
      statesOver(
        days(15, (day) => (day > 2 ? undefined : 3)),
        alarm,
        beyond,
      ),
    ).toEqual([
      ['INSUFFICIENT_DATA', 0],
      ['OK', 3],
      ['ALARM', 51 + 26],
    ]);
  });

  test('calls for the second start, where only the first one came', () => {
    expect(
      statesOver(
        days(5, (day) => (day === 0 ? 3 : undefined)),
        alarm,
        beyond,
      ),
    ).toEqual([
      ['INSUFFICIENT_DATA', 0],
      ['OK', 3],
      ['ALARM', 3 + 26],
    ]);
  });

  test('is not misled by a start that took three attempts', () => {
    const starts = days(5, () => 3).map((count, hour) => (hour === 27 ? 3 : count));
    expect(statesOver(starts, alarm, beyond).at(-1)).toEqual(['OK', 3]);
  });

  test('is silent on a Monday, where the schedule rests at weekends and the stage says so', () => {
    const workdays = days(21, (day) => (day % 7 < 5 ? 3 : undefined));
    expect(statesOver(workdays, notStarted({ alarmIfNotStartedHours: 74 }), beyond).at(-1)).toEqual(['OK', 3]);
  });
});

test('For a weekly schedule, the alarm is silent in weeks with a start, and calls after one without', () => {
  const weekly = days(50, (day) => (day % 7 === 0 && day !== 35 ? 3 : undefined));
  expect(statesOver(weekly, notStarted({ alarmIfNotStartedHours: 168 }), 4)).toEqual([
    ['INSUFFICIENT_DATA', 0],
    ['OK', 3],
    ['ALARM', 28 * 24 + 3 + 168],
    ['OK', 42 * 24 + 3],
  ]);
});
