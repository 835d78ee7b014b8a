import type { Reply } from '../../operations-service/simulation/exchange.ts';

/**
 * The truncation of DataHub's own datahub-gc source, as acryl-datahub 1.7.0.17 did it over a real wire, rewritten for
 * this laboratory. For each pair it makes a dry run, then a real truncate without batch size, flags or task id, and
 * repeats each with forceDeleteByQuery if the answer is an error; then it makes dry runs, each with a new cutoff,
 * until nothing changes. Its HTTP client repeats a POST after a 429 or 5xx, and also if no answer came.
 */

export interface PeerRun {
  /** Its lines at level INFO, and how it ended. */
  said: string[];
  /** Whether its run ended in an error. */
  failed: boolean;
  /** When it sent real truncates, milliseconds after its start. */
  sentAfter: number[];
}

/** Where it runs. */
export interface PeerHost {
  now(): number;
  sleep(millis: number): Promise<void>;
  /** One POST to the operations. */
  post(body: string): Reply;
}

export interface PeerOptions {
  days: number;
  watchUntil: number;
  sleepSeconds: number;
}

/** Its defaults. */
export const peerDefaults: PeerOptions = { days: 30, watchUntil: 10_000, sleepSeconds: 30 };

/** What it truncates, as it spells it. */
export const peerPairs = [
  ['dataset', 'operation'],
  ['dataset', 'datasetusagestatistics'],
  ['chart', 'chartUsageStatistics'],
  ['dashboard', 'dashboardUsageStatistics'],
  ['query', 'queryusagestatistics'],
] as const;

/** `Retry(total=4, allowed_methods including POST, backoff_factor=2)`: it waits 0, 4, 8 and 16 s before it sends again. */
const resends = 4;
const retried = new Set([429, 500, 502, 503, 504]);
const backOffSeconds = [0, 4, 8, 16];
const readTimeoutMillis = 30_000;

export async function runPeer(
  host: PeerHost,
  pairs: readonly (readonly [entityType: string, aspect: string])[] = peerPairs,
  { days, watchUntil, sleepSeconds }: PeerOptions = peerDefaults,
): Promise<PeerRun> {
  const run: PeerRun = { said: [], failed: false, sentAfter: [] };
  const begun = host.now();
  try {
    for (const [entityType, aspect] of pairs) {
      await truncate(entityType, aspect, true);
      await truncate(entityType, aspect, false);
      await watch(entityType, aspect);
    }
  } catch (error) {
    if (!(error instanceof NoAnswer) && !(error instanceof OperationalError)) throw error;
    run.failed = true;
    run.said.push(error.message);
  }
  return run;

  async function truncate(entityType: string, aspect: string, dryRun: boolean): Promise<string> {
    // Each call computes a new cutoff.
    const fields = () => ({ entityType, aspect, endTimeMillis: host.now() - days * 86_400_000, dryRun });
    try {
      return await post(fields());
    } catch (error) {
      if (!(error instanceof OperationalError)) throw error;
      return await post({ ...fields(), forceDeleteByQuery: true });
    }
  }

  async function watch(entityType: string, aspect: string): Promise<void> {
    let previous = 1;
    for (;;) {
      const counts = /Delete (\d+) out of (\d+) rows/.exec(await truncate(entityType, aspect, true));
      if (!counts) return;
      const left = Number(counts[1]);
      if (left === 0) return void run.said.push('Nothing to delete.');
      run.said.push(`to_delete ${left} / ${counts[2]}`);
      if (left === previous) return void run.said.push('Seems to be stuck. Ending the loop.');
      if (left < watchUntil) return void run.said.push('Too small truncation. Not going to watch.');
      previous = left;
      await host.sleep(sleepSeconds * 1000);
    }
  }

  /** One call of its HTTP client, which may make several requests. */
  async function post(fields: { dryRun: boolean } & Record<string, unknown>): Promise<string> {
    for (let tries = 0; ; tries++) {
      if (!fields.dryRun) run.sentAfter.push(host.now() - begun);
      const outcome = await request(JSON.stringify(fields));
      if (outcome.kind === 'answer' && outcome.status < 400) {
        return String((JSON.parse(outcome.body) as { value: unknown }).value);
      }
      const maySendAgain = outcome.kind === 'none' || retried.has(outcome.status);
      if (!maySendAgain || tries === resends) {
        if (outcome.kind === 'none') throw new NoAnswer(outcome.why);
        throw new OperationalError(`HTTP ${outcome.status}`);
      }
      const asked = outcome.kind === 'answer' ? outcome.retryAfterSeconds : undefined;
      await host.sleep(1000 * (asked ?? backOffSeconds[tries] ?? 0));
    }
  }

  async function request(body: string): Promise<Outcome> {
    const reply = host.post(body);
    if (reply.kind === 'no-answer' || reply.delayMillis > readTimeoutMillis) {
      await host.sleep(readTimeoutMillis);
      return { kind: 'none', why: 'Read timed out. (read timeout=30)' };
    }
    await host.sleep(reply.delayMillis);
    if (reply.kind !== 'reply') return { kind: 'none', why: 'Connection aborted.' };
    const seconds = Number(reply.headers['Retry-After']);
    return {
      kind: 'answer',
      status: reply.status,
      body: reply.body,
      ...(Number.isFinite(seconds) && { retryAfterSeconds: seconds }),
    };
  }
}

type Outcome =
  | { kind: 'answer'; status: number; body: string; retryAfterSeconds?: number }
  | { kind: 'none'; why: string };

/** What its client makes of an HTTP error. */
class OperationalError extends Error {
  override readonly name = 'OperationalError';
}

/** Not an HTTP error: it leaves the truncation. */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}
