import { describe, expect, test } from 'vitest';
import { attemptFacts, held, quarantinedCause } from '../../../lambda/run/entries.ts';
import { aLastVerdict, anAttempt, aQuarantined, aRunning, aSending, aVerdict } from '../../support/records.ts';

/** What the report says about a record. */

describe('a truncation is told', () => {
  test('by what was sent and counted before', () => {
    const baseline = { ...anAttempt().baseline, indexName: 'operation_1', sizeMb: 7 };
    expect(attemptFacts(anAttempt({ baseline }))).toEqual({
      entityType: 'dataset',
      aspect: 'operation',
      retentionDays: 30,
      cutoffMillis: 500_000,
      policyCutoffMillis: undefined,
      strategy: 'delete-by-query',
      reindexes: false,
      rowsTotal: 100,
      rowsToDelete: 60,
      indexName: 'operation_1',
      sizeBeforeMb: 7,
    });
  });

  test('with the policy’s own cutoff, if only a bite was sent', () => {
    expect(attemptFacts(anAttempt({ policyCutoffMillis: 600_000 }))).toMatchObject({
      cutoffMillis: 500_000,
      policyCutoffMillis: 600_000,
    });
  });

  test('as what was announced, and as what it turned out to be', () => {
    const facts = attemptFacts(anAttempt({ announcesReindex: true, reindexes: false }));
    expect([facts.strategy, facts.reindexes]).toEqual(['reindex', false]);
  });
});

describe('an index that is held', () => {
  const { runId, sendingSince, judgeableAt } = anAttempt();

  test.each([
    ['says until when its call may still be sent', aSending(), judgeableAt - 1, judgeableAt],
    ['says no time once that has passed', aSending(), judgeableAt, undefined],
    ['says no time where its task is known', aRunning(), judgeableAt - 1, undefined],
  ])('%s', (_, record, now, until) => {
    expect(held(record, now)).toEqual({ kind: 'held', runId, since: sendingSince, until });
  });
});

describe('a quarantine says', () => {
  test('since when, why, and between which indices rows were lost', () => {
    const baseline = { ...anAttempt().baseline, indexName: 'operation_1' };
    const verdict = aVerdict({ outcome: 'unknown', reindexes: true, indexNow: 'operation_2' });
    const attempt = anAttempt({ baseline, policyCutoffMillis: 600_000 });
    const record = aQuarantined({ lastVerdict: aLastVerdict({ verdict }), attempt });
    expect(quarantinedCause(record)).toEqual({
      kind: 'quarantined',
      since: 900_000,
      outcome: 'unknown',
      rowsMissing: undefined,
      copied: true,
      indexBefore: 'operation_1',
      indexNow: 'operation_2',
      cutoffMillis: 600_000,
    });
  });

  test('only what was counted, where no truncation of ours was under way', () => {
    const cause = quarantinedCause(aQuarantined({ attempt: undefined }));
    expect(cause).toMatchObject({
      outcome: 'rows-missing',
      rowsMissing: 30,
      copied: undefined,
      cutoffMillis: undefined,
    });
  });
});
