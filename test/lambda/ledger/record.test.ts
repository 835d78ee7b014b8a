import { expect, test } from 'vitest';
import { assertReadable, type LedgerRecord, parseRecord } from '../../../lambda/ledger/record.ts';
import { anAttempt, anIdle, anIndex, aRecordOfEachState, aRunning } from '../../support/records.ts';

test.each(aRecordOfEachState().map((record) => [record.state, record] as const))(
  'a record that is %s is read back as it was written',
  (_, record) => {
    expect(() => assertReadable(record)).not.toThrow();
    expect(parseRecord(anIndex, JSON.parse(JSON.stringify(record)))).toEqual(record);
  },
);

test('a record that could not be read again is not written, and its wrong fields are named', () => {
  const attempt = anAttempt({ baseline: { rowsToDelete: -1, rowsTotal: 1.5, rowsKept: 0, countedAtMillis: 0 } });
  expect(() => assertReadable(aRunning({ attempt }) as LedgerRecord)).toThrow(
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
