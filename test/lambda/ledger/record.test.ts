import { describe, expect, test } from 'vitest';
import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import {
  type LedgerRecord,
  namesOfRecord,
  parseRecord,
  readablePartOf,
  revisionOf,
  type StoredRecord,
  storable,
  type Unreadable,
} from '../../../lambda/ledger/record.ts';
import { dottedName } from '../../../lambda/policy/aspects.ts';
import {
  aLastVerdict,
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aRecordOfEachState,
  aReleased,
  aRunning,
  aServer,
  aVerdict,
  decidedBy,
} from '../../support/records.ts';

/** What is read from a store, what is not, and what is kept. */

/** As a store returns it. */
const stored = (record: object): unknown => JSON.parse(JSON.stringify(record));
const read = (record: object): StoredRecord => parseRecord(anIndex, stored(record));
const unreadable = (record: object): Unreadable => {
  const found = read(record);
  if (found.state !== 'unreadable') throw new Error(`it is ${found.state}`);
  return found;
};

describe('a field that this version does not know', () => {
  const more = { later: { of: 'another version' } };

  test.each(aRecordOfEachState())('is kept in every part of a $state record', (record) => {
    const { attempt, lastVerdict, lastRelease } = { attempt: undefined, ...record };
    const theirs = stored({
      ...record,
      ...more,
      lastSender: { ...record.lastSender, ...more },
      attempt: attempt && {
        ...attempt,
        ...more,
        fields: { ...attempt.fields, ...more },
        baseline: { ...attempt.baseline, ...more },
      },
      lastVerdict: lastVerdict && {
        ...lastVerdict,
        ...more,
        decided: { ...lastVerdict.decided, ...more },
        verdict: { ...lastVerdict.verdict, ...more },
      },
      lastRelease: lastRelease && { ...lastRelease, ...more, release: { ...lastRelease.release, ...more } },
      window: { afterMillis: 1, untilMillis: 2, rows: 3, countedAtMillis: 4, ...more },
    });
    expect(stored(storable(parseRecord(anIndex, theirs)))).toEqual(theirs);
  });
});

describe('what a later version has written about an end (a rollback)', () => {
  const aLater = (verdict: object) =>
    stored(withValue(structuredClone(aQuarantined()), 'lastVerdict.verdict', { ...aVerdict(), ...verdict }));

  test.each<[string, object, object]>([
    [
      'an outcome',
      { outcome: 'half-truncated' },
      { outcome: 'unknown', ofLaterVersion: { outcome: 'half-truncated' } },
    ],
    ['a kind of cause', { cause: { kind: 'shrunk', by: 5 } }, { cause: { kind: 'shrunk', by: 5 } }],
    [
      'a variant of a cause, not its outcome',
      { cause: { kind: 'missing', expected: 'many' } },
      { ofLaterVersion: expect.not.objectContaining({ outcome: expect.anything() }) },
    ],
    [
      'both',
      { outcome: 'shrunk', cause: { kind: 'gone', what: 'shrunk' } },
      { outcome: 'unknown', ofLaterVersion: { outcome: 'shrunk', cause: { kind: 'gone', what: 'shrunk' } } },
    ],
  ])('reads as unknown, and is written back as it was: %s', (_, written, found) => {
    const record = parseRecord(anIndex, aLater(written));
    expect(record).toMatchObject({ state: 'quarantined', lastVerdict: { verdict: found } });
    expect(stored(storable(record))).toEqual(aLater(written));
  });
});

test('what reads as unknown is never taken from a store: a record that was edited by hand keeps its own outcome', () => {
  const verdict = { ...aVerdict({ outcome: 'rows-missing' }), ofLaterVersion: { outcome: 'truncated' } };
  const record = read(withValue(structuredClone(aQuarantined()), 'lastVerdict.verdict', verdict)) as LedgerRecord;
  expect(JSON.stringify(storable(record))).not.toMatch(/ofLaterVersion|truncated/);
});

describe('what only a message shows', () => {
  test.each<[string, object, string]>([
    ['the rows that a verdict has deleted', { rows: 5 }, 'lastVerdict.verdict.rowsDeleted'],
    ['the physical index of the baseline', [], 'attempt.baseline.indexName'],
    ['the error of the call', { kind: 'of a later version' }, 'attempt.callError'],
    ['the retention', { days: 30 }, 'attempt.retentionDays'],
    ['the window that the next Plan counts', { after: 'then' }, 'window'],
    ['the names of the index', [], 'aspect'],
  ])('is dropped alone where it cannot be read: %s', (_, value, path) => {
    const record = structuredClone(aQuarantined());
    expect(read(withValue(record, path, value))).toEqual(withValue(record, path, undefined));
  });

  test('is what a release has counted, and the attempt of an idle record, too', () => {
    const released = aReleased({ lastRelease: { decided: decidedBy, release: {} } });
    expect(read(withValue(aReleased(), 'lastRelease.release', { unknown: 'of a later version' }))).toEqual(released);
    expect(read({ ...anIdle(), attempt: 'of a later version', taskId: 5 })).toEqual(
      expect.objectContaining({ state: 'idle', attempt: undefined, taskId: undefined }),
    );
  });
});

describe('a record without a field that decides is unreadable, and names it:', () => {
  test.each([
    ['state', aRunning()],
    ['index', aRunning()],
    ['server', aRunning()],
    ['revision', aRunning()],
    ['unreported', aRunning()],
    ['lastSender', aRunning()],
    ['taskId', aRunning()],
    ['attempt', aRunning()],
    ['attempt.policyCutoffMillis', aRunning()],
    ['attempt.fields.cutoffMillis', aRunning()],
    ['attempt.announced', aRunning()],
    ['attempt.method', aRunning()],
    ['attempt.baseline.rowsToKeep', aRunning()],
    ['attempt.sendingSince', aRunning()],
    ['attempt.judgeableAt', aRunning()],
    ['lastVerdict', aQuarantined()],
    ['lastVerdict.verdict.outcome', aQuarantined()],
    ['lastVerdict.verdict.method', aQuarantined()],
    ['lastVerdict.decided.atMillis', aQuarantined()],
  ])('%s', (path, record) => {
    const { fields, stored: kept } = unreadable(withValue(structuredClone(record), path, undefined));
    expect(fields).toEqual([path]);
    expect(kept).toEqual(stored(withValue(structuredClone(record), path, undefined)));
  });

  test('a state of a later version, too', () => {
    expect(unreadable({ ...aRunning(), state: 'paused' }).fields).toEqual(['state']);
  });

  test('and a missing number of lost rows is no reason', () => {
    const record = aQuarantined({ lastVerdict: aLastVerdict({ verdict: aVerdict({ rowsMissing: undefined }) }) });
    expect(read(record).state).toBe('quarantined');
  });
});

test.each([9e15, -1])(
  'a moment that no date can hold (%d) makes a record unreadable: a report would fail on it',
  (atMillis) => {
    const record = withValue(anIdle({ lastVerdict: aLastVerdict() }), 'lastVerdict.decided.atMillis', atMillis);
    expect(unreadable(record).fields).toEqual(['lastVerdict.decided.atMillis']);
  },
);

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['a text', 'text'],
  ['a list', []],
  ['an empty record', {}],
])('%s is unreadable, and says nothing', (_, nothing) => {
  const found = parseRecord(anIndex, nothing) as Unreadable;
  expect(found.state).toBe('unreadable');
  expect([revisionOf(found), readablePartOf(found).server]).toEqual([0, undefined]);
});

test('of an unreadable record each field is read that can be, and the first five others are named', () => {
  const found = unreadable({ ...aRunning(), revision: 'x', lastSender: 5, attempt: { judgeableAt: 7 } });
  expect(found.fields.join()).toMatch(/^revision,lastSender,attempt\.\w+,attempt\.\w+,attempt\.\w+$/);
  const remains = readablePartOf(found);
  expect(remains).toMatchObject({ server: aServer, attempt: { judgeableAt: 7 } });
  expect([remains.revision, remains.lastSender]).toEqual([undefined, undefined]);
});

describe('a record', () => {
  test('that could not be read again is not written, and its wrong fields are named', () => {
    const attempt = anAttempt({ baseline: { rowsToDelete: -1, rowsTotal: 1.5, rowsToKeep: 0, countedAtMillis: 0 } });
    expect(() => storable(aRunning({ attempt }) as LedgerRecord)).toThrow(
      /attempt\.baseline\.rowsToDelete, attempt\.baseline\.rowsTotal/,
    );
  });

  test('that cannot be read is stored as it was found', async () => {
    const ledger = memoryLedger();
    const theirs = { ...anIdle({ revision: 4 }), lastSender: 'somebody', more: [1, { a: 2 }] };
    ledger.stored.set(anIndex, theirs);
    expect(storable((await ledger.read(anIndex)) as StoredRecord)).toEqual(theirs);
  });

  test('that says nothing has the names of its index, by which a person can release it', () => {
    const nameOf = (index: string) => dottedName(namesOfRecord(parseRecord(index, {})));
    expect(nameOf(anIndex)).toBe('dataset.operation');
    expect(nameOf('datajob_datahubingestionrunsummaryaspect_v1')).toBe('dataJob.datahubIngestionRunSummary');
    expect(nameOf('a_b_caspect_v1')).toBe('a.b_c');
    expect(nameOf('dataset_operationaspect_v1_1754300000000')).toBe('dataset_operationaspect_v1_1754300000000.');
  });

  test('with the names of another index is called by its own', () => {
    const record = anIdle({ index: anIndex, entityType: 'chart', aspect: 'chartUsageStatistics' });
    expect(dottedName(namesOfRecord(record))).toBe('dataset.operation');
  });
});

/** The record with another value at a path such as `attempt.fields.cutoffMillis`; it is changed in place. */
function withValue<Changed extends object>(record: Changed, path: string, value: unknown): Changed {
  const names = path.split('.');
  const last = names.pop() ?? '';
  const target = names.reduce((part, name) => part[name] as Record<string, unknown>, record as Record<string, unknown>);
  if (value === undefined) delete target[last];
  else target[last] = value;
  return record;
}

test('a record that waits for a report of nothing is not readable, so that a person can release it', () => {
  const record = parseRecord(anIndex, anIdle({ unreported: true }));
  expect(record).toMatchObject({ state: 'unreadable', fields: ['unreported'] });
});
