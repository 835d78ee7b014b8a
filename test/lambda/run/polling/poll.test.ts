import { describe, expect, test } from 'vitest';
import type { DecidedFacts } from '../../../../lambda/facts/report-schema.ts';
import { memoryLedger } from '../../../../lambda/ledger/memory.ts';
import { LEDGER_VERSION, type StoredRecord } from '../../../../lambda/ledger/record.ts';
import { nightsInMemory } from '../../../../lambda/memory/night.ts';
import { OperationsError, type TruncateFields } from '../../../../lambda/operations/operations.ts';
import { poll } from '../../../../lambda/run/poll.ts';
import type { RunServices } from '../../../../lambda/run/services.ts';
import type { ApprovedEntry, DoneEntry, Entry, RunState, WatchedEntry } from '../../../../lambda/run/state.ts';
import { aPolicy } from '../../../support/policies.ts';
import {
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aReserved,
  aRunning,
  aSending,
  aSentAttempt,
  aVerdict,
} from '../../../support/records.ts';
import { aRunState } from '../../../support/states.ts';

/** Poll with only the ledger: what a Truncate that ended without a state has done, and what a verdict changes. */

const start = Date.parse('2026-03-01T03:30:00.000Z');
const hour = 3_600_000;
const server = 'https://gms.example.com';
const us = { runId: 'run-1', runStartMillis: start };
const them = { runId: 'run-9', runStartMillis: 1 };
const now = start + hour;
const target: ApprovedEntry = {
  index: anIndex,
  phase: 'approved',
  entry: { entityType: 'dataset', aspect: 'operation' },
  policy: aPolicy(),
  plan: { rowsToDelete: 5, strategy: 'delete-by-query' },
};

interface World {
  entries?: Entry[];
  record?: StoredRecord | object;
  state?: Partial<RunState>;
  time?: number;
  left?: number;
  /** This many writes fail. */
  failing?: number;
  /** What another run writes after the first read. */
  next?: StoredRecord;
  operations?: object;
  hasNights?: boolean;
}
async function polled({
  entries = [target],
  record,
  state = {},
  time = now,
  left = 900_000,
  failing = 0,
  next,
  operations = {},
  hasNights = true,
}: World) {
  const ledger = memoryLedger();
  if (record) ledger.stored.set(anIndex, record);
  const nights = nightsInMemory();
  const log: unknown[] = [];
  let reads = 0;
  let writes = 0;
  const services = {
    settings: { stage: 's', gmsUrl: server, mode: 'enforce', minRetentionDays: 7, maxRunHours: 12 },
    ledger: {
      ...ledger,
      read: async (index: string) => {
        const record = await ledger.read(index);
        if (++reads === 1 && next) ledger.stored.set(index, next);
        return record;
      },
      replace: async (...given: Parameters<typeof ledger.replace>) =>
        ++writes <= failing ? false : ledger.replace(...given),
    },
    operations,
    ...(hasNights && { nights }),
    clock: { now: () => time, realNow: () => time, monotonic: () => time },
    log: { info: (...line: unknown[]) => log.push(line), warn: (...line: unknown[]) => log.push(line), error() {} },
    newId: () => 'fence',
    deadline: () => time + left,
  } as unknown as RunServices;
  const after = await poll(aRunState(entries, { server, ...state }), services);
  return { after, log, nights: nights.all, reads: () => reads, stored: ledger.stored.get(anIndex) };
}

describe('after a Truncate that ended without a state', () => {
  const failure = { step: 'truncate', error: 'X' } as const;
  const failed = (world: World) => polled({ ...world, state: { failure, ...world.state } });
  const wasFenced = {
    phase: 'done',
    entry: { outcome: 'failed', cause: { kind: 'step-failed', error: 'X', sent: 'no' } },
  };

  test('its turn is counted once, and its failure is logged', async () => {
    const { after, log } = await failed({});
    expect(after).toMatchObject({
      turns: { truncate: 1, poll: 1 },
      notes: [{ kind: 'truncate-failed', index: 'dataset.operation', error: 'X' }],
      next: 'report',
    });
    expect(after).not.toHaveProperty('failure');
    expect(log).toEqual([['truncate failed', { index: anIndex, error: 'X', phase: 'done' }]]);
    const later = await failed({ state: { failure: { ...failure, sendsUntil: now } } });
    expect(later.after.turns).toEqual({ truncate: 0, poll: 1 });
    expect((await polled({})).after.turns).toEqual({ truncate: 0, poll: 1 });
  });

  test('the failure is dropped if nothing is left to start', async () => {
    const { after } = await failed({ entries: [] });
    expect([after.notes, 'failure' in after]).toEqual([[], false]);
  });

  test('the failure concerns the entry whose turn it was', async () => {
    const decided: DoneEntry = { index: 'b', phase: 'done', entry: aVerdict().entry };
    const { after } = await failed({ entries: [decided, target, { ...target, index: 'later' }] });
    expect(after.entries).toMatchObject([decided, wasFenced, { ...target, index: 'later' }]);
  });

  test('a run without a failure is unchanged', async () => {
    const { after, stored } = await polled({});
    expect([after.entries, after.notes, stored]).toEqual([[target], [], undefined]);
  });

  const ours = anAttempt({ ...us, reservedAt: now, sendBy: now + hour });
  const theirs = aSending({ server, attempt: aSentAttempt({ ...them, sendBy: now + hour }) });
  const sentBy = [{ ...us, at: now }];

  test.each<[string, StoredRecord | undefined]>([
    ['there is no record', undefined],
    ['the record is free', anIdle({ server })],
    ['it has only reserved', aReserved({ server, attempt: ours })],
    ['it was fenced off before', anIdle({ server, sentBy: [{ ...us, at: now, fenced: true }] })],
    ['another run’s reservation is over', aReserved({ server, attempt: anAttempt({ ...them, sendBy: now }) })],
    ['another version has left the record idle', anIdle({ server, version: 2 as never })],
    ['another version’s reservation is over', aReserved({ server, version: 2 as never, judgeableAt: now })],
  ])('it is fenced off if %s', async (_, record) => {
    const { after, stored } = await failed({ ...(record && { record }) });
    expect(after.entries).toMatchObject([wasFenced]);
    expect(stored).toMatchObject({
      version: LEDGER_VERSION,
      state: 'idle',
      attemptId: 'fence',
      sentBy: [{ ...us, fenced: true }],
    });
  });

  test.each<[string, StoredRecord, object]>([
    [
      'its verdict is there',
      anIdle({ server, lastVerdict: aVerdict(us) }),
      { phase: 'done', entry: { outcome: 'truncated' } },
    ],
    [
      'it has sent, and another run has closed it',
      anIdle({ server, sentBy }),
      { phase: 'done', entry: { outcome: 'in-flight', cause: { kind: 'held', state: 'closed' } } },
    ],
    [
      'it may have sent',
      aSending({ server, attempt: aSentAttempt(us) }),
      { phase: 'watched', watch: { nextLookAt: now + 10_000 } },
    ],
  ])('nothing is changed if %s', async (_, record, expected) => {
    const { after, stored } = await failed({ record });
    expect(after.entries).toMatchObject([expected]);
    expect(stored).toEqual(record);
  });

  test('a closed index stays closed, and its Truncate cannot send', async () => {
    const { after, stored } = await failed({ record: aQuarantined({ server }) });
    expect(after.entries).toMatchObject([{ entry: { outcome: 'quarantined', cause: { kind: 'quarantined' } } }]);
    expect(stored).toMatchObject({ state: 'quarantined', attemptId: 'fence', sentBy: [{ ...us, fenced: true }] });
  });

  const otherVersion = { version: 9, state: 'sending', index: anIndex };

  test.each<[string, object, object]>([
    ['another run', theirs, { kind: 'held', state: 'sending', runId: 'run-9' }],
    ['another version', otherVersion, { kind: 'foreign', why: 'version' }],
  ])('if %s holds the index, the failure is kept until it can no longer send', async (_, record, cause) => {
    const waiting = await failed({ record });
    expect(waiting.after).toMatchObject({
      failure: { ...failure, sendsUntil: now + 450_000 },
      entries: [target],
      next: 'wait',
    });
    const sendsUntil = now + 450_000;
    const until = (time: number) => failed({ record, time, state: { failure: { ...failure, sendsUntil } } });
    expect((await until(sendsUntil - 1)).after.failure).toEqual({ ...failure, sendsUntil });
    const over = await until(sendsUntil);
    expect(over.after.entries).toMatchObject([{ entry: { outcome: 'in-flight', cause } }]);
    expect(over.after).not.toHaveProperty('failure');
  });

  test('it can no longer send when its run is over', async () => {
    const { after } = await failed({ record: theirs, time: start + 12 * hour });
    expect(after.entries).toMatchObject([{ entry: { outcome: 'in-flight' } }]);
  });

  test('its call counts as one without a task id, unless the ledger has the task', async () => {
    const sent = aSending({ server, attempt: aSentAttempt(us) });
    expect((await failed({ record: sent })).after.callsWithoutTask).toBe(1);
    const answer = { error: { kind: 'forbidden', operation: 'truncate', status: 403 }, realAt: now } as const;
    const refused = aSending({ server, attempt: aSentAttempt({ ...us, answer }) });
    expect((await failed({ record: refused })).after.breaker).toMatchObject({ by: 'no-task-ids', status: 403 });
    const known = aRunning({ server, attempt: { ...aSentAttempt(us), taskId: 'node:1', answeredRealAt: now } });
    const { after } = await failed({ record: known });
    expect(after.entries).toMatchObject([{ phase: 'watched' }]);
    expect(after).not.toHaveProperty('callsWithoutTask');
  });

  test.each<[string, StoredRecord]>([
    ['has closed it', anIdle({ server, lastVerdict: aVerdict(us) })],
    ['is truncating it', theirs],
  ])('its call is not counted if another run meanwhile %s', async (_, next) => {
    const { after } = await failed({ record: aSending({ server, attempt: aSentAttempt(us) }), next });
    expect(after.notes).toMatchObject([{ kind: 'truncate-failed' }]);
    expect(after).not.toHaveProperty('callsWithoutTask');
  });

  test('a record that keeps changing is read again, and finally left to the workflow', async () => {
    const twice = await failed({ failing: 2 });
    expect([twice.reads(), twice.after.entries]).toMatchObject([3, [wasFenced]]);
    await expect(failed({ failing: 3 })).rejects.toThrow(`the ledger record of ${anIndex} kept changing`);
  });
});

describe('a verdict', () => {
  const watched = (more: Partial<WatchedEntry> = {}, adopted = false): WatchedEntry => ({
    index: anIndex,
    phase: 'watched',
    entry: { entityType: 'dataset', aspect: 'operation', ...(adopted && { adopted }) },
    watch: { attemptId: 'a', startedAt: start, succeededAt: start, lastLookAt: start, nextLookAt: now, looks: 3 },
    ...more,
  });
  const found: DecidedFacts = {
    ...aVerdict().entry,
    rowsTotal: 1000,
    rowsToDelete: 600,
    rowsDeleted: 590,
    sizeBeforeMb: 3,
    sizeAfterMb: 2,
    indexName: 'i',
    durationSeconds: 61,
  };
  const verdictOf = (entry: DecidedFacts) =>
    anIdle({ server, lastVerdict: aVerdict({ ...us, attemptId: 'a', entry }) });
  const told = async (entry: DecidedFacts, adopted = false) => {
    const { nights, after } = await polled({ entries: [watched({}, adopted)], record: verdictOf(entry) });
    expect(after.entries).toMatchObject([{ phase: 'done', entry: { outcome: entry.outcome } }]);
    return nights;
  };
  const night = { index: anIndex, night: '2026-03-01T03:30:00.000Z', outcome: 'truncated' };
  const rest = { name: 'i', deleted: 590, rowsLeft: 410, mbLeft: 2, seconds: 61 };

  test('is remembered with the rows before it and after it', async () => {
    expect(await told(found)).toStrictEqual([{ ...night, ...rest, rows: 1000, overdue: 600, mb: 3 }]);
    expect(await told({ ...found, rowsPastRetention: 700 })).toMatchObject([{ overdue: 700 }]);
    expect(await told({ ...found, strategy: 'reindex' })).toStrictEqual([
      { ...night, ...rest, rows: 1000, overdue: 600, mb: 3, copied: 400 },
    ]);
    expect(await told({ ...found, rowsMissing: 400 })).toMatchObject([{ rowsLeft: 10 }]);
    expect(await told({ ...found, strategy: 'delete-by-query' })).not.toHaveProperty('0.copied');
  });

  test('of an earlier run’s truncation is remembered by its outcome', async () => {
    expect(await told(found, true)).toStrictEqual([{ ...night, ...rest }]);
  });

  test('with few facts is remembered by those', async () => {
    expect(await told(aVerdict().entry)).toStrictEqual([{ ...night, deleted: 0 }]);
    expect(await told({ ...aVerdict().entry, strategy: 'reindex' })).toStrictEqual([{ ...night, deleted: 0 }]);
    expect(await told({ ...aVerdict().entry, rowsTotal: 5 })).toStrictEqual([
      { ...night, rows: 5, overdue: 0, deleted: 0 },
    ]);
  });

  test('is given without a memory', async () => {
    const { after } = await polled({ entries: [watched()], record: verdictOf(found), hasNights: false });
    expect(after.entries).toMatchObject([{ phase: 'done' }]);
  });

  test('needs a look that is due, and time for it', async () => {
    const phase = async (world: World) =>
      (await polled({ entries: [watched()], record: verdictOf(found), ...world })).after.entries[0]?.phase;
    expect(await phase({})).toBe('done');
    expect(await phase({ left: 30_001 })).toBe('done');
    expect(await phase({ left: 30_000 })).toBe('watched');
    const later = { ...watched().watch, lastLookAt: now, nextLookAt: now + 60_000 };
    expect(await phase({ entries: [watched({ watch: later })] })).toBe('watched');
  });

  test('is looked for once more when the run ends, due or not, if the truncation is old', async () => {
    const end = start + 12 * 3_600_000;
    const outcome = async (startedAt: number) => {
      const watch = { ...watched().watch, startedAt, lastLookAt: end - 1000, nextLookAt: end + 1_800_000 };
      const { after } = await polled({ entries: [watched({ watch })], record: verdictOf(found), time: end });
      return (after.entries[0] as DoneEntry).entry.outcome;
    };
    expect(await outcome(start - 20 * 3_600_000)).toBe(found.outcome);
    expect(await outcome(start - 20 * 3_600_000 + 1)).toBe('still-running');
  });

  const bad: DoneEntry = {
    index: 'b',
    phase: 'done',
    entry: { ...found, outcome: 'rows-missing', cause: { kind: 'missing', expected: 9, found: 1 } },
  };

  test('that is bad opens the breaker, unless one is open', async () => {
    const breaker = { kind: 'stopped', by: 'breaker', index: 'dataset.operation', outcome: 'rows-missing' };
    expect((await polled({ entries: [bad] })).after.breaker).toEqual(breaker);
    const after = {
      ...found,
      outcome: 'rows-missing',
      cause: { kind: 'missing', expected: 9, found: 1 },
    } as const;
    expect((await polled({ entries: [target, watched()], record: verdictOf(after) })).after.breaker).toEqual(breaker);
    expect((await polled({ entries: [bad], state: { breaker: { kind: 'paused' } } })).after.breaker).toEqual({
      kind: 'paused',
    });
    expect((await polled({ entries: [target, watched()], record: verdictOf(found) })).after).not.toHaveProperty(
      'breaker',
    );
  });
});

test('an index that cannot be counted is closed at the end if another index of the run answers', async () => {
  const end = start + 12 * hour;
  const attempt = aSentAttempt({ ...them, sendingSince: 0 });
  const record = aSending({ server, attemptId: 'a', attempt });
  const watch = { attemptId: 'a', startedAt: 0, succeededAt: 0, lastLookAt: 0, nextLookAt: 0, looks: 3 };
  const old: WatchedEntry = { ...target, phase: 'watched', watch };
  const asked: string[] = [];
  const operations = {
    async dryRun({ aspect, endTimeMillis }: TruncateFields) {
      if (endTimeMillis === 0) asked.push(aspect);
      if (aspect === 'operation') throw new OperationsError({ kind: 'timeout', operation: 'dry-run' });
      return { rowsToDelete: 0, rowsTotal: 9 };
    },
    async indexSizes() {
      throw new OperationsError({ kind: 'timeout', operation: 'index-sizes' });
    },
  };
  const outcome = async (...others: Entry[]) => {
    const { after } = await polled({ entries: [old, ...others], record, time: end, operations });
    return (after.entries[0] as DoneEntry).entry;
  };
  const profile: DoneEntry = { index: 'b', phase: 'done', entry: { ...aVerdict().entry, aspect: 'datasetProfile' } };
  expect(await outcome()).toMatchObject({ outcome: 'still-running' });
  expect(await outcome(profile)).toMatchObject({ outcome: 'unknown', cause: { why: 'uncountable' } });
  expect(asked).toEqual(['datasetProfile']);
});
