import { describe, expect, test } from 'vitest';
import type { Reply } from '../../operations-service/simulation/exchange.ts';
import { createVirtualTime, withVirtualTimers } from '../world/virtual-time.ts';
import { type PeerRun, peerPairs, runPeer } from './peer.ts';

/** The peer, as acryl-datahub 1.7.0.17 behaved on the wire. */

const dryRun = (left: number, total: number): Reply => value(`Delete ${left} out of ${total} rows (1%). Issuing`);
const value = (text: string): Reply => status(200, JSON.stringify({ value: text }));
const status = (code: number, body = '{}', headers = {}): Reply => ({
  kind: 'reply',
  status: code,
  headers,
  body,
  delayMillis: 0,
});

async function ran(post: (body: { dryRun: boolean; aspect: string }) => Reply): Promise<PeerRun> {
  const time = createVirtualTime(0);
  let run: PeerRun | undefined;
  await withVirtualTimers(time, async () => {
    const host = { now: time.now, sleep: time.sleep, post: (body: string) => post(JSON.parse(body)) };
    runPeer(host, [['dataset', 'operation']]).then((ended) => {
      run = ended;
    });
    await time.run(() => run !== undefined);
  });
  return run!;
}

describe('datahub-gc', () => {
  test('repeats an unanswered truncate: five requests at 0, 30, 64, 102 and 148 s', async () => {
    const run = await ran(({ dryRun: isDry }) => (isDry ? dryRun(1, 2) : { kind: 'no-answer', delayMillis: 0 }));
    expect(run.sentAfter.map((millis) => millis / 1000)).toEqual([0, 30, 64, 102, 148]);
    expect(run.failed).toBe(true);
  });

  test('waits as long as Retry-After says, and then tries forceDeleteByQuery', async () => {
    const run = await ran(({ dryRun: isDry }) => (isDry ? dryRun(1, 2) : status(429, '{}', { 'Retry-After': '7' })));
    const each = [0, 7, 14, 21, 28];
    expect(run.sentAfter.map((millis) => millis / 1000)).toEqual([...each, ...each.map((seconds) => 28 + seconds)]);
    expect(run.failed).toBe(true);
  });

  test('stops watching without a message when nothing moves', async () => {
    const run = await ran(({ dryRun: isDry }) => (isDry ? dryRun(20_000, 50_000) : value('node:1')));
    expect(run).toMatchObject({ failed: false });
    expect(run.said).toEqual([
      'to_delete 20000 / 50000',
      'to_delete 20000 / 50000',
      'Seems to be stuck. Ending the loop.',
    ]);
  });

  test('stops watching without a message below 10,000 rows', async () => {
    const run = await ran(({ dryRun: isDry }) => (isDry ? dryRun(9999, 50_000) : value('node:1')));
    expect(run.said).toEqual(['to_delete 9999 / 50000', 'Too small truncation. Not going to watch.']);
  });

  test('writes two of its aspects in lower case', () => {
    expect(peerPairs.map(([, aspect]) => aspect)).toEqual([
      'operation',
      'datasetusagestatistics',
      'chartUsageStatistics',
      'dashboardUsageStatistics',
      'queryusagestatistics',
    ]);
  });
});
