import { expect, test } from 'vitest';
import { decisionOf, type LedgerRecord, parseRecord, storable } from '../../../lambda/ledger/record.ts';
import { aJudged, anAttempt, anIdle, anIndex, aRecordOfEachState, aRunning } from '../../support/records.ts';

test.each(aRecordOfEachState().map((record) => [record.state, record] as const))(
  'a record that is %s is read back as it was written',
  (_, record) => {
    expect(parseRecord(anIndex, JSON.parse(JSON.stringify(storable(record))))).toEqual(record);
  },
);

test('a record that could not be read again is not written, and its wrong fields are named', () => {
  const attempt = anAttempt({ baseline: { rowsToDelete: -1, rowsTotal: 1.5, rowsKept: 0, countedAtMillis: 0 } });
  expect(() => storable(aRunning({ attempt }) as LedgerRecord)).toThrow(
    'The ledger record of dataset_operationaspect_v1 would not be readable (attempt.baseline.rowsToDelete, attempt.baseline.rowsTotal), so it was not written.',
  );
});

test('a record that is stored under another index is not read as one', () => {
  expect(parseRecord('another_index', anIdle()).state).toBe('other-version');
});

test('of a damaged record each field is read that can be', () => {
  const damaged = { ...anIdle(), state: 'running', revision: 'x', lastSender: 5, attempt: { judgeableAt: 7 } };
  expect(parseRecord(anIndex, damaged)).toMatchObject({
    state: 'other-version',
    head: {
      state: 'running',
      entityType: 'dataset',
      revision: undefined,
      lastSender: undefined,
      attempt: { judgeableAt: 7 },
    },
  });
});

test('a decision of another version is read from the head, where nothing else of the record can be', () => {
  const { decision } = aJudged();
  const other = parseRecord(anIndex, { version: 9, state: 'judged', decision, lastVerdict: 'of another kind' });
  expect(decisionOf(other)).toEqual(decision);
  expect(decisionOf(parseRecord(anIndex, { version: 9, state: 'idle', decision }))).toBeUndefined();
});
