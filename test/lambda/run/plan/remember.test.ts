import { describe, expect, test } from 'vitest';
import type { Cause } from '../../../../lambda/facts/cause.ts';
import type { Outcome } from '../../../../lambda/facts/outcomes.ts';
import type { EntryFacts } from '../../../../lambda/facts/report-schema.ts';
import type { StoredRecord } from '../../../../lambda/ledger/record.ts';
import { MemoryError, type Night, type Nights, nightsInMemory } from '../../../../lambda/memory/night.ts';
import type { PolicyContext } from '../../../../lambda/run/plan/context.ts';
import { grownIndices, recall, remember, tooLong, withMemory } from '../../../../lambda/run/plan/remember.ts';
import type { RunServices } from '../../../../lambda/run/services.ts';
import type { Entry, Planned } from '../../../../lambda/run/state.ts';
import { aPolicy } from '../../../support/policies.ts';
import { anIdle, anIndex, aReserved, aVerdict } from '../../../support/records.ts';
import { aRunState } from '../../../support/states.ts';

/** What Plan concludes from earlier nights, and what it records about this one. */

const day = 86_400_000;
const start = Date.parse('2026-03-01T03:30:00.000Z');
const state = aRunState([]);
const night = (daysAgo: number, fields: Partial<Night> = {}): Night => ({
  index: anIndex,
  night: new Date(start - daysAgo * day).toISOString(),
  ...fields,
});
const facts: EntryFacts = { entityType: 'dataset', aspect: 'operation', rowsTotal: 1400, rowsToDelete: 130 };
const decided = (outcome: Outcome, cause: Cause, more: Partial<EntryFacts> = {}): Entry => ({
  index: anIndex,
  phase: 'done',
  entry: { ...facts, ...more, outcome, cause },
});
const approved = (plan: Partial<Planned> = {}, more: Partial<EntryFacts> = {}): Entry => ({
  index: anIndex,
  phase: 'approved',
  entry: { ...facts, ...more },
  policy: aPolicy(),
  plan: { rowsToDelete: 130, strategy: 'delete-by-query', ...plan },
});
const watched: Entry = {
  index: anIndex,
  phase: 'watched',
  entry: facts,
  watch: { attemptId: 'a', startedAt: 0, succeededAt: 0, lastLookAt: 0, nextLookAt: 0, looks: 0 },
};
const context = (record?: StoredRecord) =>
  ({ state, prepared: { records: new Map(record && [[anIndex, record]]) } }) as unknown as PolicyContext;

/** 100 rows a day, 10 of them past the retention; 1.04 MB. */
const growing = [night(4, { rows: 1000, overdue: 90, mb: 10 }), night(2, { rows: 1200, overdue: 110, mb: 12 })];
/** 2 rows a second. */
const timed = [night(9, { outcome: 'truncated', deleted: 200, seconds: 100 })];
const copied = [night(9, { outcome: 'truncated', copied: 400, seconds: 100 })];

describe('an entry with the memory of earlier nights', () => {
  test('grows by so many rows and megabytes a day', () => {
    const entry = withMemory(
      decided('nothing-to-delete', { kind: 'nothing-to-delete' }, { sizeBeforeMb: 14.16 }),
      growing,
      context(),
    );
    expect(entry).toStrictEqual(
      decided(
        'nothing-to-delete',
        { kind: 'nothing-to-delete' },
        { sizeBeforeMb: 14.16, rowsPerDay: 100, mbPerDay: 1 },
      ),
    );
    const unsized = withMemory(decided('disabled', { kind: 'switched-off' }), growing, context());
    expect(unsized).toStrictEqual(decided('disabled', { kind: 'switched-off' }, { rowsPerDay: 100 }));
  });

  test.each<[string, Entry]>([
    ['is watched', watched],
    ['was not counted', decided('failed', { kind: 'run-error' }, { rowsTotal: undefined })],
    ['was counted by half', decided('failed', { kind: 'run-error' }, { rowsToDelete: undefined })],
  ])('that %s is unchanged', (_, entry) => {
    expect(withMemory(entry, growing, context())).toBe(entry);
  });

  test.each<[string, Cause, Night[], number | undefined]>([
    // A tenth of 1,400 rows is 140, which comes 5 rows nearer each day.
    [
      'so many nights until its threshold',
      { kind: 'below-threshold', minDeletePercent: 10 },
      [night(4, { rows: 1200, overdue: 90 }), night(2, { rows: 1300, overdue: 110 })],
      2,
    ],
    ['none where it never gets there', { kind: 'below-threshold', minDeletePercent: 50 }, growing, undefined],
    ['none where its growth is not known', { kind: 'below-threshold', minDeletePercent: 10 }, [], undefined],
  ])('that is below its threshold gets %s', (_, cause, nights, expected) => {
    const { entry } = withMemory(decided('below-threshold', cause), nights, context());
    expect(entry).toHaveProperty('cause', { ...cause, ...(expected !== undefined && { nights: expected }) });
  });

  test('counts what is past the retention, where a bite takes less', () => {
    const cause = { kind: 'below-threshold', minDeletePercent: 10 } as const;
    const nights = [night(4, { rows: 1200, overdue: 90 }), night(2, { rows: 1300, overdue: 110 })];
    const { entry } = withMemory(
      decided('below-threshold', cause, { rowsToDelete: 1, rowsPastRetention: 130 }),
      nights,
      context(),
    );
    expect(entry).toHaveProperty('cause', { ...cause, nights: 2 });
  });

  test.each<[string, Cause, Outcome]>([
    ['due', { kind: 'due', minDeletePercent: 10 }, 'would-truncate'],
    ['above its ceiling', { kind: 'above-ceiling', approveRows: 140 }, 'above-ceiling'],
  ])('that is %s gets the duration of last time', (_, cause, outcome) => {
    const seconds = (entry: Entry, nights: Night[]) => withMemory(entry, nights, context()).entry;
    expect(seconds(decided(outcome, cause, { rowsToDelete: 131 }), timed)).toHaveProperty('cause', {
      ...cause,
      seconds: 66,
    });
    expect(seconds(decided(outcome, cause), [])).toHaveProperty('cause', cause);
    // 1,270 rows stay, and are copied at four a second.
    const copying = decided(outcome, cause, { strategy: 'reindex' });
    expect(seconds(copying, copied)).toHaveProperty('cause', { ...cause, seconds: 318 });
    expect(seconds(copying, timed)).toHaveProperty('cause', cause);
    expect(seconds(decided(outcome, cause, { strategy: 'delete-by-query' }), copied)).toHaveProperty('cause', cause);
  });

  test('that is approved is planned with its time', () => {
    expect(withMemory(approved({}, { rowsToDelete: 131 }), timed, context())).toStrictEqual(
      approved({ seconds: 66 }, { rowsToDelete: 131 }),
    );
    expect(withMemory(approved({ strategy: 'reindex' }), copied, context())).toStrictEqual(
      approved({ strategy: 'reindex', seconds: 318 }),
    );
    expect(withMemory(approved(), growing, context())).toStrictEqual(approved({}, { rowsPerDay: 100 }));
  });
});

describe('an index that another process emptied', () => {
  const steady = [5, 4, 3].map((ago) => night(ago, { rows: 5000, overdue: 0, name: 'before' }));
  const empty = decided(
    'nothing-to-delete',
    { kind: 'nothing-to-delete' },
    { rowsTotal: 7, rowsToDelete: 0, indexName: 'now' },
  );

  test('is reported as emptied, with its names before and now', () => {
    const { entry, phase } = withMemory(empty, steady, context());
    expect([phase, entry]).toMatchObject([
      'done',
      {
        outcome: 'emptied',
        cause: { kind: 'emptied', rowsBefore: 5000, nights: 3, indexBefore: 'before', indexNow: 'now' },
      },
    ]);
    const unnamed = withMemory(
      decided('below-threshold', { kind: 'below-threshold', minDeletePercent: 90 }, { rowsTotal: 7, rowsToDelete: 2 }),
      steady.map(({ name: _, ...rest }) => rest),
      context(anIdle()),
    );
    expect(unnamed.entry).toHaveProperty('cause');
    expect((unnamed.entry as { cause?: Cause }).cause).toStrictEqual({ kind: 'emptied', rowsBefore: 5000, nights: 3 });
  });

  test.each<[string, StoredRecord]>([
    ['a verdict', anIdle({ lastVerdict: aVerdict() })],
    ['a reservation', aReserved()],
    ['whatever another version wrote', { state: 'other-version', index: anIndex }],
  ])('is left to its record if that is %s', (_, record) => {
    expect(withMemory(empty, steady, context(record)).entry).toMatchObject({ outcome: 'nothing-to-delete' });
  });

  test('is reported only in place of a good outcome', () => {
    const due = decided('would-truncate', { kind: 'due', minDeletePercent: 10 }, { rowsTotal: 7 });
    expect(withMemory(due, steady, context()).entry).toMatchObject({ outcome: 'would-truncate' });
  });
});

const services = (nights: Nights | undefined, left = 1_000_000) =>
  ({
    nights,
    settings: { maxRunHours: 12 },
    clock: { now: () => start },
    deadline: () => start + left,
  }) as unknown as RunServices;

test('a truncation that takes longer than the run is reported', () => {
  const entries = [
    approved({ seconds: 12 * 3600 }),
    approved({ seconds: 12 * 3600 + 1 }),
    approved(),
    watched,
    decided('failed', { kind: 'run-error' }),
  ];
  expect(tooLong(entries, state, services(undefined))).toEqual([
    { kind: 'longer-than-run', index: 'dataset.operation', seconds: 12 * 3600 + 1, hours: 12 },
  ]);
});

describe('an index without a policy', () => {
  const index = { indexName: 'i', entityType: 'dataset', aspect: 'operation', sizeMb: 20.14 };
  const memory = { of: (name: string) => (name === anIndex ? growing : []), notes: [] };

  test('grows by megabytes a day', () => {
    expect(grownIndices([index], memory, state)).toEqual([{ ...index, mbPerDay: 2.5 }]);
  });

  test.each([
    ['is not remembered', { ...index, aspect: 'another' }],
    ['has no name of its own', { indexName: 'i', sizeMb: 20 }],
    ['has no aspect', { indexName: 'i', entityType: 'dataset', sizeMb: 20 }],
    ['has no size', { indexName: 'i', entityType: 'dataset', aspect: 'operation' }],
  ])('that %s is listed unchanged', (_, one) => {
    expect(grownIndices([one], memory, state)).toStrictEqual([one]);
  });
});

describe('remembering', () => {
  test('stores the counts, and the ten largest indices without a policy', async () => {
    const nights = nightsInMemory();
    const entries = [
      approved({}, { rowsPastRetention: 500, indexName: 'i', sizeBeforeMb: 3 }),
      { ...decided('failed', { kind: 'run-error' }, { rowsToDelete: undefined }), index: 'b' },
      { ...decided('failed', { kind: 'run-error' }, { rowsTotal: undefined }), index: 'c' },
      { ...decided('in-flight', { kind: 'held', state: 'taken' }, { adopted: true }), index: 'd' },
      { ...watched, index: 'e' },
    ];
    const unmanagedIndices = [
      { indexName: 'nameless', sizeMb: 99 },
      { indexName: 'sizeless', entityType: 'a', aspect: 'b' },
      ...Array.from({ length: 9 }, (_, at) => ({ indexName: `u${at}`, entityType: 'u', aspect: `${at}`, sizeMb: at })),
    ];
    const before = aRunState(entries, { unmanagedIndices });
    expect(await remember(before, services(nights))).toEqual(before);
    const written = { night: state.startedAt };
    const byIndex = [...nights.all].sort((one, other) => one.index.localeCompare(other.index));
    expect(byIndex.slice(0, 4)).toStrictEqual([
      { index: 'b', ...written, rows: 1400, outcome: 'failed' },
      { index: 'c', ...written, outcome: 'failed' },
      { index: 'd', ...written, outcome: 'in-flight' },
      { index: anIndex, ...written, rows: 1400, overdue: 500, mb: 3, name: 'i' },
    ]);
    expect(byIndex.slice(4)).toStrictEqual(
      Array.from({ length: 8 }, (_, at) => ({ index: `u_${at}aspect_v1`, ...written, mb: at, name: `u${at}` })),
    );
  });

  const failing: Nights = {
    read: () => Promise.reject(new MemoryError('no table')),
    write: () => Promise.reject(new MemoryError('no table')),
  };
  const note = { kind: 'memory-unavailable', problem: 'no table' } as const;

  test('that fails is reported once, and not retried forever', async () => {
    let writes = 0;
    const once: Nights = {
      ...failing,
      write: async () => {
        writes++;
        throw new MemoryError('no table');
      },
    };
    const many = aRunState(Array.from({ length: 100 }, (_, at) => ({ ...approved(), index: `${at}` })));
    expect((await remember(many, services(once))).notes).toEqual([note]);
    expect(writes).toBe(8);
    expect((await remember({ ...many, notes: [note] }, services(once))).notes).toEqual([note]);
    expect(await remember(many, services(undefined))).toBe(many);
  });

  test('reads by index, and reports a failure once', async () => {
    const nights = nightsInMemory();
    for (const one of growing) await nights.write(one);
    const memory = await recall([anIndex, 'another'], services(nights));
    expect([memory.of(anIndex), memory.of('another'), memory.notes]).toEqual([growing, [], []]);
    let reads = 0;
    const counting: Nights = {
      ...failing,
      read: async () => {
        reads++;
        throw new MemoryError('no table');
      },
    };
    await recall(
      Array.from({ length: 100 }, (_, at) => `${at}`),
      services(counting),
    );
    expect(reads).toBe(8);
    const none = await recall(['a', 'b', 'c'], services(failing));
    expect([none.of('a'), none.notes]).toEqual([[], [note]]);
    expect((await recall(['a'], services(undefined))).notes).toEqual([]);
  });

  test.each<[string, Partial<Night>[], string | undefined]>([
    ['the first night', [], undefined],
    ['one after a good one', [{ outcome: 'below-threshold' }], undefined],
    ['one after a night that nobody knows the end of', [{ outcome: 'failed' }, {}], undefined],
    ['the second one', [{ outcome: 'failed' }], night(1).night],
    ['the third one', [{ outcome: 'truncated' }, { outcome: 'failed' }, { outcome: 'failed' }], night(2).night],
  ])('adds to a failed policy since when: %s', async (_, earlier, since) => {
    const nights = nightsInMemory();
    for (const [at, fields] of earlier.entries()) await nights.write(night(earlier.length - at, fields));
    // A Plan that is retried finds what it wrote itself.
    await nights.write(night(0, { outcome: 'failed' }));
    const failed = decided('failed', { kind: 'policy', problem: 'x' });
    const [entry] = (await remember(aRunState([failed]), services(nights))).entries;
    expect(entry).toEqual(since === undefined ? failed : { ...failed, entry: { ...failed.entry, since } });
    const preview = await remember(aRunState([failed], { mode: 'preview' }), services(nights));
    expect(preview.entries).toEqual([entry]);
  });

  test('reads nothing for indices that are well, or whose cause has a date', async () => {
    const asked: string[] = [];
    const nights = nightsInMemory();
    nights.read = async (index) => {
      asked.push(index);
      return [];
    };
    const entries = [
      decided('truncated', { kind: 'verified', by: 'counts' }),
      decided('quarantined', { kind: 'quarantined', since: 1, outcome: 'rows-missing' }),
      approved(),
      watched,
    ];
    await remember(aRunState(entries), services(nights));
    expect(asked).toEqual([]);
  });

  test('of a preview writes nothing', async () => {
    const nights = nightsInMemory();
    await remember(aRunState([approved()], { mode: 'preview' }), services(nights));
    expect(nights.all).toEqual([]);
  });

  test('ends in time', async () => {
    const nights = nightsInMemory();
    await remember(aRunState([approved()]), services(nights, 30_000));
    expect(nights.all).toEqual([]);
    await remember(aRunState([approved()]), services(nights, 30_001));
    expect(nights.all).toHaveLength(1);
    expect((await recall([anIndex], services(nights, 30_000))).of(anIndex)).toEqual([]);
    expect((await recall([anIndex], services(nights, 30_001))).of(anIndex)).toHaveLength(1);
  });

  test('leaves defects to the workflow', async () => {
    const broken: Nights = { read: () => Promise.reject(new TypeError('a defect')), write: failing.write };
    await expect(recall(['a'], services(broken))).rejects.toThrow('a defect');
  });
});
