import { describe, expect, test } from 'vitest';
import { LedgerError } from '../../../../lambda/ledger/ledger.ts';
import { memoryLedger } from '../../../../lambda/ledger/memory.ts';
import type { LedgerRecord } from '../../../../lambda/ledger/record.ts';
import type { RunInput } from '../../../../lambda/run/plan/input.ts';
import { type Prepared, prepare } from '../../../../lambda/run/plan/preparation.ts';
import { ParametersError, type RunServices } from '../../../../lambda/run/services.ts';
import type { RunState } from '../../../../lambda/run/state.ts';
import { anIdle, anIndex } from '../../../support/records.ts';
import { aRunState } from '../../../support/states.ts';

/** What concerns a run as a whole, before any policy is considered. */

const now = 1_000_000_000;
const day = 86_400_000;
const policy = (aspect: string) => ({ entityType: 'dataset', aspect, retentionDays: 30 });
const tokenUntil = (at: number) => `e30.${Buffer.from(JSON.stringify({ exp: at / 1000 })).toString('base64url')}.x`;

interface World {
  policies?: unknown[];
  paused?: boolean | Error;
  token?: string | Error;
  records?: LedgerRecord[];
  mode?: RunState['mode'];
  input?: RunInput;
  changes?: Partial<RunServices['ledger']>;
}
async function prepared({
  policies = [policy('operation')],
  paused = false,
  token = 'opaque',
  records = [],
  mode = 'enforce',
  input = {},
  changes = {},
}: World) {
  const ledger = memoryLedger();
  for (const record of records) ledger.stored.set(record.index, record);
  const given =
    <Value>(value: Value | Error) =>
    async () => {
      if (value instanceof Error) throw value;
      return value;
    };
  const services = {
    settings: { stage: 's', gmsUrl: 'https://gms', mode, minRetentionDays: 7, maxRunHours: 12 },
    parameters: {
      policies: async () => (policies.length === 0 ? [] : [{ name: 'P', text: JSON.stringify(policies) }]),
      paused: given(paused),
      token: { get: given(token), reread: given(token) },
    },
    ledger: { ...ledger, ...changes },
    clock: { now: () => now, realNow: () => now, monotonic: () => now },
  } as unknown as RunServices;
  return { made: await prepare(aRunState([], { mode, runId: 'us' }), input, services), ledger };
}
const ready = async (world: World): Promise<Prepared> => {
  const { made } = await prepared(world);
  if (made.kind !== 'ready') throw new Error(JSON.stringify(made.error));
  return made;
};
const impossible = async (world: World) => {
  const { made } = await prepared(world);
  return made.kind === 'impossible' ? [made.error, made.policies.map(({ index }) => index)] : made;
};

describe('a run', () => {
  test('has its policies and records, and may start', async () => {
    const made = await ready({ records: [anIdle()] });
    expect(made).toStrictEqual({
      kind: 'ready',
      policies: made.policies,
      chosen: made.policies,
      records: new Map([[anIndex, anIdle()]]),
      readAt: now,
      notes: [],
    });
    expect(made.policies.map(({ index }) => index)).toEqual([anIndex]);
  });

  test('without a policy fails, unless it clears', async () => {
    expect(await ready({ policies: [] })).toMatchObject({ error: { kind: 'no-policy' } });
    const clearing = await ready({ policies: [], records: [anIdle()], input: { clear: ['dataset.operation'] } });
    expect(clearing).not.toHaveProperty('error');
    expect(clearing.chosen).toEqual([]);
  });

  test('that is paused starts nothing, and reports why', async () => {
    expect((await ready({ paused: true })).hindrance).toEqual({ kind: 'paused' });
    expect((await ready({ paused: new Error('SSM') })).hindrance).toEqual({ kind: 'paused', problem: 'SSM' });
  });

  test('that clears has no policies', async () => {
    const made = await ready({ input: { clear: ['dataset.operation'] } });
    expect([made.policies.length, made.chosen.length]).toEqual([1, 0]);
  });

  test.each([
    ['parameters', { token: new ParametersError('no token') }, { kind: 'parameters', problem: 'no token' }],
    [
      'the ledger',
      { changes: { list: () => Promise.reject(new LedgerError('no table')) } },
      { kind: 'ledger', problem: 'no table' },
    ],
  ])('fails without %s, and names the policies', async (_, world, error) => {
    expect(await impossible(world)).toEqual([error, [anIndex]]);
  });

  test('leaves defects to the workflow', async () => {
    await expect(prepared({ token: new TypeError('a defect') })).rejects.toThrow('a defect');
  });
});

describe('names in the input', () => {
  const policies = ['operation', 'datasetProfile', 'a.b'.replace('.', '_')].map(policy);

  test('of only choose their policies, in any case', async () => {
    const made = await ready({ policies, input: { only: ['DATASET.Operation', 'dataset.a_b'] } });
    expect(made.chosen.map(({ index }) => index)).toEqual([anIndex, 'dataset_a_baspect_v1']);
    expect(made.policies).toHaveLength(3);
  });

  test('of only without a policy are reported, with the existing ones', async () => {
    expect(await impossible({ policies, input: { only: ['dataset.operation', 'dataset.x', 'dataset.y'] } })).toEqual([
      {
        kind: 'input',
        problem:
          '"only" names dataset.x, dataset.y, which no policy is for (policies: dataset.operation, dataset.datasetProfile, dataset.a_b)',
      },
      [anIndex],
    ]);
    expect(await impossible({ policies: [], input: { only: ['x.y'] } })).toMatchObject([
      { problem: '"only" names x.y, which no policy is for (policies: none)' },
      [],
    ]);
  });

  test('are listed up to ten', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => `x.${at}`);
    const ten = many(10).join(', ');
    expect(await impossible({ input: { only: many(10) } })).toMatchObject([
      { problem: expect.stringContaining(`names ${ten}, which`) },
      [],
    ]);
    expect(await impossible({ input: { only: many(12) } })).toMatchObject([
      { problem: expect.stringContaining(`names ${ten} and 2 more, which`) },
      [],
    ]);
  });

  test('of clear may be those of policies or of records, and one wrong name clears nothing', async () => {
    const records = [anIdle({ index: 'dataset_oldaspect_v1', aspect: 'old' })];
    const made = await ready({ records, input: { clear: ['dataset.old', 'dataset.operation'] } });
    expect(made.records.size).toBe(1);
    expect(await impossible({ records, input: { clear: ['dataset.old', 'dataset.x'] } })).toEqual([
      {
        kind: 'input',
        problem: '"clear" names dataset.x, which neither a policy nor the ledger knows: nothing was cleared',
      },
      [],
    ]);
  });
});

describe('the token', () => {
  test.each([
    ['expires in more than two weeks', now + 14 * day + 1000, []],
    ['expires in two weeks', now + 14 * day, ['token-expires']],
    ['expires in a second', now + 1000, ['token-expires']],
    ['expires now', now, ['token-expired']],
    ['has expired', now - day, ['token-expired']],
  ])('that %s is reported as such', async (_, at, kinds) => {
    expect((await ready({ token: tokenUntil(at) })).notes).toEqual(kinds.map((kind) => ({ kind, at })));
  });
});

describe('an event that is delivered twice, or late', () => {
  const input = { scheduledTime: new Date(now).toISOString() };
  const them = { atMillis: now, runId: 'them', runStartMillis: now };
  const taken = { takeScheduledTime: async () => them };

  test('starts nothing in the second run, which reports the first', async () => {
    expect((await ready({ input, changes: taken })).hindrance).toEqual({
      kind: 'stopped',
      by: 'duplicate-event',
      runId: 'them',
    });
    expect((await ready({ input, changes: taken, paused: true })).hindrance).toMatchObject({
      kind: 'stopped',
      by: 'duplicate-event',
    });
    const longer = { takeScheduledTime: async () => ({ ...them, runId: 'r'.repeat(5000) }) };
    expect((await ready({ input, changes: longer })).hindrance).toHaveProperty('runId', `${'r'.repeat(237)}…`);
    expect(await ready({ input })).not.toHaveProperty('hindrance');
  });

  test('does not affect a preview or a manual run', async () => {
    expect(await ready({ input, changes: taken, mode: 'preview' })).not.toHaveProperty('hindrance');
    expect(await ready({ changes: taken })).not.toHaveProperty('hindrance');
  });

  test('starts nothing if the scheduled time cannot be read, and continues with unresolved truncations', async () => {
    const takeScheduledTime = () => Promise.reject(new LedgerError('The item cannot be read.'));
    expect(await ready({ input, changes: { takeScheduledTime } })).toMatchObject({
      error: { kind: 'ledger', problem: 'The item cannot be read.' },
      hindrance: { kind: 'run-error' },
    });
    const breaks = { takeScheduledTime: () => Promise.reject(new Error('a defect')) };
    await expect(ready({ input, changes: breaks })).rejects.toThrow('a defect');
  });

  test('may be ahead of our clock by an hour, and by no more', async () => {
    const ahead = (millis: number) => ({ scheduledTime: new Date(now + millis).toISOString() });
    expect(await ready({ input: ahead(3_600_000) })).not.toHaveProperty('hindrance');
    expect(await impossible({ input: ahead(3_600_001) })).toEqual([
      { kind: 'input', problem: expect.stringMatching(/^scheduledTime .* is more than an hour ahead/) },
      [expect.anything()],
    ]);
  });
});
