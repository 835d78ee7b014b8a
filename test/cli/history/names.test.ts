import { expect, it } from 'vitest';
import { nameOfIndex } from '../../../cli/history/names.ts';

it.each([
  ['dataset_datasetusagestatisticsaspect_v1', 'dataset.datasetUsageStatistics'],
  ['mything_myhistoryaspect_v1', 'mything.myhistory'],
  ['a_b_caspect_v1', 'a_b_c'],
  ['something else', 'something else'],
])('the search index %s is called %s', (index, name) => {
  expect(nameOfIndex(index)).toBe(name);
});
