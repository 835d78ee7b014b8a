import { describe, expect, test } from 'vitest';
import type { PolicyEntry } from '../../../../lambda/facts/report-schema.ts';
import { LEDGER_VERSION, type LedgerRecord } from '../../../../lambda/ledger/record.ts';
import { ParametersError, type RunServices } from '../../../../lambda/run/services.ts';
import type { Entry } from '../../../../lambda/run/state.ts';
import {
  aJudged,
  aLastVerdict,
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aRunning,
  aSending,
  aVerdict,
} from '../../../support/records.ts';
import { aPolicyFor, server, type World, worlds } from '../../../support/world.ts';

/** What Plan makes of records that earlier runs have left: of indices with a policy, and of others. */

const open = worlds();
const hour = 3_600_000;
const profileIndex = 'dataset_datasetprofileaspect_v1';

async function world(options: Parameters<typeof open>[0] = {}) {
  const opened = await open({ policies: [aPolicyFor('operation')], ...options });
  const now = opened.clock.time;
  const other = { runId: 'run-0', runStartMillis: now - 24 * hour };
  const attempt = anAttempt({
    ...other,
    policyCutoffMillis: now - 31 * 24 * hour,
    fields: { ...anAttempt().fields, cutoffMillis: now - 31 * 24 * hour },
    sendingSince: now - 2 * hour,
    sendBy: now - 2 * hour + 60_000,
    judgeableAt: now - hour,
  });
  return { world: opened, now, attempt, fields: { server, lastSender: other, attempt } };
}

type Services = Omit<RunServices, 'deadline'>;

const told = (entry: Entry | undefined) => {
  const { outcome, cause, resumed } = (entry?.entry ?? {}) as Partial<PolicyEntry>;
  return { phase: entry?.phase, outcome, cause, resumed };
};

describe('What is unresolved', () => {
  test('is watched from now on, and reported by what its record says', async () => {
    const { world: opened, now, fields } = await world();
    opened.ledger.stored.set(anIndex, aRunning({ ...fields, taskId: 'n:7' }));
    const state = await opened.plan();
    const [entry] = state.entries;
    expect(entry).toMatchObject({
      phase: 'watched',
      entry: {
        resumed: true,
        taskId: 'n:7',
        rowsToDelete: 60,
        rowsTotal: 100,
        strategy: 'delete-by-query',
        reindexes: false,
      },
      watch: { nextCheckAt: now, lastCheckAt: now, sentAt: now - 2 * hour },
    });
    expect(state).toMatchObject({ next: 'wait', waitSeconds: 1 });
  });

  test('and may still be sent is in flight, until when it may be judged', async () => {
    const { world: opened, now, attempt, fields } = await world();
    const judgeableAt = now + 1;
    opened.ledger.stored.set(anIndex, aSending({ ...fields, attempt: { ...attempt, judgeableAt } }));
    const { entries } = await opened.plan();
    expect(told(entries[0])).toMatchObject({
      phase: 'done',
      outcome: 'in-flight',
      cause: { kind: 'held', runId: 'run-0', since: now - 2 * hour, until: judgeableAt },
      resumed: true,
    });
  });

  test('and may be judged from this moment on is watched', async () => {
    const { world: opened, now, attempt, fields } = await world();
    opened.ledger.stored.set(anIndex, aSending({ ...fields, attempt: { ...attempt, judgeableAt: now } }));
    expect((await opened.plan()).entries[0]?.phase).toBe('watched');
  });

  test('and cannot be reached by a run without a server is unknown, and not lost', async () => {
    const { world: opened, fields } = await world();
    opened.ledger.stored.set(anIndex, aRunning(fields));
    opened.reach.server = false;
    const state = await opened.plan();
    expect(told(state.entries[0])).toMatchObject({ outcome: 'unknown', cause: { kind: 'unsettled', why: 'unseen' } });
    expect(state.error).toMatchObject({ kind: 'server', error: { kind: 'connect' }, sent: 'no' });
  });
});

describe('An index without a policy of this run', () => {
  test.each<[string, (fields: object) => LedgerRecord | object, object | undefined]>([
    [
      'is watched, if something is under way',
      (fields) => aRunning({ ...fields, index: profileIndex }),
      { phase: 'watched' },
    ],
    [
      'is told, if it is quarantined',
      (fields) => aQuarantined({ ...fields, index: profileIndex }),
      { phase: 'done', outcome: 'quarantined', cause: { kind: 'quarantined' } },
    ],
    [
      'is told, if another version has left it',
      (fields) => ({ ...aRunning({ ...fields, index: profileIndex }), version: LEDGER_VERSION + 1 }),
      {
        phase: 'done',
        outcome: 'in-flight',
        cause: { kind: 'foreign', why: 'version', version: LEDGER_VERSION + 1, since: expect.any(Number) },
      },
    ],
    ['is not told, if it is idle', (fields) => anIdle({ ...fields, index: profileIndex }), undefined],
  ])('%s', async (_, record, expected) => {
    const { world: opened, fields, attempt } = await world();
    const judgeableAt = opened.clock.time - 60_000;
    const ofProfile = { ...attempt, judgeableAt, fields: { ...attempt.fields, aspect: 'datasetProfile' } };
    const stored = record({ ...fields, entityType: 'dataset', aspect: 'datasetProfile', attempt: ofProfile });
    opened.ledger.stored.set(profileIndex, stored);
    const { entries } = await opened.plan();
    expect(entries.map(({ index }) => index)).toEqual(expected ? [anIndex, profileIndex] : [anIndex]);
    if (!expected) return;
    expect(told(entries[1])).toMatchObject({ ...expected, resumed: true });
    expect(entries[1]?.entry).toMatchObject({ entityType: 'dataset', aspect: 'datasetProfile' });
  });

  test('of which nothing can be read is told by the names of its index', async () => {
    const { world: opened } = await world();
    opened.ledger.stored.set(profileIndex, { revision: 1 });
    const [, entry] = (await opened.plan()).entries;
    expect(entry?.entry).toMatchObject({ entityType: 'dataset', aspect: 'datasetProfile', outcome: 'unknown' });
  });

  test.each([
    [
      'a copy whose end nobody saw',
      { becomes: 'quarantined' as const, outcome: 'unknown' },
      { by: 'breaker', outcome: 'unknown' },
    ],
    ['a delete that could not be counted', { becomes: 'idle' as const, outcome: 'unknown' }, undefined],
    [
      'lost rows',
      { becomes: 'quarantined' as const, outcome: 'rows-missing' },
      { by: 'breaker', outcome: 'rows-missing' },
    ],
  ])('of which another version has decided, and nobody been told: %s', async (_, fields, breaker) => {
    const { world: opened } = await world();
    const judged = {
      ...aJudged({ server, index: profileIndex, aspect: 'datasetProfile' }),
      version: LEDGER_VERSION + 1,
    };
    const decision = { ...judged.decision, ...fields, rowsMissing: undefined };
    opened.ledger.stored.set(profileIndex, { ...judged, decision });
    const state = await opened.plan();
    expect(state.next).toBe(breaker ? 'report' : 'truncate');
    if (breaker) expect(state.breaker).toMatchObject({ ...breaker, index: 'dataset.datasetProfile' });
    else expect(state.breaker).toBeUndefined();
  });

  test('whose policy cannot be read is told once with each: what is wrong, and what its record says', async () => {
    const { world: opened, fields } = await world({ policies: [aPolicyFor('operation', { retentionDays: 1 })] });
    opened.ledger.stored.set(anIndex, aQuarantined(fields));
    const { entries } = await opened.plan();
    expect(entries.map(told)).toMatchObject([
      { outcome: 'failed', cause: { kind: 'policy' } },
      { outcome: 'quarantined', resumed: true },
    ]);
  });
});

describe('A run that cannot ask the server', () => {
  const unreadable = { observe: (services: Services) => ({ ...services, parameters: withoutToken(services) }) };
  const withoutToken = ({ parameters }: Services) => ({
    ...parameters,
    token: { ...parameters.token, get: () => Promise.reject(new ParametersError('The token cannot be read.')) },
  });
  const ofProfile = { index: profileIndex, entityType: 'dataset', aspect: 'datasetProfile' };

  test('says that an index is quarantined, with its policy or without one, and of the others that they were not checked', async () => {
    const policies = [aPolicyFor('operation', { owner: 'team-a' }), aPolicyFor('datasetUsageStatistics')];
    const { world: opened, fields } = await world({ ...unreadable, policies });
    opened.ledger.stored.set(anIndex, aQuarantined(fields));
    opened.ledger.stored.set(profileIndex, aQuarantined({ ...fields, ...ofProfile }));
    const { entries, error } = await opened.plan();
    expect(error).toMatchObject({ what: 'parameters' });
    expect(entries.map(told)).toMatchObject([
      { outcome: 'quarantined', resumed: undefined },
      { outcome: 'failed', cause: { kind: 'run-error' } },
      { outcome: 'quarantined', resumed: true },
    ]);
    expect(entries[0]?.entry).toMatchObject({ aspect: 'operation', owner: 'team-a' });
  });

  test('because its input is wrong says that, too', async () => {
    const { world: opened, fields } = await world();
    opened.ledger.stored.set(anIndex, aQuarantined(fields));
    const { entries } = await opened.plan({ retentionDays: 1 });
    expect(entries.map(told)).toMatchObject([{ outcome: 'quarantined' }]);
  });

  test.each<[string, number, 'enforce' | 'preview', object]>([
    ['may still be sent', 60_000, 'enforce', { outcome: 'in-flight', cause: { kind: 'held' } }],
    ['is under way', 0, 'enforce', { outcome: 'unknown', cause: { kind: 'unsettled', why: 'unseen' } }],
    ['is under way', 0, 'preview', { outcome: 'unknown', cause: { kind: 'unsettled', why: 'unseen' } }],
    [
      'no enforcing run has closed in 20 hours',
      -20 * hour,
      'preview',
      { outcome: 'unknown', cause: { kind: 'watching', releasable: true } },
    ],
  ])('says what %s (judgeable in %i ms, %s)', async (_, until, mode, expected) => {
    const { world: opened, now, attempt, fields } = await world(unreadable);
    const record = aSending({ ...fields, attempt: { ...attempt, judgeableAt: now + until } });
    opened.ledger.stored.set(anIndex, record);
    const { entries } = await opened.plan({ mode });
    expect(entries.map(told)).toMatchObject([{ ...expected, resumed: true }]);
    expect(opened.ledger.stored.get(anIndex)).toEqual(record);
  });

  test('says of two policies for one index what is wrong with them, and what its record says', async () => {
    const policies = [aPolicyFor('operation'), aPolicyFor('operation')];
    const { world: opened, fields } = await world({ ...unreadable, policies });
    opened.ledger.stored.set(anIndex, aQuarantined(fields));
    const { entries } = await opened.plan();
    expect(entries.map(told)).toMatchObject([
      { outcome: 'failed', cause: { kind: 'policy' } },
      { outcome: 'failed', cause: { kind: 'policy' } },
      { outcome: 'quarantined', resumed: true },
    ]);
  });
});

describe('A policy whose index', () => {
  test.each<[string, object, LedgerRecord, object]>([
    [
      'is quarantined is told, also if it is switched off',
      { enabled: false },
      aQuarantined({ server }),
      { outcome: 'quarantined' },
    ],
    [
      'has a record of another address is left alone, also if it is switched off',
      { enabled: false },
      aRunning({ server: 'http://elsewhere:1' }),
      { outcome: 'unknown', cause: { kind: 'foreign', why: 'address' } },
    ],
    [
      'is idle and switched off is left alone',
      { enabled: false },
      anIdle({ server }),
      { outcome: 'disabled', cause: { kind: 'not-due' } },
    ],
  ])('%s', async (_, fields, record, expected) => {
    const { world: opened } = await world({ policies: [aPolicyFor('operation', fields)] });
    opened.ledger.stored.set(anIndex, record);
    const { entries } = await opened.plan();
    expect(entries.map(told)).toMatchObject([expected]);
    expect(opened.ledger.stored.get(anIndex)).toEqual(record);
  });

  test('was quarantined by an earlier try of this Plan is told by what that one found', async () => {
    const { world: opened, now } = await world();
    const own = { runId: 'run-1', runStartMillis: now };
    const verdict = aVerdict({
      outcome: 'rows-missing',
      cause: { kind: 'lost-between-runs', expected: 90, found: 10, since: 1 },
      rowsMissing: 80,
    });
    opened.ledger.stored.set(anIndex, aQuarantined({ server, lastVerdict: aLastVerdict({ ...own, verdict }) }));
    const { entries } = await opened.plan();
    expect(entries.map(told)).toMatchObject([
      { outcome: 'rows-missing', cause: { kind: 'lost-between-runs', found: 10 } },
    ]);
  });
});

describe('Rows that went between two runs', () => {
  async function lost() {
    const { world: opened, now } = await world();
    const window = {
      afterMillis: now - 22 * 24 * hour,
      untilMillis: now - hour,
      rows: 5000,
      countedAtMillis: now - hour,
    };
    const record = anIdle({ server, lastVerdict: aLastVerdict({ window }) });
    opened.ledger.stored.set(anIndex, record);
    return { opened, record, window };
  }

  test('quarantine the index, with the window that showed it', async () => {
    const { opened, window } = await lost();
    const { entries, breaker } = await opened.plan();
    expect(entries.map(told)).toMatchObject([
      { outcome: 'rows-missing', cause: { kind: 'lost-between-runs', expected: 5000 } },
    ]);
    expect(opened.ledger.stored.get(anIndex)).toMatchObject({ state: 'judged', revision: 2, counted: window });
    expect(breaker).toBeUndefined();
  });

  test('are told by a preview, which writes nothing', async () => {
    const { opened, record } = await lost();
    const { entries } = await opened.plan({ mode: 'preview' });
    expect(entries.map(told)).toMatchObject([{ outcome: 'rows-missing' }]);
    expect(opened.ledger.stored.get(anIndex)).toEqual(record);
  });

  test.each<[string, object, object]>([
    ['quarantines the index', aQuarantined({ server }), { outcome: 'quarantined', cause: { kind: 'quarantined' } }],
    [
      'only writes itself down',
      anIdle({ server }),
      { outcome: 'rows-missing', cause: { kind: 'loss-not-stored', expected: 5000 } },
    ],
  ])('are told, also where another run is first and %s', async (_, record, expected) => {
    const { opened } = await lost();
    const services = opened.during('plan');
    const replace = async () => {
      opened.ledger.stored.set(anIndex, record);
      return false;
    };
    const { entries } = await opened.plan({}, { ...services, ledger: { ...services.ledger, replace } });
    expect(entries.map(told)).toMatchObject([expected]);
  });
});

describe('A preview of what is unresolved', () => {
  /** 600 of 1,000 rows are old, and a truncation of them is under way. */
  async function underWay(age = 0) {
    const opened = await open({ policies: [aPolicyFor('operation')] });
    await opened.run({ interruption: { at: 'verdict', does: 'stops' } });
    expect(opened.ledger.stored.get(anIndex)).toMatchObject({ state: 'running' });
    opened.clock.time += age;
    return opened;
  }
  const preview = async (opened: World) => told((await opened.plan({ mode: 'preview' })).entries[0]);

  test('says what the verdict would be, and leaves it to an enforcing run', async () => {
    const opened = await underWay();
    const before = structuredClone(opened.ledger.stored.get(anIndex));
    expect(await preview(opened)).toMatchObject({ outcome: 'truncated', cause: { kind: 'verified' }, resumed: true });
    expect(opened.ledger.stored.get(anIndex)).toEqual(before);
  });

  test('asks for a release 20 hours after it may be judged, because no enforcing run closes it', async () => {
    const opened = await underWay();
    const { attempt } = opened.ledger.stored.get(anIndex) as { attempt: { judgeableAt: number; sendingSince: number } };
    opened.clock.time = attempt.judgeableAt + 20 * hour - 1;
    expect(await preview(opened)).toMatchObject({ outcome: 'truncated' });
    opened.clock.time++;
    const cause = { kind: 'watching', why: 'preview', since: attempt.sendingSince, releasable: true };
    expect(await preview(opened)).toMatchObject({ outcome: 'unknown', cause });
  });

  test('says that rows are missing, however old it is', async () => {
    const opened = await underWay(40 * hour);
    opened.standIn.removeRows('dataset.operation', () => true);
    expect(await preview(opened)).toMatchObject({ outcome: 'rows-missing', cause: { kind: 'missing', expected: 400 } });
  });

  test('says why it could not look', async () => {
    const opened = await underWay();
    opened.standIn.fault('bad-gateway=dry-run');
    const cause = { kind: 'watching', why: 'preview', error: { operation: 'dry-run', status: 502 } };
    expect(await preview(opened)).toMatchObject({ outcome: 'unknown', cause });
  });

  test('says how far its task is while that runs', async () => {
    const opened = await open({ policies: [aPolicyFor('operation', { batchSize: 10 })] });
    // It takes a day and a half.
    opened.standIn.set({ rowsPerSecond: 0.005, batchOverheadMillis: 0 });
    await opened.run({ interruption: { at: 'answer', does: 'stops' } });
    const taskId = opened.standIn.asked().at(-1)?.value;
    const record = opened.ledger.stored.get(anIndex) as LedgerRecord & { attempt: { judgeableAt: number } };
    opened.ledger.stored.set(anIndex, { ...record, state: 'running', taskId });
    opened.clock.time += hour;
    const running = { kind: 'watching', why: 'preview', done: 10, total: 600 };
    expect(await preview(opened)).toMatchObject({ outcome: 'still-running', cause: running });
    opened.clock.time = record.attempt.judgeableAt + 20 * hour;
    expect(await preview(opened)).toMatchObject({ outcome: 'unknown', cause: { kind: 'watching', releasable: true } });
  });
});
