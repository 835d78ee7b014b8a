import { describe, expect, it, onTestFinished } from 'vitest';
import { readPolicies } from '../../../cli/files/policies.ts';
import { folder } from '../processes.ts';
import { problemOf } from './problem.ts';

const files = () => folder((cleanUp) => onTestFinished(cleanUp));
const operation = { entityType: 'dataset', aspect: 'operation', retentionDays: 90 };

describe('a policies file', () => {
  it.each<[string, unknown, RegExp]>([
    [
      'that is not JSON',
      '[\n{"entityType": "dataset",}\n]',
      /policies\.json is not JSON: look for .+ \(line 2, column 26\)\.$/,
    ],
    ['that holds nothing', '', /policies\.json is empty\.$/],
    [
      'with a key given twice',
      '[{"entityType":"dataset","aspect":"operation","retentionDays":90,"retentionDays":30}]',
      /has the key "retentionDays" twice in one object: keep one of them \(line 1, column 66\)\.$/,
    ],
    ['that is a whole stage', { gmsUrl: 'x', policies: [operation] }, /give only the list under "policies"/],
    ['that holds no list', operation, /must hold a list of policies: put \[ and \] around them/],
    ['that is empty', [], /empty list/],
    ['with an unknown field', [{ ...operation, retentionsDays: 1 }], /did you mean retentionDays\?/],
    [
      'with a value out of range',
      [{ ...operation, retentionDays: 6 }],
      /retentionDays must be at least 7 \(minRetentionDays\), not 6/,
    ],
    ['without a field', [{ entityType: 'dataset', aspect: 'operation' }], /retentionDays is missing/],
    [
      'with two for one index',
      [operation, { ...operation, aspect: 'Operation' }],
      /2 policies are for dataset.operation/,
    ],
    ['for the state of ingestion', [{ ...operation, aspect: 'datahubIngestionCheckpoint' }], /never truncated/],
  ])('%s is refused as a whole, with the field and the remedy', (_name, content, problem) => {
    const path = files().write('policies.json', content);
    expect(problemOf(() => readPolicies(path, 7))).toMatch(problem);
  });

  it('with one bad policy among good ones is refused', () => {
    const path = files().write('policies.json', [operation, { ...operation, aspect: 'x', batchSize: 0 }]);
    expect(problemOf(() => readPolicies(path, 7))).toMatch(/policy 2: batchSize must be at least 1/);
  });

  it('may begin with a byte order mark', () => {
    const path = files().write('policies.json', `\ufeff${JSON.stringify([operation])}`);
    expect(readPolicies(path, 7)).toHaveLength(1);
  });

  it('must have the index of --only, in upper or lower case', () => {
    const path = files().write('policies.json', [operation]);
    expect(readPolicies(path, 7, ['DATASET.Operation'])).toHaveLength(1);
    expect(problemOf(() => readPolicies(path, 7, ['dataset.operations']))).toMatch(/did you mean dataset\.operation\?/);
  });

  it('may hold 48 policies, and no more', () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => ({ ...operation, aspect: `aspect${at}` }));
    const path = files().write('policies.json', many(48));
    expect(readPolicies(path, 7)).toHaveLength(1);
    const tooMany = files().write('policies.json', many(49));
    expect(problemOf(() => readPolicies(tooMany, 7))).toMatch(/holds 49 policies; a run takes at most 48\./);
  });
});
