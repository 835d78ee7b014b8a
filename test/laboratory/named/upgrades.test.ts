import { beforeAll, describe, expect, test } from 'vitest';
import { physicalNameOf } from '../../../lambda/operations/backend.ts';
import { type Lived, livedByUs } from './lived.ts';
import type { Situation } from './situations.ts';
import { upgradeSituations } from './upgrades.ts';

/** What we report during an upgrade without downtime, and that no command of ours would undo it. */

type Strategy = 'delete-by-query' | 'reindex';

const situationOf = (name: string): Situation => upgradeSituations.find((one) => one.name === name)!;
const live = (name: string, strategy: Strategy): Promise<Lived> => livedByUs(situationOf(name), 'newest', strategy);
const isVersioned = ({ physical }: Lived): boolean => physicalNameOf(physical)?.isReindexed === false;

const requests = ({ mails }: Lived): string[] =>
  mails.flatMap((mail) => mail.match(/(?:GET|POST|PUT) \/\S+(?: \{.*\})?/g) ?? []);
const moves = (lived: Lived): string[] => requests(lived).filter((request) => request.includes('_aliases'));

test('requests that repair a copy name the alias as it is, although the name of the index has a version', async () => {
  const lived = await live('a copy fails in an index whose name has a version', 'reindex');
  expect(lived).toMatchObject({ said: 'rows-missing', rowsLost: 400 });
  const [move = ''] = moves(lived);
  expect([...move.matchAll(/"alias":"([^"]+)"/g)].map(([, alias]) => alias)).toEqual([
    'dataset_operationaspect_v1',
    'dataset_operationaspect_v1',
  ]);
  expect(move).toMatch(/"add":\{"index":"dataset_operationaspect_v1_1_7_0-0_\d{13}"/);
});

describe.each<[name: string, strategy: Strategy, said: string, names: string]>([
  ['an upgrade begins 4 min after the call, when all old rows are deleted', 'delete-by-query', 'truncated', 'replaced'],
  ['the same, and one row fewer', 'delete-by-query', 'truncated', 'replaced'],
  [
    'an upgrade begins 4 min after the call, when all old rows are deleted',
    'reindex',
    'rows-missing',
    '"op_type":"create"',
  ],
  ['an upgrade begins 4 min after the call, when all other rows are copied', 'reindex', 'unknown', 'replaced'],
  [
    'an upgrade that began before the call leaves rows of its time in the old index alone',
    'delete-by-query',
    'incomplete',
    'replaced',
  ],
  [
    'an upgrade that began before the call leaves rows of its time in the old index alone',
    'reindex',
    'unknown',
    'replaced',
  ],
])('%s (%s)', (name, strategy, said, names) => {
  let lived: Lived;
  beforeAll(async () => {
    lived = await live(name, strategy);
  });

  test(`is ${said}, and the message says that another index is behind the alias`, () => {
    expect(isVersioned(lived)).toBe(true);
    expect(lived.said).toBe(said);
    expect(lived.mails.join('\n')).toContain(names);
  });

  test('offers no command that moves an alias', () => {
    expect(moves(lived)).toEqual([]);
  });
});

test('rows that came in for an earlier time while an upgrade copied are in its old index alone, and none of ours is missing', async () => {
  const lived = await live(
    'an upgrade that began before the call leaves rows of its time in the old index alone',
    'delete-by-query',
  );
  expect(lived).toMatchObject({ rowsBehind: 50, rowsLost: 0 });
});

test('rows that come back with an upgrade’s swap are deleted the next night', async () => {
  const name = 'an upgrade that began before the call: rows that were deleted are back';
  const { said, sent, oldRowsLeft } = await live(name, 'delete-by-query');
  expect({ said, sent, oldRowsLeft }).toEqual({ said: 'truncated / truncated', sent: 2, oldRowsLeft: 0 });
});

test('a reindex policy waits after an upgrade that was rolled back, and says so', async () => {
  const name = 'an upgrade that began before the call: rows that were deleted are back';
  expect(await live(name, 'reindex')).toMatchObject({ said: 'truncated / not-started', sent: 1 });
});

test('an older upgrade fails if we delete while it copies, and succeeds if this job is paused', async () => {
  const one = situationOf('an upgrade that began before the call and fails where rows go meanwhile');
  const beside = await livedByUs(one, 'newest', 'delete-by-query');
  expect([beside.sent, isVersioned(beside)]).toEqual([1, false]);
  const paused = await livedByUs(
    {
      ...one,
      wire(world) {
        world.setPaused(true);
        one.wire?.(world);
      },
    },
    'newest',
    'delete-by-query',
  );
  expect([paused.sent, isVersioned(paused)]).toEqual([0, true]);
});
