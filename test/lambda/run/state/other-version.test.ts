import { describe, expect, test } from 'vitest';
import { fromHead, isOurs, StateUnreadable } from '../../../../lambda/run/other-version.ts';
import { anIndex } from '../../../support/records.ts';

/** A run state that another version of this program wrote, or this one for another server. */

const server = 'https://gms.example.com';
const settings = { stage: 'here', gmsUrl: server, mode: 'enforce', minRetentionDays: 7, maxRunHours: 12 } as const;
const names = { entityType: 'dataset', aspect: 'operation' };
const entry = (phase: string, outcome?: string) => ({
  index: anIndex,
  phase,
  entry: { ...names, ...(outcome && { outcome }), more: 1 },
});
const head = (entries: object[], more: object = {}) => ({
  version: 9,
  runId: 'run-1',
  server,
  stage: 'prod',
  mode: 'preview',
  startedAt: '2026-03-01T03:30:00.000Z',
  entries,
  ...more,
});
const told = (entries: object[], more: object = {}) => fromHead(head(entries, more), { settings });

describe('whether a run state is ours', () => {
  test.each([
    ['of this version, for this server', { version: 3, server }, true],
    ['of another version', { version: 9, server }, false],
    ['for another server', { version: 3, server: 'https://other.example.com' }, false],
    ['without either', {}, false],
    ['that is none', undefined, false],
    ['that is null', null, false],
  ])('one %s: %s', (_, state, ours) => {
    expect(isOurs(state, { settings })).toBe(ours);
  });
});

describe('what its head shows', () => {
  test('is the run, and that another version wrote it', () => {
    expect(told([])).toStrictEqual({
      version: 3,
      runId: 'run-1',
      server,
      stage: 'prod',
      mode: 'preview',
      startedAt: '2026-03-01T03:30:00.000Z',
      next: 'report',
      waitSeconds: 0,
      entries: [],
      error: { kind: 'foreign', why: 'version', deployed: true },
      notes: [],
      unmanagedIndices: [],
      turns: { truncate: 0, poll: 0 },
    });
    expect(told([], { stage: undefined, mode: 'sideways' })).toMatchObject({ stage: 'here', mode: 'enforce' });
  });

  test('is the server that it was for, where the address has changed', () => {
    expect(told([], { version: 3, server: 'https://other.example.com/' }).error).toStrictEqual({
      kind: 'foreign',
      deployed: true,
      why: 'address',
      address: 'https://other.example.com',
      ourAddress: server,
    });
    expect(told([], { version: 3 }).error).toStrictEqual({ kind: 'foreign', why: 'version', deployed: true });
    expect(told([], { version: 3, server: undefined }).error).toStrictEqual({
      kind: 'foreign',
      why: 'version',
      deployed: true,
    });
    expect(told([], { server: 'https://other.example.com' }).error).toStrictEqual({
      kind: 'foreign',
      why: 'version',
      deployed: true,
    });
  });

  test('is its former address, cut where it is longer than a text of the run state may be', () => {
    const { error } = told([], { version: 3, server: `https://${'a'.repeat(5000)}` });
    expect(error).toHaveProperty('address', `https://${'a'.repeat(229)}…`);
  });

  test('is of each index that the address has changed, without telling the addresses again', () => {
    const [made] = told([entry('approved')], { version: 3, server: 'https://other.example.com' }).entries;
    expect(made?.entry).toMatchObject({ outcome: 'unknown' });
    expect(made?.entry).toHaveProperty('cause', { kind: 'foreign', why: 'address', deployed: true });
  });

  const watching = { kind: 'watching', why: 'other-version' };
  const foreign = { kind: 'foreign', why: 'version', deployed: true };

  test.each([
    ['decided, by its outcome', [entry('done', 'truncated')], {}, [['truncated', foreign]]],
    ['watched, as still running', [entry('watched')], {}, [['still-running', watching]]],
    ['approved, as unknown: it may have been sent', [entry('approved')], {}, [['unknown', foreign]]],
    ['of an unknown phase or outcome, as not started', [entry('dreaming', 'splendid')], {}, [['not-started', foreign]]],
    [
      'approved after that, as not started',
      [{ ...entry('watched'), index: 'first' }, entry('approved'), { ...entry('approved'), index: 'later' }],
      {},
      [
        ['still-running', watching],
        ['unknown', foreign],
        ['not-started', foreign],
      ],
    ],
  ])('is each index: %s', (_, entries, more, expected) => {
    const made = told(entries, more).entries;
    expect(made).toMatchObject(
      expected.map(([outcome, cause]) => ({
        phase: 'done',
        index: expect.any(String),
        entry: { ...names, outcome, cause },
      })),
    );
    expect(made[0]?.entry).not.toHaveProperty('more');
  });

  test.each([undefined, null, {}, { version: 9 }, 'text'])('is nothing where there is none (%j)', (state) => {
    expect(() => fromHead(state, { settings })).toThrow(StateUnreadable);
    expect(() => fromHead(state, { settings })).toThrow('the run state has no head that can be read');
    expect(new StateUnreadable().name).toBe('StateUnreadable');
  });
});
