import { describe, expect, test } from 'vitest';
import type { Survey } from '../../../local/survey/count.ts';
import { hints } from '../../../local/survey/hints.ts';

const now = 1_800_000_000_000;
const day = 86_400_000;

function hintOf(indexName: string): string | undefined {
  const index = {
    entityType: 'dataset',
    aspect: 'operation',
    protected: false,
    indexName,
    counts: { kind: 'failed', error: { kind: 'timeout', operation: 'dry-run' } },
  };
  const survey = { indices: [index], unnamed: [] } as unknown as Survey;
  return hints(survey, now).find((hint) => hint.includes('was copied'));
}

describe('an index that was copied lately', () => {
  const upgraded = (days: number) => `dataset_operationaspect_v1_1_7_0-0_${now - days * day}`;

  test('by an upgrade without downtime is named for two weeks', () => {
    expect(hintOf(upgraded(13))).toContain('dataset.operation was copied 13 d ago by an upgrade of DataHub');
    expect(hintOf(upgraded(14))).toBeUndefined();
  });

  test('under a name without a version is named for a day and a half', () => {
    expect(hintOf(`dataset_operationaspect_v1_${now - day}`)).toContain('an upgrade of DataHub or a reindex');
    expect(hintOf(`dataset_operationaspect_v1_${now - 2 * day}`)).toBeUndefined();
  });

  test('is not guessed at where its name has no time', () => {
    expect(hintOf('dataset_operationaspect_v1')).toBeUndefined();
  });
});
