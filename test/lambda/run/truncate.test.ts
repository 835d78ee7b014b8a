import { describe, expect, test } from 'vitest';
import type { PolicyEntry } from '../../../lambda/facts/report-schema.ts';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import { type LedgerRecord, parseRecord, type Sending, type StoredRecord } from '../../../lambda/ledger/record.ts';
import { fence } from '../../../lambda/ledger/transitions.ts';
import { OperationsError } from '../../../lambda/operations/operations.ts';
import type { RunState } from '../../../lambda/run/state.ts';
import { truncate } from '../../../lambda/run/truncate.ts';
import {
  aLastVerdict,
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aReleased,
  aRunning,
  aSending,
} from '../../support/records.ts';
import { aPolicyFor, server, type World, worlds } from '../../support/world.ts';

/** The step that sends, called by itself after a Plan that has approved 600 of 1,000 rows. */

const open = worlds();
const hour = 3_600_000;
const problem = { kind: 'server-error', operation: 'truncate', status: 504 } as const;

async function planned(options: Parameters<typeof open>[0] = {}) {
  const world = await open({ policies: [aPolicyFor('operation')], ...options });
  const state = await world.plan();
  const own = { runId: 'run-1', runStartMillis: world.clock.time };
  return { world, state, own };
}

/** What became of the first entry, and whether the server was asked to delete. */
function result(world: World, { entries, next, breaker, callsWithoutTask }: RunState) {
  const [first] = entries;
  const { outcome, cause } = (first?.facts ?? {}) as Partial<PolicyEntry>;
  return { phase: first?.phase, outcome, cause, sent: world.realTruncates().length, next, breaker, callsWithoutTask };
}

describe('Nothing is sent to an index that is not free, and its record stays as it is', () => {
  test.each<[string, LedgerRecord, string]>([
    ['that is quarantined', aQuarantined({ server }), 'quarantined'],
    ['whose verdict is unreported', anIdle({ server, unreported: true, lastVerdict: aLastVerdict() }), 'truncated'],
    ['whose release is unreported', aReleased({ server }), 'not-started'],
    ['with a truncation of another address', aRunning({ server: 'http://elsewhere:1' }), 'still-running'],
    ['that cannot be read', { ...anIdle({ server }), lastSender: 5 } as unknown as LedgerRecord, 'unknown'],
  ])('%s', async (_, record, outcome) => {
    const { world, state } = await planned();
    world.ledger.stored.set(anIndex, record);
    const after = await truncate(state, world.during('truncate'));
    expect(result(world, after)).toMatchObject({ phase: 'done', outcome, sent: 0, callsWithoutTask: 0 });
    expect(world.ledger.stored.get(anIndex)).toEqual(record);
  });

  test.each([
    ['is watched', aSending, 'watched'],
    ['was judged by another run meanwhile, and a redriven execution does not know of it', aQuarantined, 'done'],
  ])('with a refused call of its own, which %s, and the run starts nothing more', async (_, aRecord, phase) => {
    const { world, state, own } = await planned();
    const answer = { ...problem, status: 403 };
    const attempt = anAttempt({ ...own, judgeableAt: world.clock.time + hour, answer });
    world.ledger.stored.set(anIndex, aRecord({ server, lastSender: own, attempt }));
    const after = await truncate(state, world.during('truncate'));
    expect(result(world, after)).toMatchObject({ phase, sent: 0, callsWithoutTask: 1 });
    expect(after.breaker).toEqual({ kind: 'stopped', by: 'no-task-ids', status: 403 });
  });

  test.each<[string, LedgerRecord | object, string]>([
    ['a free one', anIdle({ server, revision: 7 }), 'still-running'],
    ['one that cannot be read', { ...anIdle({ server }), lastSender: 5 }, 'unknown'],
  ])('whose record becomes %s between the read and the write', async (_, record, outcome) => {
    const world = await open({ policies: [aPolicyFor('operation')] });
    const does = async () => void world.ledger.stored.set(anIndex, record);
    const { report } = await world.run({ interruption: { at: 'sending', does } });
    expect(report?.policies[0]?.outcome).toBe(outcome);
    expect(world.realTruncates()).toEqual([]);
    expect(parseRecord(anIndex, world.ledger.stored.get(anIndex))).toEqual(parseRecord(anIndex, record));
  });
});

describe('Where the ledger fails in the write before the call, nothing is sent, and the record', () => {
  const failing = async (arrives: (next: StoredRecord) => StoredRecord) => {
    const { world, state } = await planned();
    const during = world.during('truncate');
    let writes = 0;
    const replace = async (next: StoredRecord) => {
      if (++writes > 1) return during.ledger.replace(next);
      world.ledger.stored.set(anIndex, arrives(next));
      throw new LedgerError('no answer');
    };
    const after = await truncate(state, { ...during, ledger: { ...during.ledger, replace } });
    const cause = { kind: 'setup', what: 'ledger' };
    expect(result(world, after)).toMatchObject({ outcome: 'failed', cause, sent: 0, breaker: cause });
    return world.ledger.stored.get(anIndex);
  };

  test('is free again if the write has arrived', async () => {
    const verdict = { outcome: 'not-started' };
    expect(await failing((next) => next)).toMatchObject({ state: 'idle', revision: 2, lastVerdict: { verdict } });
  });

  test('stays that of another invocation of this step, which may have sent', async () => {
    let theirs: StoredRecord | undefined;
    const stored = await failing((next) => {
      const { attempt } = next as Sending;
      theirs = { ...next, attempt: { ...attempt, sendBy: attempt.sendBy + 1 } } as Sending;
      return theirs;
    });
    expect(stored).toEqual(theirs);
  });
});

test('A call of which no byte was written leaves its index free, also where another run has fenced itself off meanwhile', async () => {
  const { world, state } = await planned();
  const other = { runId: 'run-2', runStartMillis: world.clock.time + 1000 };
  const during = world.during('truncate', () => ({
    async truncate() {
      const stored = world.ledger.stored.get(anIndex) as Sending;
      await world.ledger.replace(fence(stored, stored as Required<Sending>, other, world.clock.time) ?? stored);
      return { kind: 'not-sent', why: 'withheld' } as const;
    },
  }));
  await truncate(state, during);
  expect(world.ledger.stored.get(anIndex)).toMatchObject({ state: 'idle', lastSender: other, revision: 3 });
});

describe('Nothing is sent', () => {
  test('by a preview, which approves nothing: a state that says otherwise is a defect', async () => {
    const { world, state } = await planned();
    await expect(truncate({ ...state, mode: 'preview' }, world.during('truncate'))).rejects.toThrow('a preview');
    expect(world.realTruncates()).toEqual([]);
  });

  const late = { outcome: 'not-started', cause: { kind: 'stopped', by: 'run-time' }, sent: 0 };
  test('by a function that has too little time left for the answer, and nothing is asked', async () => {
    const { world, state } = await planned();
    const before = world.standIn.asked().length;
    const during = world.during('truncate');
    const deadline = during.deadline() - 450_001;
    const after = await truncate(state, { ...during, deadline: () => deadline });
    expect(result(world, after)).toMatchObject(late);
    expect(world.standIn.asked().length).toBe(before);
  });

  test('where the time ends while it counts: the run says so, not that the server failed', async () => {
    const { world, state } = await planned();
    const during = world.during('truncate', ({ dryRun }) => ({
      async dryRun(...given) {
        const counted = await dryRun(...given);
        world.clock.time = during.deadline() - 150_000;
        return counted;
      },
    }));
    expect(result(world, await truncate(state, during))).toMatchObject(late);
    expect(world.ledger.stored.size).toBe(0);
  });

  test('where its time ends while the server is asked', async () => {
    const { world, state } = await planned();
    const during = world.during('truncate', () => ({
      async dryRun(_, { signal } = {}) {
        if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
        throw new OperationsError({ kind: 'aborted', operation: 'dry-run' });
      },
    }));
    // Its signal fires in real time, a moment later.
    const after = await truncate(state, { ...during, deadline: () => world.clock.time + 150_000 + 5 });
    expect(result(world, after)).toMatchObject(late);
  });

  test('where no count of the baseline knows the index', async () => {
    const absent = new OperationsError({ kind: 'no-index', operation: 'dry-run', status: 500 });
    const { world, state } = await planned();
    let asked = 0;
    const during = world.during('truncate', ({ dryRun }) => ({
      dryRun: (...given) => (++asked <= 2 ? Promise.reject(absent) : dryRun(...given)),
    }));
    const cause = { kind: 'server', error: { kind: 'no-index' }, sent: 'no' };
    expect(result(world, await truncate(state, during))).toMatchObject({ outcome: 'failed', cause, sent: 0 });
    expect(world.ledger.stored.size).toBe(0);
  });

  /** The first count of the baseline says 600, whatever is there. */
  const counted = (world: World, meanwhile: () => void = () => {}) => {
    let asked = 0;
    return world.during('truncate', ({ dryRun }) => ({
      dryRun(...given) {
        if (++asked > 1) return dryRun(...given);
        meanwhile();
        return Promise.resolve({ rowsToDelete: 600, rowsTotal: 1000, deletesInPlace: true });
      },
    }));
  };

  test('where another invocation of this step was first: its call is watched, and counts', async () => {
    const { world, state, own } = await planned();
    const record = aSending({ server, lastSender: own, attempt: anAttempt({ ...own, answer: problem }) });
    world.standIn.removeRows('dataset.operation', ({ id }) => id % 2 === 0);
    const during = counted(world, () => world.ledger.stored.set(anIndex, record));
    expect(result(world, await truncate(state, during))).toMatchObject({
      phase: 'watched',
      sent: 0,
      callsWithoutTask: 1,
    });
  });

  test('where the last dry run has other counts: the report has those', async () => {
    const { world, state } = await planned();
    world.standIn.removeRows('dataset.operation', ({ id }) => id % 2 === 0);
    const after = await truncate(state, counted(world));
    expect(after.entries[0]?.facts).toMatchObject({
      outcome: 'not-started',
      cause: { kind: 'changed', what: 'rows', was: 600, now: 300 },
      rowsToDelete: 300,
      rowsTotal: 500,
    });
  });
});

test('The record of a call holds what a verdict needs: what was sent and counted, until when it may be sent', async () => {
  const { world, state, own } = await planned({ policies: [aPolicyFor('operation', { timeoutSeconds: 90 })] });
  let before: Sending | undefined;
  const during = world.during('truncate', (real) => ({
    truncate(...given) {
      before = structuredClone(world.ledger.stored.get(anIndex)) as Sending;
      return real.truncate(...given);
    },
  }));
  await truncate(state, during);
  const now = world.clock.time;
  const cutoffMillis = now - 30 * 24 * hour;
  const names = { entityType: 'dataset', aspect: 'operation' };
  expect(before).toEqual({
    ...names,
    ...{ index: anIndex, server, revision: 1, state: 'sending', unreported: false, lastSender: own },
    attempt: {
      ...own,
      retentionDays: 30,
      policyCutoffMillis: cutoffMillis,
      fields: { ...names, cutoffMillis, batchSize: 10_000, timeoutSeconds: 90, forceDeleteByQuery: true },
      announcesReindex: false,
      reindexes: false,
      baseline: {
        ...{ rowsToDelete: 600, rowsTotal: 1000, rowsToKeep: 400, countedAtMillis: now },
        indexName: expect.stringContaining(anIndex),
      },
      sendingSince: now,
      sendBy: now + 60_000,
      judgeableAt: now + 660_000,
    },
  });
});

test('Where no dry run of Plan has shown that the field is refused, it is sent', async () => {
  const { world, state } = await planned();
  await truncate({ ...state, refusesForceField: undefined }, world.during('truncate'));
  expect(world.realTruncates()).toMatchObject([{ forceDeleteByQuery: true }]);
});

test('What a server does not tell is not asked again in this run', async () => {
  const { world, state } = await planned();
  world.standIn.fault('denied=sizes');
  const after = await truncate(state, world.during('truncate'));
  expect([state.withoutSizes, after.withoutSizes]).toEqual([undefined, true]);
});
