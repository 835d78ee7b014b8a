import { describe, expect, test } from 'vitest';
import { maxTextBytes } from '../../../lambda/gms/text.ts';
import { forPeople } from '../../../lambda/model/policy-fields.ts';
import { type ParsedPolicy, parsePolicies } from '../../../lambda/policy/parse.ts';
import { aPolicy } from '../../support/policies.ts';

const valid = { entityType: 'dataset', aspect: 'operation', retentionDays: 90 };
const parse = (value: unknown, name = '/datahub-retention/prod/policies/dataset.operation') =>
  parsePolicies([{ name, text: typeof value === 'string' ? value : JSON.stringify(value) }], 7);

describe('a policy', () => {
  test('gets its defaults', () => {
    expect(parse(valid)).toEqual([
      {
        kind: 'policy',
        index: 'dataset_operationaspect_v1',
        source: '/datahub-retention/prod/policies/dataset.operation',
        policy: aPolicy(valid),
      },
    ]);
  });

  test('gets DataHub’s spelling, in upper or lower case', () => {
    const [parsed] = parse({ ...valid, entityType: 'DATASET', aspect: 'datasetusagestatistics' });
    expect(parsed).toMatchObject({
      index: 'dataset_datasetusagestatisticsaspect_v1',
      policy: { entityType: 'dataset', aspect: 'datasetUsageStatistics' },
    });
  });
});

const other = { ...valid, aspect: 'datasetProfile' };

/** Each with what its parameter holds, or with whole sources. */
const cases: [about: string, value: unknown, name?: string][] = [
  ['a threshold above the ceiling', { ...valid, minDeletePercent: 50, maxDeletePercent: 40 }],
  ['the default threshold above the ceiling', { ...valid, maxDeletePercent: 5 }],
  ['a threshold that the default ceiling forbids', { ...valid, minDeletePercent: 100 }],
  ['100 as an explicit ceiling', { ...valid, minDeletePercent: 100, maxDeletePercent: 100 }],
  ['the state of stateful ingestion', { ...valid, entityType: 'dataJob', aspect: 'DatahubIngestionCheckpoint' }],
  ['an invalid name', { ...valid, aspect: 'a b' }],
  ['a number', 7],
  ['null', null],
  ['text that is not JSON', '{"entityType": '],
  [
    'a key given twice, whose last value JSON alone would take',
    '{"entityType":"dataset","aspect":"operation","retentionDays":90,"retentionDays":30}',
  ],
  ['a text that is empty', ' \n'],
  ['a text that is empty, in a parameter with dots in its folders', '', '/a.b/c.d/dataset.operation'],
  ['a text that is empty, in a parameter without an index', '', 'policies'],
  ['an empty list', []],
  ['names of its own, in another spelling', { entityType: 'CHART', aspect: 'chartusagestatistics' }],
  ['names of which one is invalid: those of its parameter', { entityType: 'chart', aspect: 7 }],
  ['names of which one is missing', { aspect: 'x' }],
  ['an entry of a list without names', [{ retentionDays: 5 }], 'P'],
  ['names that are cut to fit a report', { entityType: 'e'.repeat(61), aspect: 'a'.repeat(61) }],
  ['a list in which one cannot be read', [valid, { ...other, retentionDays: 1 }], 'P'],
  ['entries with unknown names, which are no duplicates', [{ retentionDays: 5 }, { retentionDays: 6 }], 'P'],
  ['entries that call themselves unknown', Array(2).fill({ entityType: '?', aspect: 'x' }), 'P'],
  ['two for one index, with the other mistakes of each', [valid, { ...valid, retentionDays: 1 }], 'P'],
  [
    'two for one index, in upper or lower case',
    [valid, { ...valid, aspect: 'OPERATION', retentionDays: 365 }, other],
    'P',
  ],
  [
    'two whose names DataHub joins to one search index',
    [
      { ...valid, entityType: 'a_b', aspect: 'c' },
      { ...valid, entityType: 'A', aspect: 'B_c', retentionDays: 365 },
      { ...valid, entityType: 'a', aspect: 'b' },
    ],
    'P',
  ],
];

function shown(parsed: ParsedPolicy): string {
  if (parsed.kind === 'policy') return `    ${parsed.source}: read, ${parsed.index}`;
  return `    refused, ${parsed.entityType}.${parsed.aspect}: ${parsed.problem}`;
}

test('what a parameter holds is read, or refused with its field and the remedy; one mistake does not affect others', async () => {
  const blocks = cases.map(([about, value, name]) => [about, ...parse(value, name).map(shown)].join('\n'));
  await expect(`${blocks.join('\n')}\n`).toMatchFileSnapshot('parse.txt');
});

test('two for one index are refused together even if one of them cannot be read, and no two without an index', () => {
  const sources = [
    { name: '/x/policies/dataset.operation', text: 'not JSON' },
    { name: '/x/policies/more', text: JSON.stringify([valid]) },
  ];
  expect(parsePolicies(sources, 7).map(({ kind }) => kind)).toEqual(['invalid', 'invalid']);
  const nameless = ['same', 'same'].map((name) => ({ name, text: '' }));
  expect(parsePolicies(nameless, 7).map(shown).join()).not.toContain('2 policies');
});

test.each(forPeople)(
  'the %s of a policy is held to what the run state has room for, whatever a character takes',
  (field) => {
    const [parsed] = parse({ ...valid, [field]: '\u0001'.repeat(80) });
    const held = (parsed as unknown as { policy: Record<string, string> }).policy[field] ?? '';
    expect(held.startsWith('\u0001\u0001')).toBe(true);
    expect(held).toMatch(/…$/);
    expect(JSON.stringify(held).length).toBeLessThanOrEqual(maxTextBytes + 2);
  },
);
