import { describe, expect, test } from 'vitest';
import { memoryLedger } from '../../../../cli/ledgers/memory-ledger.ts';
import { fixedIdentity } from '../../../../lambda/gms/identity.ts';
import { LedgerError } from '../../../../lambda/ledger/ledger.ts';
import { withRun } from '../../../../lambda/ledger/runs.ts';
import type { RunInput } from '../../../../lambda/model/run-input.ts';
import { emptyLedgerNotes, prepare } from '../../../../lambda/run/plan/prepare.ts';
import type { RunServices } from '../../../../lambda/run/services.ts';
import type { RunState } from '../../../../lambda/run/state.ts';

/** What Plan finds out before it asks the server. */

const now = Date.parse('2026-03-01T03:30:00Z');
const day = 86_400_000;
const policy = (aspect: string) => ({ entityType: 'dataset', aspect, retentionDays: 30 });
const expiring = (at: number) => `e30.${Buffer.from(JSON.stringify({ exp: at / 1000 })).toString('base64url')}.x`;

interface Given {
  policies?: object[];
  token?: string;
  ledger?: Partial<RunServices['ledger']>;
}

async function prepared(input: RunInput, given: Given = {}) {
  const { policies = [policy('operation')], token = 'opaque' } = given;
  const ledger = memoryLedger();
  const services = {
    settings: { minRetentionDays: 7 },
    clock: { now: () => now },
    ledger: { ...ledger, ...given.ledger },
    parameters: {
      policies: async () => (policies.length > 0 ? [{ name: '/policies', text: JSON.stringify(policies) }] : []),
      paused: async () => false,
      identity: fixedIdentity({ token }),
    },
  };
  return prepare({ input }, services as unknown as RunServices);
}

test.each([
  ['has expired', expiring(now), [{ kind: 'token-expires', at: now, expired: true }]],
  [
    'expires within 14 days',
    expiring(now + 14 * day),
    [{ kind: 'token-expires', at: now + 14 * day, expired: undefined }],
  ],
  ['does not say when it expires', 'opaque', []],
])('A run that can begin with a token that %s', async (_, token, notes) => {
  expect((await prepared({}, { token })).notes).toEqual(notes);
});

describe('A ledger without a record', () => {
  const noted = async (mode: 'enforce' | 'preview', input: RunInput = {}, more: object = {}) => {
    const preparation = await prepared(input, { ledger: more as Given['ledger'] });
    const ledger = { ...memoryLedger(), isTransient: undefined, ...more };
    const services = { ledger } as unknown as RunServices;
    return (await emptyLedgerNotes(preparation, { mode } as RunState, services)).map(({ kind }) => kind);
  };

  test('is a note of an enforcing run', async () => {
    expect(await noted('enforce')).toEqual(['empty-ledger']);
    expect(await noted('preview')).toEqual([]);
    expect(await noted('enforce', {}, { list: async () => [{ index: 'dataset_operationaspect_v1' }] })).toEqual([]);
    expect(await noted('enforce', {}, { isTransient: true })).toEqual([]);
  });

  test('is a note where an earlier run has truncated, so that there should be one', async () => {
    const sent = { name: 'dataset.operation', outcome: 'truncated', cutoffMillis: 1 };
    const kept = withRun(undefined, { runId: 'a', finishedAt: 'x', result: 'ok', indices: [sent] });
    expect(await noted('enforce', {}, { runs: { readRuns: async () => kept } })).toEqual(['empty-ledger']);
  });

  test.each<[string, () => Promise<string | undefined>]>([
    ['is there', async () => '{"runs":[]}'],
    ['cannot be read', () => Promise.reject(new LedgerError('no'))],
  ])('is no note where a record of runs %s', async (_, readRuns) => {
    expect(await noted('enforce', {}, { runs: { readRuns } })).toEqual([]);
  });
});

describe('A run that cannot do its work', () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => policy(`aspect${at}`));
  const problemOf = async (...given: Parameters<typeof prepared>) => {
    const { error } = await prepared(...given);
    return error?.kind === 'setup' ? `${error.what}: ${error.problem}` : error?.kind;
  };

  test('has more than 48 policies', async () => {
    expect(await problemOf({}, { policies: many(48) })).toBeUndefined();
    expect((await prepared({}, { policies: many(48) })).chosen).toHaveLength(48);
    expect(await problemOf({}, { policies: many(49) })).toContain('there are 49 policies');
  });

  test('names in indices what no policy is for: it says which there are, at most ten of them', async () => {
    expect(await problemOf({ indices: ['dataset.x'] })).toBe(
      'input: "indices" names dataset.x, not found in any policy (policies: dataset.operation)',
    );
    const listed = Array.from({ length: 10 }, (_, at) => `dataset.aspect${at}`).join(', ');
    expect(await problemOf({ indices: ['dataset.x'] }, { policies: many(10) })).toContain(`(policies: ${listed})`);
    expect(await problemOf({ indices: ['dataset.x'] }, { policies: many(12) })).toContain(
      `(policies: ${listed} and 2 more)`,
    );
    expect(await problemOf({ indices: ['dataset.x', 'dataset.y'] }, { policies: [] })).toContain(
      'dataset.x, dataset.y, not found in any policy (policies: none)',
    );
  });

  test('meets a defect: the step fails, and the workflow tries it again', async () => {
    const list = async () => {
      throw new TypeError('a defect');
    };
    await expect(prepared({}, { ledger: { list } })).rejects.toThrow('a defect');
  });
});
