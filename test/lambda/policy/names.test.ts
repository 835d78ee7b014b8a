import { describe, expect, test } from 'vitest';
import {
  canonicalSpelling,
  dottedName,
  isProtected,
  knownAspects,
  searchIndex,
  searchIndexOfName,
} from '../../../lambda/policy/aspects.ts';
import { nearest } from '../../../lambda/policy/nearest.ts';

describe('the nearest name', () => {
  test.each([
    ['other letters’ case', 'MODE', 'mode'],
    ['two letters swapped', 'mdoe', 'mode'],
    ['one letter too many', 'modes', 'mode'],
    ['a letter too few', 'ode', 'mode'],
    ['another letter', 'mole', 'mode'],
    ['a third of the longer name', 'abcdef', 'abcdxy'],
    ['letters swapped twice', 'badcef', 'abcdef'],
  ])('may differ by %s: %s', (_, given, meant) => {
    expect(nearest(given, ['unlike', meant, 'other'])).toBe(meant);
  });

  test.each([
    ['one letter more than a third', 'abcde', 'abcxy'],
    ['swapped letters and one more', 'dome', 'mode'],
    ['two letters swapped over a third', 'cba', 'abc'],
    ['two letters, one of which moved on', 'ab', 'xa'],
    ['two letters, one of which moved back', 'ab', 'bx'],
  ])('is none where %s differ: %s', (_, given, other) => {
    expect(nearest(given, [other])).toBeUndefined();
  });

  test('is the one with the fewest differences, and the first of several', () => {
    expect(nearest('operation', ['operations2', 'operations', 'operatio'])).toBe('operations');
    expect(nearest('operation', ['operatio', 'operations', 'operations2'])).toBe('operatio');
    expect(nearest('x', [])).toBeUndefined();
  });
});

describe('the names of an index', () => {
  test('are spelled as in DataHub if it knows them, and otherwise unchanged', () => {
    expect(canonicalSpelling('DATAJOB', 'datahubingestionrunsummary')).toEqual({
      entityType: 'dataJob',
      aspect: 'datahubIngestionRunSummary',
    });
    expect(canonicalSpelling('My', 'Own')).toEqual({ entityType: 'My', aspect: 'Own' });
    expect(knownAspects).toContainEqual({ entityType: 'dataset', aspect: 'operation' });
  });

  test('lead to the same search index in any spelling', () => {
    expect(searchIndex({ entityType: 'Dataset', aspect: 'Operation' })).toBe('dataset_operationaspect_v1');
    expect(searchIndexOfName('Dataset.Operation')).toBe('dataset_operationaspect_v1');
    expect(searchIndexOfName('a.b.c')).toBe(searchIndex({ entityType: 'a', aspect: 'b_c' }));
    expect(dottedName({ entityType: 'Dataset', aspect: 'Operation' })).toBe('Dataset.Operation');
  });

  test('identify the index that is never truncated', () => {
    expect(isProtected('datahubIngestionCheckpoint')).toBe(true);
    expect(isProtected('datahubIngestionRunSummary')).toBe(false);
  });
});
