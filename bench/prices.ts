import type { Usage } from './simulation/functions.ts';

/**
 * List prices in US dollars, us-east-1 (N. Virginia), November 2026. No free tier is counted (they cover a night of this
 * job many times over) except one: the account's first metrics. Sources: aws.amazon.com/<service>/pricing.
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
  /** systems-manager: standard parameters at standard throughput cost nothing. */
  parameterCall: 0,
  /** kms: the token's decryption. */
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
/** Report asks for the topic's subscriptions, then publishes. */
const snsRequests = 2;
/** Number of recipients. */
const emails = 2;
/** What a state machine that logs at level ALL without execution data writes per history event. */
const logBytesPerEvent = 300;
/** A DynamoDB unit reads 4 kB or writes 1 kB; a record has about 2 kB. */
const unitsPerWrite = 2;
/** A Query of 40 nights of up to 200 bytes is at most 8 kB, at half price, because it need not be consistent. */
const unitsPerRecall = 1;

/** An account's first custom metrics are free every month; a metric that is sent one hour a night uses little of that. */
const freeMetrics = 10;
const hoursOfAMonth = 730;
const nightsOfAMonth = hoursOfAMonth / 24;

/** Dollars for one night. */
export interface NightPrice {
  workflow: number;
  functions: number;
  ledgerAndParameters: number;
  memory: number;
  notification: number;
  logs: number;
  /** Custom metrics beyond the account's free ones, if it has no others. */
  metrics: number;
  /** All of the above. */
  inAll: number;
  /** Custom metrics in an account whose free ones are used up by others: instead of `metrics`, and not part of `inAll`. */
  metricsWithoutFree: number;
  /** Metrics per month as billed: one that is sent all the time counts as 1. */
  metricMonths: number;
}

export function priceOf(
  usage: Usage,
  more: { transitions: number; historyEvents: number; metrics: number },
): NightPrice {
  const parts = {
    workflow: more.transitions * prices.stateTransition + prices.schedule + prices.trace,
    functions:
      usage.invocations * prices.lambdaRequest + (usage.billedMillis / 1000) * functionGb * prices.lambdaGbSecond,
    ledgerAndParameters:
      usage.ledgerReads * prices.readUnit +
      usage.ledgerWrites * unitsPerWrite * prices.writeUnit +
      usage.parameterCalls * prices.parameterCall +
      usage.decryptions * prices.decryption,
    memory: usage.nightsRead * unitsPerRecall * prices.readUnit + usage.nightsWritten * prices.writeUnit,
    notification: snsRequests * prices.snsRequest + emails * prices.email,
    logs: (usage.logBytes + more.historyEvents * logBytesPerEvent) * prices.logByte,
  };
  // A night's run ends within one hour of the clock, and sends them all then.
  const metricMonths = (more.metrics * nightsOfAMonth) / hoursOfAMonth;
  const nightly = (metrics: number) => (metrics * prices.metricMonth) / nightsOfAMonth;
  const metrics = nightly(Math.max(0, metricMonths - freeMetrics));
  const inAll = Object.values(parts).reduce((sum, part) => sum + part, metrics);
  return { ...parts, metrics, inAll, metricsWithoutFree: nightly(metricMonths), metricMonths };
}
