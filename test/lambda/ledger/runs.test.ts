import { describe, expect, test } from 'vitest';
import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import { keepRun, parseRuns, type RunSummary, summaryOfRun, withRun } from '../../../lambda/ledger/runs.ts';
import { cleanRequester } from '../../../lambda/model/asked-by.ts';
import { asMarkEvent, markAllReported } from '../../../lambda/run/mark-reported.ts';
import { anEntry, aReport } from '../../support/reports.ts';

const aRun = (runId: string, more: Partial<RunSummary> = {}): RunSummary => ({
  ...{ runId, finishedAt: '2026-11-27T03:00:00.000Z', by: 'schedule', result: 'ok', indices: [] },
  ...more,
});
const ids = (text: string): string[] => parseRuns(text).map(({ runId }) => runId);
const textAfter = (...runs: RunSummary[]): string =>
  runs.reduce<string | undefined>((text, run) => withRun(text, run), undefined) ?? '';

describe('The last runs', () => {
  test('are thirty, the newest first', () => {
    const kept = ids(textAfter(...Array.from({ length: 32 }, (_, at) => aRun(`run-${at}`))));
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([30, 'run-31', 'run-2']);
  });

  test('hold a run once, however often its end is written', () => {
    expect(ids(textAfter(aRun('a'), aRun('b'), aRun('a')))).toEqual(['a', 'b']);
  });

  test('take less than 100 kB, with sixty-four indices in each run', () => {
    const most = Number.MAX_SAFE_INTEGER;
    const indices = Array.from({ length: 64 }, (_, at) => ({
      name: `${'e'.repeat(60)}.${'a'.repeat(60)}${at}`,
      outcome: 'rows-missing',
      ...{ rowsDeleted: most, rowsMissing: most, approvedRows: most },
    }));
    const text = textAfter(...Array.from({ length: 30 }, (_, at) => aRun(`run-${at}`, { indices })));
    expect(Buffer.byteLength(text)).toBeLessThan(100_000);
    expect(ids(text)[0]).toBe('run-29');
  });

  test.each(['{"runs": [{"runId"', '[]', '{"runs": 7}', ''])(
    'begin anew where they cannot be understood: %j',
    (text) => {
      expect(ids(withRun(text, aRun('a')))).toEqual(['a']);
    },
  );

  test('keep what another version wrote, which only it understands', () => {
    const text = withRun(
      '{"runs": [{"runId": 7}, {"runId": "b", "finishedAt": "x", "result": "y", "indices": []}]}',
      aRun('a'),
    );
    expect([ids(text), text]).toEqual([['a', 'b'], expect.stringContaining('{"runId":7}')]);
  });

  test('keep the run of a writer that was first', async () => {
    let stored: string | undefined;
    const store = {
      readRuns: async () => stored,
      async replaceRuns(next: string, before: string | undefined) {
        stored ??= textAfter(aRun('other'));
        if (stored !== before) return false;
        stored = next;
        return true;
      },
    };
    await keepRun(store, aRun('own'));
    expect(ids(stored ?? '')).toEqual(['own', 'other']);
  });

  test('that cannot be kept fail no run, and its log says so', async () => {
    const logged: string[] = [];
    const log = { info() {}, warn: (message: string) => void logged.push(message), error() {} };
    const runs = { readRuns: async () => undefined, replaceRuns: async () => false };
    const event = asMarkEvent({ marks: [], run: aRun('own'), execution: { name: 'own' } });
    await markAllReported(event!, { ledger: { ...memoryLedger(), runs }, log });
    expect(logged).toEqual(['this run is not kept among the last runs']);
  });
});

describe('A run in short', () => {
  test('names every index that had something to do, with its rows and what a person approved', () => {
    const report = aReport([
      ...(['nothing-to-delete', 'below-threshold', 'disabled'] as const).map((one) =>
        anEntry(one, { kind: 'not-due' }),
      ),
      anEntry('truncated', { kind: 'verified' }, { aspect: 'a', rowsDeleted: 12, approvedRows: 15 }),
      anEntry('rows-missing', { kind: 'missing', expected: 9, found: 4 }, { aspect: 'b', rowsMissing: 5 }),
    ]);
    expect(summaryOfRun({ ...report, by: 'ada' })).toMatchObject({
      by: 'ada',
      indices: [
        { name: 'dataset.a', outcome: 'truncated', rowsDeleted: 12, approvedRows: 15 },
        { name: 'dataset.b', outcome: 'rows-missing', rowsMissing: 5 },
      ],
    });
  });

  test('says by which policy rows went, and who asked for what an earlier run has sent, if it had a name', () => {
    const sent = { method: 'delete', cutoffMillis: 7, by: 'eve', resumed: true, decidedAt: 'then' } as const;
    const failed = { kind: 'step-failed', step: 'truncate', error: 'x' } as const;
    const report = aReport([
      anEntry('truncated', { kind: 'verified' }, { ...sent, decidedBy: 'another' }),
      anEntry('truncated', { kind: 'verified' }, { ...sent, by: undefined, decidedBy: 'another' }),
      anEntry('above-ceiling', { kind: 'above-ceiling', approveRows: 5 }, { aspect: 'a', cutoffMillis: 7 }),
      anEntry('not-started', { kind: 'stopped', by: 'paused' }, { ...sent, by: undefined }),
      anEntry('failed', { ...failed, sent: 'no' }, { method: 'delete', cutoffMillis: 7 }),
      anEntry('unknown', { ...failed, sent: 'maybe' }, { method: 'reindex', cutoffMillis: 7 }),
    ]);
    const { indices } = summaryOfRun({ ...report, by: 'schedule' });
    expect(indices[0]).toMatchObject({ retentionDays: 90, cutoffMillis: 7, decidedAt: 'then', run: 'another' });
    expect(indices.map(({ by, cutoffMillis }) => by ?? cutoffMillis).join()).toBe('eve,somebody,,,,7');
  });

  test('names what was released, with the rows accepted as lost, or refused, and by which earlier run', () => {
    const of = (decidedBy: string, index: string, accepted?: number, by?: string) =>
      ({ kind: 'released', index, by, decidedBy, decidedAt: '2026-11-27T03:00:00.000Z', accepted }) as never;
    const report = aReport([]);
    const refused = { kind: 'not-released', index: 'dataset.c', why: 'missing', missing: 7 } as never;
    const notes = [of(report.runId, 'dataset.a', 2250, 'eve'), of('another', 'dataset.b', 1), refused];
    expect(summaryOfRun({ ...report, by: 'eve', notes })).toMatchObject({
      released: [
        { name: 'dataset.a', accepted: 2250, by: undefined, run: undefined },
        { name: 'dataset.b', accepted: 1, by: 'somebody', run: 'another' },
      ],
      notReleased: ['dataset.c'],
    });
  });
});

test.each([
  ['ada@laptop', 'ada@laptop'],
  [' ada\n\u001b[31m lovelace\u0000 ', 'ada [31m lovelace'],
  ['é'.repeat(300), 'é'.repeat(200)],
  ['\n', undefined],
  [{ name: 'ada' }, undefined],
  [undefined, undefined],
])('Who asked for a run is one short line, or left out, and never a reason to refuse: %j', (given, kept) => {
  expect(cleanRequester(given)).toBe(kept);
});
