import type { Engine } from '../../local/operations-service/engine.ts';
import type { Reply } from '../../local/operations-service/exchange.ts';
import type { VirtualTime } from './virtual-time.ts';

/**
 * The truncation of DataHub's own datahub-gc source, as its behaviour is described in our reference (facts 9.2 and 9.3), written
 * for this laboratory: for each pair a real truncate without batch size, flags or task id; on any HTTP error the same
 * with forceDeleteByQuery; then dry runs until nothing changes. Its HTTP session sends again on 429 and 5xx.
 */

export interface PeerRun {
  /** What its log and report say. */
  said: string[];
  /** Whether its run ended in an error. */
  failed: boolean;
  /** Real truncates that it sent. */
  sent: number;
}

export interface PeerOptions {
  days: number;
  watchUntil: number;
  sleepSeconds: number;
}

/** Its defaults. */
export const peerDefaults: PeerOptions = { days: 30, watchUntil: 10_000, sleepSeconds: 30 };

const sessionRetries = 4;
const retried = new Set([429, 500, 502, 503, 504]);
const readTimeoutMillis = 30_000;

export async function runPeer(
  engine: Engine,
  time: VirtualTime,
  pairs: readonly (readonly [entityType: string, aspect: string])[],
  { days, watchUntil, sleepSeconds }: PeerOptions = peerDefaults,
): Promise<PeerRun> {
  const run: PeerRun = { said: [], failed: false, sent: 0 };
  try {
    for (const [entityType, aspect] of pairs) {
      await truncate(entityType, aspect, false);
      await watch(entityType, aspect);
    }
  } catch (error) {
    run.failed = true;
    run.said.push((error as Error).message);
  }
  return run;

  async function truncate(entityType: string, aspect: string, dryRun: boolean): Promise<string> {
    const fields = { entityType, aspect, endTimeMillis: time.now() - days * 86_400_000, dryRun };
    try {
      return await post(fields);
    } catch (error) {
      if (!(error instanceof OperationalError)) throw error;
      return await post({ ...fields, forceDeleteByQuery: true });
    }
  }

  async function watch(entityType: string, aspect: string): Promise<void> {
    let previous = -1;
    for (;;) {
      const text = await truncate(entityType, aspect, true);
      const left = /Delete (\d+) out of (\d+) rows/.exec(text)?.[1];
      if (left === undefined) return;
      if (left === '0') {
        run.said.push('Nothing to delete.');
        return;
      }
      if (Number(left) === previous || Number(left) < watchUntil) return;
      previous = Number(left);
      await time.sleep(sleepSeconds * 1000);
    }
  }

  async function post(fields: { dryRun: boolean } & Record<string, unknown>): Promise<string> {
    for (let tries = 0; ; tries++) {
      if (!fields.dryRun) run.sent++;
      await time.sleep(20);
      const reply: Reply = engine.handle({
        method: 'POST',
        path: '/operations?action=truncateTimeseriesAspect',
        headers: { authorization: `Bearer ${engine.token}` },
        body: JSON.stringify(fields),
      });
      if (reply.kind === 'no-answer' || reply.delayMillis > readTimeoutMillis) {
        await time.sleep(readTimeoutMillis);
        throw new Error('Read timed out. (read timeout=30)');
      }
      await time.sleep(reply.delayMillis);
      if (reply.kind !== 'reply') throw new Error('Connection aborted.');
      if (reply.status < 400) return String((JSON.parse(reply.body) as { value: unknown }).value);
      if (!retried.has(reply.status) || tries === sessionRetries) throw new OperationalError(`HTTP ${reply.status}`);
      await time.sleep(1000 * 2 ** tries);
    }
  }
}

class OperationalError extends Error {
  override readonly name = 'OperationalError';
}
