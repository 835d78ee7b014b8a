import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Report } from '../../../lambda/model/report-schema.ts';
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
  // A second for each request, so that tasks get on.
  engine.onRequest = () => void vi.setSystemTime(Date.now() + 1000);
  const posting = ['--notify-url-file', files.write('hook', hook.url), '--notify-format', 'json'];
  const posted = async (hours: number, args: readonly string[]) => {
    vi.setSystemTime(begin + hours * hourMillis);
    const { stdout } = await runHere(args);
    expect(stdout).toContain('The message was posted to ');
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
      return { result, outcome: entry?.outcome, ...(today && 'found' in today && { today: today.found }) };
    },
    /** @returns what the note says that is posted: granted or why not, and the rows that are missing */
    async release(hours: number, accepted?: number) {
      const accepting = accepted === undefined ? [] : ['--accept-missing', `${accepted}`];
      const args = ['release', 'dataset.operation', ...server, ...ledger, '--fast', ...posting, ...accepting];
      const [note] = (await posted(hours, args)).notes ?? [];
      if (note?.kind === 'released') return ['released', note.missing ?? note.unknown];
      return note?.kind === 'not-released' ? [note.why, note.missing ?? note.unknown] : note;
    },
  };
}

const unknown = { result: 'failed', outcome: 'unknown' };
const quarantined = (today: number) => ({ result: 'attention', outcome: 'quarantined', today });

describe('Each night is posted, and nothing more is sent, where a reindex without 1,200 of 4,000 rows is put in place', () => {
  test.each([
    ['14 hours after its status said "completed"', ['in-place-after=50400'], [quarantined(4000), quarantined(2800)]],
    [
      '23 minutes after its call was answered 504',
      ['in-place-after=1380', 'gateway-timeout'],
      [quarantined(2800), quarantined(2800)],
    ],
  ])('%s', async (_, faults, [anHourLater, nextNight]) => {
    const { night, sent } = await stage('abort-at=0.7', ...faults);
    expect([await night(0), await night(1), await night(24), await night(48), await night(72)]).toEqual([
      unknown,
      anHourLater,
      nextNight,
      nextNight,
      nextNight,
    ]);
    expect(sent()).toHaveLength(1);
  });
});

describe('A reindex whose call was answered 504 is released', () => {
  test('not if fewer rows are accepted than are missing; the message names the accepted number', async () => {
    const { night, release, sent } = await stage('abort-at=0.7', 'in-place-after=1380', 'gateway-timeout');
    expect(await night(0)).toEqual(unknown);
    for (const hours of [1, 3, 12, 26]) {
      expect(await release(hours)).toEqual(['missing', 1200]);
      expect(await release(hours, 1199)).toEqual(['missing', 1200]);
    }
    expect(await release(26, 1200)).toEqual(['released', 1200]);
    expect(await night(48)).toEqual({ result: 'ok', outcome: 'nothing-to-delete' });
    expect(sent()).toHaveLength(1);
  });

  test('before it is in place only by a person who accepts what cannot be known, and then the next run sends', async () => {
    const { night, release, sent } = await stage('abort-at=0.7', 'in-place-after=50400', 'gateway-timeout');
    expect(await night(0)).toEqual(unknown);
    for (const hours of [1, 3, 12]) expect(await release(hours)).toEqual(['unknown', 'reindex']);
    expect(await release(12, 0)).toEqual(['released', 'reindex']);
    expect(sent()).toHaveLength(1);
    expect((await night(13)).outcome).toBe('unknown');
    expect(sent()).toHaveLength(2);
  });

  test('after it is in place once every row is there', async () => {
    const { night, release } = await stage('in-place-after=1380', 'gateway-timeout');
    expect(await night(0)).toEqual(unknown);
    expect(await release(1)).toEqual(['released', 0]);
    expect(await night(24)).toEqual({ result: 'ok', outcome: 'nothing-to-delete' });
  });
});
