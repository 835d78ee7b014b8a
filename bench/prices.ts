import type { Usage } from './run.ts';

/**
 * List prices in US dollars, us-east-1 (N. Virginia), November 2026 (aws.amazon.com/<service>/pricing). No free tier is
 * counted, which cover a run of this job many times over, except one: the account's first metrics.
 */
export const prices = {
  /** step-functions: standard workflows, each state entered, retries included. */
  stateTransition: 0.025 / 1000,
  /** lambda: arm64, first tier; since August 2025 the start of a new container is billed too. */
  lambdaGbSecond: 0.0000133334,
  lambdaRequest: 0.2 / 1e6,
  /** dynamodb: on demand. */
  readUnit: 0.125 / 1e6,
  writeUnit: 0.625 / 1e6,
  /** kms: the token's decryption. systems-manager: standard parameters at standard throughput cost nothing. */
  decryption: 0.03 / 10_000,
  /** sns: API requests; emails are the most expensive of the usual deliveries. */
  snsRequest: 0.5 / 1e6,
  email: 2 / 100_000,
  /** eventbridge: one invocation of the scheduler. */
  schedule: 1 / 1e6,
  /** cloudwatch: ingested log data, per byte. */
  logByte: 0.5 / 1e9,
  /** cloudwatch: a custom metric for a month; billed only for the hours in which it is sent. */
  metricMonth: 0.3,
  /** cloudwatch: each metric of an alarm, for a month. */
  alarmMetricMonth: 0.1,
  /** cloudwatch: X-Ray, one trace per execution. */
  trace: 5 / 1e6,
} as const;

/** Memory of each function (infra/functions/retention-function.ts). */
const functionGb = 0.5;
/** Report asks for the topic's subscriptions, then publishes to two recipients. */
const notification = 2 * prices.snsRequest + 2 * prices.email;
/** What a state machine that logs at level ALL without execution data writes per history event. */
const logBytesPerEvent = 300;
/** A DynamoDB unit reads 4 kB or writes 1 kB; a record has about 2 kB. */
const unitsPerWrite = 2;
/** An account's first custom metrics are free every month; a metric that is sent one hour a day uses little of that. */
const freeMetrics = 10;
const hoursOfAMonth = 730;
const runsOfAMonth = hoursOfAMonth / 24;

/** Dollars for one daily run, the metrics beyond the account's free ones included. */
export function priceOf(usage: Usage): number {
  // A run sends all of its metrics at its end, within one hour of the clock.
  const metricMonths = (usage.metrics * runsOfAMonth) / hoursOfAMonth;
  return [
    usage.transitions * prices.stateTransition + prices.schedule + prices.trace,
    usage.invocations * prices.lambdaRequest + (usage.billedMillis / 1000) * functionGb * prices.lambdaGbSecond,
    usage.ledgerReads * prices.readUnit + usage.ledgerWrites * unitsPerWrite * prices.writeUnit,
    usage.decryptions * prices.decryption,
    notification,
    (usage.logBytes + usage.historyEvents * logBytesPerEvent) * prices.logByte,
    (Math.max(0, metricMonths - freeMetrics) * prices.metricMonth) / runsOfAMonth,
  ].reduce((sum, part) => sum + part, 0);
}
