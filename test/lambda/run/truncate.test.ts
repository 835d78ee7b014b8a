import { describe, expect, test } from 'vitest';
import { OperationsError } from '../../../lambda/gms/operations.ts';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import type { Sending, StoredRecord } from '../../../lambda/ledger/record.ts';
import { decisionOf } from '../../../lambda/run/entries.ts';
import type { Decision, RunState } from '../../../lambda/run/state.ts';
import { truncate } from '../../../lambda/run/truncate.ts';
import { anAttempt, anIndex, aSending } from '../../support/records.ts';
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
  const { outcome, cause }: Partial<Decision> = first?.phase === 'done' ? decisionOf(first) : {};
  return { phase: first?.phase, outcome, cause, sent: world.realTruncates().length, next, breaker, callsWithoutTask };
}

test('Where the write before the call fails, a record of another invocation of this step stays: that one may have sent', async () => {
  const { world, state } = await planned();
  const during = world.during('truncate');
  let theirs: Sending | undefined;
  const replace = async (next: StoredRecord) => {
    if (theirs) return during.ledger.replace(next);
    const { attempt } = next as Sending;
    theirs = { ...next, attempt: { ...attempt, sendBy: attempt.sendBy + 1 } } as Sending;
    world.ledger.stored.set(anIndex, theirs);
    throw new LedgerError('no answer');
  };
  const after = await truncate(state, { ...during, ledger: { ...during.ledger, replace } });
  const cause = { kind: 'setup', what: 'ledger' };
  expect(result(world, after)).toMatchObject({ outcome: 'failed', cause, sent: 0, breaker: cause });
  expect(world.ledger.stored.get(anIndex)).toEqual(theirs);
});

describe('Nothing is sent', () => {
  test('by a preview, which approves nothing: a state that says otherwise is a defect', async () => {
    const { world, state } = await planned();
    await expect(truncate({ ...state, mode: 'preview' }, world.during('truncate'))).rejects.toThrow('a preview');
    expect(world.realTruncates()).toEqual([]);
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
    expect(result(world, after)).toMatchObject({
      outcome: 'not-started',
      cause: { kind: 'stopped', by: 'run-time' },
      sent: 0,
    });
  });

  /** The first count of the baseline says 600, whatever is there. */
  const counted = (world: World, meanwhile: () => void = () => {}) => {
    let asked = 0;
    return world.during('truncate', ({ dryRun }) => ({
      dryRun(...given) {
        if (++asked > 1) return dryRun(...given);
        meanwhile();
        return Promise.resolve({ rowsToDelete: 600, rowsTotal: 1000, method: 'delete' });
      },
    }));
  };

  test('where another invocation of this step was first: its call is watched, and counts', async () => {
    const { world, state, own } = await planned();
    const record = aSending({ server, lastSender: own, attempt: anAttempt({ ...own, callError: problem }) });
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
    expect(after.entries[0]).toMatchObject({
      decision: { outcome: 'not-started', cause: { kind: 'changed', what: 'rows', was: 600, now: 300 } },
      plan: { counts: { rowsToDelete: 300, rowsTotal: 500 } },
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
      by: 'schedule',
      approvedRows: undefined,
      maxMissingPercent: 2,
      policyCutoffMillis: cutoffMillis,
      fields: { ...names, cutoffMillis, batchSize: 10_000, timeoutSeconds: 90, forceDeleteByQuery: true },
      announced: 'delete',
      method: 'delete',
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
