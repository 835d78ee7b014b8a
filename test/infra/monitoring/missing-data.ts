/** How CloudWatch evaluates an alarm whose data points are not all there, as its user guide documents it. */

export type State = 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';
/** Within the threshold, breaching, missing. */
export type Point = '0' | 'X' | '-';

export interface Evaluated {
  EvaluationPeriods: number;
  DatapointsToAlarm: number;
  TreatMissingData: 'missing' | 'ignore' | 'breaching' | 'notBreaching';
}

/**
 * @param range the points that CloudWatch has retrieved, the oldest first: at least as many as there are evaluation
 * periods, and more where it looks further back
 */
export function evaluate(range: readonly Point[], alarm: Evaluated, current: State): State {
  const { EvaluationPeriods: n, DatapointsToAlarm: m, TreatMissingData: treat } = alarm;
  const existing = range.filter((point) => point !== '-');
  const breaching = existing.slice(-n).filter((point) => point === 'X').length;
  if (breaching >= m) return 'ALARM';
  if (existing.length >= n) return 'OK';
  const filled = treat === 'breaching' ? n - existing.length : 0;
  if (breaching + filled >= m) return 'ALARM';
  if (treat === 'breaching' || treat === 'notBreaching' || existing.includes('0')) return 'OK';
  if (treat === 'ignore') return current;
  return range[0] === 'X' ? 'ALARM' : 'INSUFFICIENT_DATA';
}
