import { describe, expect, test } from 'vitest';
import { maxTextBytes } from '../../../lambda/operations/text.ts';
import { type ParsedPolicy, parsePolicies } from '../../../lambda/policy/parse.ts';

const valid = { entityType: 'dataset', aspect: 'operation', retentionDays: 90 };
const parse = (value: unknown, name = '/datahub-retention/prod/policies/dataset.operation') =>
  parsePolicies([{ name, text: typeof value === 'string' ? value : JSON.stringify(value) }], 7);
const problemOf = (parsed: ParsedPolicy | undefined) => (parsed?.kind === 'invalid' ? parsed.problem : undefined);

describe('a policy', () => {
  test('gets its defaults', () => {
    expect(parse(valid)).toEqual([
      {
        kind: 'policy',
        index: 'dataset_operationaspect_v1',
        source: '/datahub-retention/prod/policies/dataset.operation',
        policy: {
          ...valid,
          minDeletePercent: 10,
          refuseReindex: false,
          batchSize: 10_000,
          enabled: true,
        },
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

  test('for an aspect that is not known keeps its own spelling', () => {
    const [parsed] = parse({ ...valid, entityType: 'myEntity', aspect: 'myAspect' });
    expect(parsed).toMatchObject({ policy: { entityType: 'myEntity', aspect: 'myAspect' } });
  });

  test('may be one entry of an array', () => {
    const parsed = parse([valid, { ...valid, aspect: 'datasetProfile' }]);
    expect(parsed.map(({ kind, index }) => [kind, index])).toEqual([
      ['policy', 'dataset_operationaspect_v1'],
      ['policy', 'dataset_datasetprofileaspect_v1'],
    ]);
  });
});

describe('a policy that cannot work is refused with its field and the remedy', () => {
  test.each<[string, unknown, RegExp]>([
    [
      'a threshold above the ceiling',
      { ...valid, minDeletePercent: 50, maxDeletePercent: 40 },
      /minDeletePercent.*50 is above maxDeletePercent, 40/,
    ],
    ['the default threshold above the ceiling', { ...valid, maxDeletePercent: 5 }, /10 is above maxDeletePercent, 5/],
    [
      'a threshold that the default ceiling forbids',
      { ...valid, minDeletePercent: 100 },
      /100 is above maxDeletePercent, below 100/,
    ],
    [
      'the state of stateful ingestion',
      { ...valid, entityType: 'dataJob', aspect: 'DatahubIngestionCheckpoint' },
      /: aspect: DatahubIngestionCheckpoint is the state of stateful ingestion, not history, and is never truncated: remove this policy$/,
    ],
    ['an invalid name', { ...valid, aspect: 'a b' }, /aspect must be a name/],
    ['a number', 7, /must be an object, not 7/],
    ['null', null, /must be an object, not null/],
    ['text that is not JSON', '{"entityType": ', /is not JSON here: value expected \(line 1, column \d+\)/],
    [
      'a key given twice, whose last value JSON alone would take',
      '{"entityType":"dataset","aspect":"operation","retentionDays":90,"retentionDays":30}',
      /dataset\.operation has the key "retentionDays" twice in one object: keep one of them \(line 1, column 65\)/,
    ],
    ['a text that is empty', ' \n', /dataset\.operation is empty/],
    ['an empty list', [], /empty list/],
  ])('%s', (_, value, expected) => {
    const parsed = parse(value);
    expect(parsed).toHaveLength(1);
    expect(problemOf(parsed[0])).toMatch(expected);
    expect(problemOf(parsed[0])).not.toMatch(/\n\s+at /);
  });

  test.each(['owner', 'note'])(
    'has its %s held to what the run state has room for, whatever a character takes',
    (field) => {
      const [parsed] = parse({ ...valid, [field]: '\u0001'.repeat(80) });
      const held = (parsed as unknown as { policy: Record<string, string> }).policy[field] ?? '';
      expect(held.startsWith('\u0001\u0001')).toBe(true);
      expect(held).toMatch(/…$/);
      expect(JSON.stringify(held).length).toBeLessThanOrEqual(maxTextBytes + 2);
    },
  );

  test('while 100 as an explicit ceiling is accepted', () => {
    expect(parse({ ...valid, minDeletePercent: 100, maxDeletePercent: 100 })[0]?.kind).toBe('policy');
  });

  test('is named after its parameter when its text is empty', () => {
    expect(parse('not JSON')[0]).toMatchObject({
      index: 'dataset_operationaspect_v1',
      entityType: 'dataset',
      aspect: 'operation',
    });
  });
});

describe('the names of a policy that cannot be read', () => {
  const namesOf = (value: unknown, name?: string) => {
    const [parsed] = parse(value, name);
    if (parsed?.kind !== 'invalid') throw new Error('it can be read');
    return [parsed.entityType, parsed.aspect];
  };

  test.each<[string, unknown, [string, string]]>([
    [
      'its own, in DataHub’s spelling',
      { entityType: 'CHART', aspect: 'chartusagestatistics' },
      ['chart', 'chartUsageStatistics'],
    ],
    ['those of its parameter if one of them is invalid', { entityType: 'chart', aspect: 7 }, ['dataset', 'operation']],
    ['those of its parameter if the other one is missing', { aspect: 'x' }, ['dataset', 'operation']],
    ['those of its parameter if it is no object', 7, ['dataset', 'operation']],
    ['those of its parameter if it is null', null, ['dataset', 'operation']],
  ])('are %s', (_, value, expected) => {
    expect(namesOf(value)).toEqual(expected);
  });

  test('are the last two parts of its parameter’s name', () => {
    expect(namesOf('', '/a.b/c.d/dataset.operation')).toEqual(['dataset', 'operation']);
    expect(namesOf('', 'policies')).toEqual(['policies', '?']);
  });

  test('are unknown in a list if the entry does not say', () => {
    expect(namesOf([{ retentionDays: 5 }])).toEqual(['?', '?']);
  });

  test('are cut to fit a report', () => {
    expect(namesOf({ entityType: 'e'.repeat(61), aspect: 'a'.repeat(61) })).toEqual([
      `${'e'.repeat(57)}…`,
      `${'a'.repeat(57)}…`,
    ]);
  });
});

describe('several policies', () => {
  test('of one list are reported by their position in it', () => {
    const parsed = parse([valid, { ...valid, aspect: 'b', retentionDays: 1 }], 'P');
    expect(parsed.map(({ source }) => source)).toEqual(['P, policy 1', 'P, policy 2']);
    expect(problemOf(parsed[1])).toMatch(/^P, policy 2: retentionDays/);
  });

  test('with unknown names are not taken for duplicates', () => {
    const nameless = parse([{ retentionDays: 5 }, { retentionDays: 6 }], 'P');
    expect(nameless.map(problemOf).join()).not.toContain('2 policies are for');
    const sources = ['same', 'same'].map((name) => ({ name, text: '' }));
    expect(parsePolicies(sources, 7).map(problemOf)).toEqual(['same is empty', 'same is empty']);
    const questions = parse(
      [
        { entityType: '?', aspect: 'x' },
        { entityType: '?', aspect: 'x' },
      ],
      'P',
    );
    expect(questions.map(problemOf).join()).not.toContain('2 policies are for');
  });

  test('for one index are refused with the place of each and its other mistakes', () => {
    const parsed = parse([valid, { ...valid, retentionDays: 1 }], 'P');
    expect(parsed.map(problemOf)).toEqual([
      '2 policies are for dataset.operation (P, policy 1; P, policy 2): keep one of them',
      'P, policy 2: retentionDays must be at least 7 (minRetentionDays), not 1; besides, 2 policies are for dataset.operation (P, policy 1; P, policy 2): keep one of them',
    ]);
  });

  test('that cannot be read do not affect the others', () => {
    const parsed = parse([valid, { ...valid, aspect: 'datasetProfile', retentionDays: 1 }]);
    expect(parsed.map(({ kind }) => kind)).toEqual(['policy', 'invalid']);
  });

  test('for one index are refused together, in upper or lower case', () => {
    const parsed = parse([
      valid,
      { ...valid, aspect: 'OPERATION', retentionDays: 365 },
      { ...valid, aspect: 'datasetProfile' },
    ]);
    expect(parsed.map(({ kind }) => kind)).toEqual(['invalid', 'invalid', 'policy']);
    expect(problemOf(parsed[0])).toMatch(/2 policies are for dataset\.operation .* keep one of them/);
  });

  test('whose names DataHub joins to one search index are refused together', () => {
    const parsed = parse([
      { ...valid, entityType: 'a_b', aspect: 'c' },
      { ...valid, entityType: 'A', aspect: 'B_c', retentionDays: 365 },
      { ...valid, entityType: 'a', aspect: 'b' },
    ]);
    expect(parsed.map(({ kind }) => kind)).toEqual(['invalid', 'invalid', 'policy']);
    expect(problemOf(parsed[0])).toMatch(/2 policies are for one search index, a_b_caspect_v1, \(.*: keep one of them/);
  });

  test('for one index are refused together even if one of them cannot be read', () => {
    const parsed = parsePolicies(
      [
        { name: '/x/policies/dataset.operation', text: 'not JSON' },
        { name: '/x/policies/more', text: JSON.stringify([valid]) },
      ],
      7,
    );
    expect(parsed.map(({ kind }) => kind)).toEqual(['invalid', 'invalid']);
  });
});
