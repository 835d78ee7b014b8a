import { describe, expect, test } from 'vitest';
import type { PolicyEntry } from '../../../lambda/facts/report-schema.ts';
import { type LedgerRecord, parseRecord, type StoredRecord, type Unresolved } from '../../../lambda/ledger/record.ts';
import { poll } from '../../../lambda/run/poll.ts';
import type { ApprovedEntry, Entry, RunState, WatchedEntry } from '../../../lambda/run/state.ts';
import { startWatch } from '../../../lambda/truncation/watch.ts';
import { aPolicy } from '../../support/policies.ts';
import {
  aJudged,
  aLastVerdict,
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aRunning,
  aSending,
} from '../../support/records.ts';
import { aRunState } from '../../support/states.ts';
import { server, type World, worlds } from '../../support/world.ts';

/** Poll, called by itself: whose verdict it tells, when it looks, and what it does after a failed Truncate. */

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
  entry: { entityType: 'dataset', aspect: 'operation', rowsToDelete: 600, reindexes: true },
  watch: { ...startWatch(record, now - 20_000, now), ...more },
});

const stateOf = (entries: Entry[], startMillis: number, more: Partial<RunState> = {}): RunState =>
  aRunState(entries, { server, runStartMillis: startMillis, ...more });

/** What became of the only entry, and how many requests that took. */
async function polled(world: World, state: RunState) {
  const before = world.standIn.asked().length;
  const after = await poll(state, world.during('poll'));
  const [entry] = after.entries;
  const { outcome, cause } = (entry?.entry ?? {}) as Partial<PolicyEntry>;
  const decision = entry?.phase === 'done' ? entry.decision : undefined;
  return { after, entry, decision, phase: entry?.phase, outcome, cause, asked: world.standIn.asked().length - before };
}

describe('A record that no longer holds the truncation', () => {
  const others = { runId: 'run-9', runStartMillis: 5 };
  type Own = typeof others;

  test.each<[string, (own: Own) => StoredRecord | undefined, object]>([
    [
      'has its verdict: whoever judged it, that is what this run says',
      (own) => anIdle({ server, lastSender: own, lastVerdict: aLastVerdict(own) }),
      { outcome: 'truncated', cause: { kind: 'verified' } },
    ],
    [
      'has been quarantined for it',
      (own) => aQuarantined({ server, lastVerdict: { ...aQuarantined().lastVerdict, ...own } }),
      { outcome: 'rows-missing', cause: { kind: 'missing' } },
    ],
    [
      'has the verdict of another one',
      () => anIdle({ server, lastVerdict: aLastVerdict(others) }),
      { outcome: 'unknown', cause: { kind: 'superseded' } },
    ],
    [
      'holds another truncation by now',
      () => aRunning({ server, attempt: anAttempt(others) }),
      { outcome: 'unknown', cause: { kind: 'superseded' } },
    ],
    ['is gone: somebody has deleted it', () => undefined, { outcome: 'unknown', cause: { kind: 'record-gone' } }],
    [
      'was released by a person meanwhile',
      () => anIdle({ server, lastRelease: { decided: { ...others, atMillis: 9e15 }, release: {} } }),
      { outcome: 'unknown', cause: { kind: 'released-meanwhile', releasedAt: 9e15 } },
    ],
    [
      'is judged, and to be told: its decision goes into this report',
      (own) => aJudged({ server, lastVerdict: { ...aQuarantined().lastVerdict, ...own } }),
      { outcome: 'rows-missing', cause: { kind: 'missing' }, decision: '1@900000' },
    ],
    [
      'is judged and released: Plan tells the release, and only a report that carries both is marked',
      (own) =>
        aJudged({
          server,
          lastVerdict: { ...aQuarantined().lastVerdict, ...own },
          decision: { ...aJudged().decision, released: true },
        }),
      { outcome: 'rows-missing', cause: { kind: 'missing' }, decision: undefined },
    ],
    [
      'is judged by another version: what this run knows of it stays, that it reindexes above all',
      (own) =>
        parseRecord(anIndex, {
          ...aJudged({ server, lastVerdict: { ...aQuarantined().lastVerdict, ...own } }),
          version: 99,
        }),
      {
        outcome: 'rows-missing',
        cause: { kind: 'decided-by-version' },
        decision: '1@900000',
        entry: { entry: { reindexes: true } },
      },
    ],
    [
      'is an idle one of another version',
      () => parseRecord(anIndex, { ...anIdle({ server }), version: 99 }),
      { outcome: 'unknown', cause: { kind: 'superseded' } },
    ],
    [
      'was taken by another address',
      (own) => aRunning({ server: 'http://elsewhere:1', attempt: anAttempt({ ...own, judgeableAt: 9e15 }) }),
      { outcome: 'in-flight', cause: { kind: 'foreign', why: 'address' } },
    ],
  ])('%s; nothing is asked', async (_, record, expected) => {
    const { world, now, own, running } = await begun();
    const stored = record(own);
    if (stored) world.ledger.stored.set(anIndex, stored.state === 'other-version' ? stored.stored : stored);
    const told = await polled(world, stateOf([watchedEntry(running, now)], own.runStartMillis));
    expect(told).toMatchObject({ phase: 'done', asked: 0, ...expected });
    expect(told.after.next).toBe('report');
  });
});

describe('A look', () => {
  test('is counted, and made when it is due', async () => {
    const { world, now, own, running } = await begun();
    world.ledger.stored.set(anIndex, running);
    const { after, phase, asked } = await polled(world, stateOf([watchedEntry(running, now)], own.runStartMillis));
    expect([phase, after.polls, after.next]).toEqual(['watched', 1, 'wait']);
    expect(asked).toBeGreaterThan(0);
  });

  test.each<[string, number, boolean]>([
    ['in the last quarter of its interval', 5000, true],
    ['earlier', 8000, false],
  ])('is made beside another one %s', async (_, ahead, isMade) => {
    const { world, now, own, running } = await begun();
    world.ledger.stored.set(anIndex, running);
    const entry = watchedEntry(running, now, { nextCheckAt: now + ahead });
    const { asked, after } = await polled(world, stateOf([entry], own.runStartMillis));
    expect(asked > 0).toBe(isMade);
    if (!isMade) expect(after.entries[0]).toEqual(entry);
  });

  test('is made in any case when the run ends', async () => {
    const { world, now, running } = await begun();
    world.ledger.stored.set(anIndex, running);
    const entry = watchedEntry(running, now, { nextCheckAt: now + hour });
    const { asked, phase, after } = await polled(world, stateOf([entry], now - 12 * hour));
    expect(asked).toBeGreaterThan(0);
    expect([phase, after.next]).toEqual(['done', 'report']);
  });

  test('is not begun half a minute before the function’s end: the entry stays as it is', async () => {
    const { world, now, own, running } = await begun();
    world.ledger.stored.set(anIndex, running);
    const entry = watchedEntry(running, now);
    const during = { ...world.during('poll'), deadline: () => now + 30_000 };
    const { entries } = await poll(stateOf([entry], own.runStartMillis), during);
    expect(entries).toEqual([entry]);
    expect(world.standIn.asked()).toEqual([]);
  });

  test('is not made at a call that may still be sent', async () => {
    const { world, now, own, running, attempt } = await begun();
    world.ledger.stored.set(anIndex, aSending({ server, lastSender: own, attempt }));
    const { entry, asked } = await polled(world, stateOf([watchedEntry(running, now)], own.runStartMillis));
    expect([entry?.phase, asked]).toEqual(['watched', 0]);
  });

  test('that shows a copy is in the entry, also where the run ends before its verdict', async () => {
    const { world, now, running } = await begun();
    world.ledger.stored.set(anIndex, running);
    const status = { kind: 'found', completed: false, counters: { total: 400, created: 90 } } as const;
    const state = stateOf([watchedEntry(running, now)], now - 12 * hour);
    const { entries } = await poll(
      state,
      world.during('poll', () => ({ taskStatus: async () => status })),
    );
    expect(entries[0]?.entry).toMatchObject({ outcome: 'still-running', reindexes: true });
  });

  test('teaches the run what the server does not tell', async () => {
    const { world, now, own, running } = await begun();
    world.ledger.stored.set(anIndex, running);
    world.standIn.fault('denied=status');
    const { after } = await polled(world, stateOf([watchedEntry(running, now)], own.runStartMillis));
    expect(after.withoutStatus).toBe(true);
  });
});

describe('After a failed Truncate', () => {
  const approved: ApprovedEntry = {
    index: anIndex,
    phase: 'approved',
    entry: { entityType: 'dataset', aspect: 'operation' },
    policy: aPolicy(),
    plan: { rowsToDelete: 600, deletesInPlace: true },
  };
  const failure = { step: 'truncate', error: 'Sandbox.Timedout' } as const;
  const note = { kind: 'truncate-failed', index: 'dataset.operation', error: 'Sandbox.Timedout' };

  test.each<[string, (given: Awaited<ReturnType<typeof begun>>) => LedgerRecord | undefined, object]>([
    ['that has sent nothing, the run says so', () => undefined, { phase: 'done', outcome: 'failed' }],
    ['that has sent, its task is watched', ({ running }) => running, { phase: 'watched' }],
  ])('%s', async (_, record, expected) => {
    const given = await begun();
    const { world, own } = given;
    const stored = record(given);
    if (stored) world.ledger.stored.set(anIndex, stored);
    const told = await polled(world, stateOf([approved], own.runStartMillis, { failure }));
    expect(told).toMatchObject(expected);
    expect(told.after).toMatchObject({ notes: [note], callsWithoutTask: 0 });
    expect(told.after.failure).toBeUndefined();
    expect(told.after.breaker).toBeUndefined();
  });

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
    expect(after.entries[1]).toMatchObject({ phase: 'done', entry: { outcome: 'not-started' } });
  });

  test('the next index is still truncated', async () => {
    const { world, own } = await begun();
    const second = { ...approved, index: 'chart_chartusagestatisticsaspect_v1' };
    const { after } = await polled(world, stateOf([approved, second], own.runStartMillis, { failure }));
    expect(after.entries.map(({ phase }) => phase)).toEqual(['done', 'approved']);
    expect(after.next).toBe('truncate');
  });

  test('of which nothing is approved any more, only the failure is dropped', async () => {
    const { world, now, own, running } = await begun();
    world.ledger.stored.set(anIndex, running);
    const entry = watchedEntry(running, now, { nextCheckAt: now + hour });
    const { after } = await polled(world, stateOf([entry], own.runStartMillis, { failure }));
    expect([after.failure, after.notes, after.entries]).toEqual([undefined, [], [entry]]);
  });
});

test('A state of another version is not interpreted', async () => {
  const { world, own } = await begun();
  const other = { ...stateOf([], own.runStartMillis), version: 3 } as unknown as RunState;
  await expect(poll(other, world.during('poll'))).rejects.toMatchObject({ name: 'StateUnreadable' });
});
