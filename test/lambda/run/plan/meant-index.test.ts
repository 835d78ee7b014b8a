import { describe, expect, test } from 'vitest';
import type { IndexSize } from '../../../../lambda/operations/operations.ts';
import { meantIndex } from '../../../../lambda/run/plan/meant-index.ts';
import { aPolicy } from '../../../support/policies.ts';

const noIndex = { kind: 'no-index', operation: 'dry-run' } as const;
const told = (...names: [string, string][]): IndexSize[] =>
  names.map(([entityType, aspect]) => ({ indexName: 'x', entityType, aspect }));
const meant = (
  entityType: string,
  aspect: string,
  sizes: IndexSize[] = [],
  error: { kind: 'no-index' | 'bad-request' | 'timeout' } = noIndex,
) => meantIndex({ ...noIndex, ...error }, aPolicy({ entityType, aspect }), sizes);

describe('the index that a policy most likely means', () => {
  test('is cut where the server’s names are longer than a text of the run state may be', () => {
    const long = 'n'.repeat(200);
    const found = meant(long, long, told([`${long}x`, `${long}x`]));
    expect(found).toBe(`${'n'.repeat(200)}x.${'n'.repeat(35)}…`);
  });

  test('is the nearest on the server, in DataHub’s spelling', () => {
    expect(meant('dataset', 'datasetProfil', told(['dataset', 'datasetprofile'], ['dataset', 'operation']))).toBe(
      'dataset.datasetProfile',
    );
    expect(meant('dataset', 'operatoin', told(['dataset', 'operation'], ['datasets', 'operation']))).toBe(
      'dataset.operation',
    );
  });

  test('is one of DataHub’s own if the server lists none', () => {
    expect(meant('dataset', 'operations')).toBe('dataset.operation');
    for (const nothing of [
      { indexName: 'x' },
      { indexName: 'x', entityType: 'dataset' },
      { indexName: 'x', aspect: 'operations' },
    ]) {
      expect(meant('dataset', 'operations', [nothing])).toBe('dataset.operation');
    }
    expect(meant('dataset', 'operations', told(['*', 'operations']))).toBe('dataset.operation');
  });

  test('is not one of DataHub’s own if the server lists its indices', () => {
    expect(meant('dataset', 'operations', told(['chart', 'x']))).toBeUndefined();
  });

  test('is similar in both its names', () => {
    expect(meant('dataset', 'xyz', told(['dataset', 'operation']))).toBeUndefined();
    expect(meant('chart', 'operation', told(['dataset', 'operation']))).toBeUndefined();
  });

  test('differs by more than its number or its case', () => {
    expect(meant('dataset', 'part7', told(['dataset', 'part3']))).toBeUndefined();
    expect(meant('dataset', 'part10', told(['dataset', 'Part22']))).toBeUndefined();
    expect(meant('dataset', 'part7', told(['dataset', 'par7']))).toBe('dataset.par7');
    expect(meant('dataset', 'part7', told(['dataset', 'part']))).toBe('dataset.part');
  });

  test('is never the state of stateful ingestion', () => {
    expect(
      meant('dataJob', 'datahubIngestionCheckpoints', told(['dataJob', 'datahubIngestionCheckpoint'])),
    ).toBeUndefined();
  });

  test('is searched for only if the server has no such index, or refuses the name', () => {
    const sizes = told(['dataset', 'operation']);
    expect(meant('dataset', 'operations', sizes, { kind: 'bad-request' })).toBe('dataset.operation');
    expect(meant('dataset', 'operations', sizes, { kind: 'timeout' })).toBeUndefined();
  });
});
