import { expect, test } from 'vitest';
import {
  decisionOf,
  headOf,
  type LedgerRecord,
  namesOfRecord,
  parseRecord,
  storable,
} from '../../../lambda/ledger/record.ts';
import { fence, markReported } from '../../../lambda/ledger/transitions.ts';
import { dottedName } from '../../../lambda/policy/aspects.ts';
import { aJudged, aKey, anAttempt, anIdle, anIndex, aRecordOfEachState, aRunning } from '../../support/records.ts';

test.each(aRecordOfEachState().map((record) => [record.state, record] as const))(
  'a record that is %s is read back as it was written',
  (_, record) => {
    expect(parseRecord(anIndex, JSON.parse(JSON.stringify(storable(record))))).toEqual(record);
  },
);

test('a record that could not be read again is not written, and its wrong fields are named', () => {
  const attempt = anAttempt({ baseline: { rowsToDelete: -1, rowsTotal: 1.5, rowsToKeep: 0, countedAtMillis: 0 } });
  expect(() => storable(aRunning({ attempt }) as LedgerRecord)).toThrow(
    'The ledger record of dataset_operationaspect_v1 would not be readable (attempt.baseline.rowsToDelete, attempt.baseline.rowsTotal), so it was not written.',
  );
});

test('a record that is stored under another index is not read as one', () => {
  expect(parseRecord('another_index', anIdle()).state).toBe('other-version');
});

test('of a damaged record each field is read that can be', () => {
  const damaged = { ...anIdle(), state: 'running', revision: 'x', lastSender: 5, attempt: { judgeableAt: 7 } };
  expect(headOf(parseRecord(anIndex, damaged))).toMatchObject({
    state: 'running',
    entityType: 'dataset',
    revision: undefined,
    lastSender: undefined,
    attempt: { judgeableAt: 7 },
  });
});

test('what this version cannot read of another one is written back as it was', () => {
  const theirs = {
    ...{ version: 9, index: anIndex, state: 'judged', revision: 4, decision: { ...aJudged().decision, more: 1 } },
    ...{ lastSender: { runId: 'run-9', runStartMillis: 1, more: 2 }, lastRelease: 'of another kind', attempt: 'too' },
  };
  const found = parseRecord(anIndex, theirs);
  expect(storable(found)).toEqual(theirs);
  const { decision: _, ...kept } = theirs;
  const told = markReported(found, theirs.decision.id);
  expect(told && storable(told)).toEqual({ ...kept, state: 'quarantined', revision: 5 });
  const later = { runId: 'run-10', runStartMillis: 2 };
  expect(storable(fence(found, aKey, later, 3))).toEqual({ ...theirs, revision: 5, lastSender: later });
});

test('a record that says nothing has the names of its index, by which a person can release it', () => {
  const nameOf = (index: string) => dottedName(namesOfRecord(parseRecord(index, {})));
  expect(nameOf(anIndex)).toBe('dataset.operation');
  expect(nameOf('datajob_datahubingestionrunsummaryaspect_v1')).toBe('dataJob.datahubIngestionRunSummary');
  expect(nameOf('a_b_caspect_v1')).toBe('a.b_c');
  expect(nameOf('dataset_operationaspect_v1_1754300000000')).toBe('dataset_operationaspect_v1_1754300000000.');
});

test('a decision of another version is read from the head, where nothing else of the record can be', () => {
  const { decision } = aJudged();
  const other = parseRecord(anIndex, { version: 9, state: 'judged', decision, lastVerdict: 'of another kind' });
  expect(decisionOf(other)).toEqual(decision);
  expect(decisionOf(parseRecord(anIndex, { version: 9, state: 'idle', decision }))).toBeUndefined();
});
