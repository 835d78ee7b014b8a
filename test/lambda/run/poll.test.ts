import { describe, expect, test } from 'vitest';
import type { PolicyEntry } from '../../../lambda/facts/report-schema.ts';
import type { Unresolved } from '../../../lambda/ledger/record.ts';
import { poll } from '../../../lambda/run/poll.ts';
import type { ApprovedEntry, Entry, RunState, WatchedEntry } from '../../../lambda/run/state.ts';
import { startWatch } from '../../../lambda/truncation/watch.ts';
import { aPolicy } from '../../support/policies.ts';
import { anAttempt, anIndex, aQuarantined, aRunning, aSending } from '../../support/records.ts';
import { aRunState } from '../../support/states.ts';
import { server, type World, worlds } from '../../support/world.ts';

/** Poll, called by itself: when it checks, and what it does after a failed Truncate. */

const open = worlds();
const hour = 3_600_000;

/** A world in which `run-1` has sent a truncate a minute ago. */
async function begun() {
  const world = await open();
  const now = world.clock.time;
  const own = { runId: 'run-1', runStartMillis: now - 60_000 };
  const cutoffMillis = now - 30 * 24 * hour;
  const attempt = anAttempt({
    ...own,
    policyCutoffMillis: cutoffMillis,
    fields: { ...anAttempt().fields, cutoffMillis },
    baseline: { rowsToDelete: 600, rowsTotal: 1000, rowsToKeep: 400, countedAtMillis: now - 30_000 },
    sendingSince: now - 30_000,
    sendBy: now + 30_000,
    judgeableAt: now + 630_000,
  });
  const running = aRunning({ server, lastSender: own, attempt, taskId: 'node:404' });
  return { world, now, own, attempt, running };
}

const watchedEntry = (record: Unresolved, now: number, more: object = {}): WatchedEntry => ({
  index: anIndex,
  phase: 'watched',
  facts: { entityType: 'dataset', aspect: 'operation', rowsToDelete: 600, reindexes: true },
  watch: { ...startWatch(record, now - 20_000, now), ...more },
});

const stateOf = (entries: Entry[], startMillis: number, more: Partial<RunState> = {}): RunState =>
  aRunState(entries, { server, runStartMillis: startMillis, ...more });

/** What became of the only entry, and how many requests that took. */
async function polled(world: World, state: RunState) {
  const before = world.standIn.asked().length;
  const after = await poll(state, world.during('poll'));
  const [entry] = after.entries;
  const { outcome, cause } = (entry?.facts ?? {}) as Partial<PolicyEntry>;
  return { after, entry, phase: entry?.phase, outcome, cause, asked: world.standIn.asked().length - before };
}

test('A record that no longer holds the truncation settles its entry, and nothing is asked', async () => {
  const { world, now, own, running } = await begun();
  world.ledger.stored.set(
    anIndex,
    aQuarantined({ server, unreported: true, lastVerdict: { ...aQuarantined().lastVerdict, ...own } }),
  );
  const settled = await polled(world, stateOf([watchedEntry(running, now)], own.runStartMillis));
  expect(settled).toMatchObject({ phase: 'done', outcome: 'rows-missing', asked: 0, entry: { mark: { revision: 1 } } });
  expect(settled.after).toMatchObject({ next: 'report', breaker: { by: 'breaker', outcome: 'rows-missing' } });
});

test('A record that has become one of another address is left alone: its counts would say nothing', async () => {
  const { world, now, own, running } = await begun();
  world.ledger.stored.set(anIndex, { ...running, server: 'http://elsewhere:1' });
  const settled = await polled(world, stateOf([watchedEntry(running, now)], own.runStartMillis));
  expect(settled).toMatchObject({ phase: 'done', outcome: 'still-running', cause: { why: 'address' }, asked: 0 });
});

describe('A check', () => {
  test('is not begun half a minute before the function’s end: the entry stays as it is', async () => {
    const { world, now, own, running } = await begun();
    world.ledger.stored.set(anIndex, running);
    const entry = watchedEntry(running, now);
    const during = { ...world.during('poll'), deadline: () => now + 30_000 };
    const { entries } = await poll(stateOf([entry], own.runStartMillis), during);
    expect(entries).toEqual([entry]);
    expect(world.standIn.asked()).toEqual([]);
  });

  test('that shows a reindex is in the entry, also where the run ends before its verdict', async () => {
    const { world, now, running } = await begun();
    world.ledger.stored.set(anIndex, running);
    const status = { kind: 'found', completed: false, counters: { total: 400, created: 90 } } as const;
    const state = stateOf([watchedEntry(running, now)], now - 12 * hour);
    const { entries } = await poll(
      state,
      world.during('poll', () => ({ taskStatus: async () => status })),
    );
    expect(entries[0]?.facts).toMatchObject({ outcome: 'still-running', reindexes: true });
  });
});

describe('After a failed Truncate', () => {
  const approved: ApprovedEntry = {
    index: anIndex,
    phase: 'approved',
    facts: { entityType: 'dataset', aspect: 'operation' },
    policy: aPolicy(),
    plan: { rowsToDelete: 600, deletesInPlace: true },
  };
  const failure = { step: 'truncate', error: 'Sandbox.Timedout' } as const;

  test.each([
    [undefined, undefined],
    [504, undefined],
    [401, { kind: 'stopped', by: 'no-task-ids', status: 401 }],
  ])('whose call may have been sent (answer %s), that counts as a call without a task id', async (status, breaker) => {
    const { world, own, attempt } = await begun();
    const answer = status && ({ kind: 'server-error', operation: 'truncate', status } as const);
    const record = aSending({ server, lastSender: own, attempt: { ...attempt, ...(answer && { answer }) } });
    world.ledger.stored.set(anIndex, record);
    const { after, phase } = await polled(world, stateOf([approved], own.runStartMillis, { failure }));
    expect(phase).toBe('watched');
    expect(after.callsWithoutTask).toBe(1);
    expect(after.breaker).toEqual(breaker);
  });

  test('whose hung function writes down a refusal later, nothing more is started', async () => {
    const { world, now, own, attempt } = await begun();
    const answer = { kind: 'server-error', operation: 'truncate', status: 403 } as const;
    const record = aSending({ server, lastSender: own, attempt: { ...attempt, judgeableAt: now, answer } });
    world.ledger.stored.set(anIndex, record);
    const second = { ...approved, index: 'chart_chartusagestatisticsaspect_v1' };
    const entries = [watchedEntry(record, now), second];
    const { after } = await polled(world, stateOf(entries, own.runStartMillis, { callsWithoutTask: 1 }));
    expect(after.breaker).toEqual({ kind: 'stopped', by: 'no-task-ids', status: 403 });
    expect(after.entries[1]).toMatchObject({ phase: 'done', facts: { outcome: 'not-started' } });
  });

  test('of which nothing is approved any more, only the failure is dropped', async () => {
    const { world, now, own, running } = await begun();
    world.ledger.stored.set(anIndex, running);
    const entry = watchedEntry(running, now, { nextCheckAt: now + hour });
    const { after } = await polled(world, stateOf([entry], own.runStartMillis, { failure }));
    expect([after.failure, after.notes, after.entries]).toEqual([undefined, [], [entry]]);
  });
});
