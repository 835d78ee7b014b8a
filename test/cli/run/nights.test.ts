import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Report } from '../../../lambda/facts/report-schema.ts';
import { operation, runHere, serviceHere } from '../here.ts';
import { startReceiver } from '../outputs/receiver.ts';

/** Nights with the command line, in virtual time: what is posted each night of a reindex that ends after its run. */

const hourMillis = 3_600_000;
const begin = Date.UTC(2026, 10, 20, 3, 30);
const spread = (rows: number, from: number, until: number): number[] =>
  Array.from({ length: rows }, (_, row) => begin - (from + ((until - from) * (row + 0.5)) / rows) * 24 * hourMillis);

async function stage(...faults: string[]) {
  vi.useFakeTimers({ toFake: ['Date'], now: begin });
  onTestFinished(() => void vi.useRealTimers());
  const indices = [
    { entityType: 'dataset', aspect: 'operation', timestamps: [...spread(6000, 40, 60), ...spread(4000, 1, 29)] },
  ];
  const service = await serviceHere({ indices, faults: ['ignores-force-flags', ...faults] });
  const { files, run, server, ledger, engine, sent } = service;
  const hook = await startReceiver();
  onTestFinished(() => hook.close());
  // A second for each request, so that tasks get on.
  engine.onRequest = () => void vi.setSystemTime(Date.now() + 1000);
  const posting = ['--notify-url-file', files.write('hook', hook.url), '--notify-format', 'json'];
  const posted = async (hours: number, args: readonly string[]) => {
    vi.setSystemTime(begin + hours * hourMillis);
    const { stdout } = await runHere(args);
    if (process.env['SHOW']) console.log(`===== ${hours} h: ${args[0]} ${args.slice(-3).join(' ')}\n${stdout}`);
    return hook.received.at(-1)?.body as Report;
  };
  return {
    sent,
    /** @returns the entry that is posted */
    async night(hours: number) {
      const { result, policies } = await posted(
        hours,
        run('enforce', [{ ...operation, retentionDays: 30 }], ...posting),
      );
      const [entry] = policies;
      const today = entry?.cause.kind === 'quarantined' && entry.cause.today;
      return { result, outcome: entry?.outcome, ...(today && 'found' in today && { found: today.found }) };
    },
    /** @returns the note that is posted */
    async release(hours: number, ...accepting: string[]) {
      const args = ['release', 'dataset.operation', ...server, ...ledger, '--fast', ...posting, ...accepting];
      const { notes = [] } = await posted(hours, args);
      return notes.map(({ text: _, ...note }) => note);
    },
  };
}

describe('A reindex that is put in place 14 hours after its status said "completed, 2,800 of 4,000"', () => {
  test('is quarantined from the first night on, and counted each night', async () => {
    const { night, sent } = await stage('abort-at=0.7', 'in-place-after=50400');
    const nights = [];
    for (const hours of [0, 1, 24, 48, 72]) nights.push(await night(hours));
    expect(nights).toEqual([]);
    expect(sent()).toHaveLength(1);
  });
});

describe('A reindex whose call was answered 504, and that lands 23 minutes later without 1,200 of 4,000 rows', () => {
  test('is quarantined from the first night on, and counted each night', async () => {
    const { night, sent } = await stage('abort-at=0.7', 'in-place-after=1380', 'gateway-timeout');
    const nights = [];
    for (const hours of [0, 1, 24, 48, 72]) nights.push(await night(hours));
    expect(nights).toEqual([]);
    expect(sent()).toHaveLength(1);
  });

  test('is released once a person accepts what is missing', async () => {
    const { night, release, sent } = await stage('abort-at=0.7', 'in-place-after=1380', 'gateway-timeout');
    const all: unknown[] = [await night(0)];
    for (const hours of [1, 3, 12, 26]) {
      all.push(await release(hours), await release(hours, '--accept-missing', '1199'));
    }
    all.push(await release(26.1, '--accept-missing', '1200'), await night(48));
    expect(all).toEqual([]);
    expect(sent()).toHaveLength(2);
  });
});
