import type { Simulation } from './simulation/simulated/simulation.ts';
import { RestliError } from './simulation/wire/restli.ts';
import { atOnce } from './simulation/wire/steps.ts';
import { readTruncateRequest, truncate } from './simulation/wire/truncate.ts';

/**
 * The pairs that datahub-gc truncates, in its order and as acryl-datahub 1.7.0.17 writes them: two in lower case, which
 * matters only if names are compared exactly.
 */
const pairs = [
  ['dataset', 'operation'],
  ['dataset', 'datasetusagestatistics'],
  ['chart', 'chartUsageStatistics'],
  ['dashboard', 'dashboardUsageStatistics'],
  ['query', 'queryusagestatistics'],
] as const;

/** Its HTTP client resends a POST on these; it cannot know what the first one did. */
const retried = new Set([429, 500, 502, 503, 504]);
/** `Retry(total=4, backoff_factor=2)`: how long it waits before each resend. */
const backOffSeconds = [0, 4, 8, 16];

/**
 * What DataHub's bootstrapped datahub-gc source does to the indices at night: for each pair a dry run, then a truncate
 * without batch size and flags; each is resent if the answer is 429 or 5xx, and with forceDeleteByQuery if it is still
 * an error. A pair that fails even then is skipped. Its watching (dry runs, 30 s apart) changes nothing. Here there is no
 * wire in between, so no answer is late or lost.
 * @returns the indices that it has touched, as `dataset.operation`; it grows while resends wait
 */
export function runGc(simulation: Simulation, days: number): string[] {
  const { cluster } = simulation;
  const touched: string[] = [];
  const requests = night(simulation, days, touched);
  const goOn = () => {
    for (let { done, value } = requests.next(); !done; { done, value } = requests.next()) {
      if (typeof value === 'number' && value > 0) return cluster.schedule(cluster.now + value * 1000, goOn);
    }
  };
  goOn();
  return touched;
}

/** Yields seconds to wait. */
type Requests<T> = Generator<number, T>;

function* night(simulation: Simulation, days: number, touched: string[]): Requests<void> {
  for (const [entityType, aspect] of pairs) {
    const index = simulation.cluster.logical.get(`${entityType}.${aspect}`.toLowerCase());
    // The cutoff is counted anew for each of them, but not for a resend.
    const fields = (dryRun: boolean) => ({
      entityType,
      aspect,
      endTimeMillis: simulation.cluster.now - days * 86_400_000,
      dryRun,
    });
    const answered = (yield* insist(simulation, fields(true))) && (yield* insist(simulation, fields(false)));
    if (!answered || index === undefined) continue;
    // If names are compared exactly, lower-case ones are answered as well, but match no rows.
    const meant = !simulation.behaviour.exactNames || index.aspect === aspect;
    if (meant) touched.push(`${index.entityType}.${index.aspect}`);
  }
}

/** @returns whether there was an answer in the end */
function* insist(simulation: Simulation, fields: Record<string, unknown>): Requests<boolean> {
  return (yield* ask(simulation, fields)) || (yield* ask(simulation, { ...fields, forceDeleteByQuery: true }));
}

function* ask(simulation: Simulation, fields: Record<string, unknown>): Requests<boolean> {
  for (let tries = 0; ; tries++) {
    try {
      atOnce(truncate(simulation, readTruncateRequest(fields)));
      return true;
    } catch (error) {
      // How it handles an answer is its own business: it must not make another client's request fail.
      if (!(error instanceof RestliError)) throw error;
      const seconds = backOffSeconds[tries];
      if (!retried.has(error.status) || seconds === undefined) return false;
      yield seconds;
    }
  }
}
