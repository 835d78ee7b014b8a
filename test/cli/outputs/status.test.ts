import { describe, expect, test } from 'vitest';
import { statusOf } from '../../../cli/ledgers/status.ts';
import { runsText, statusText } from '../../../cli/outputs/status.ts';
import { parseRecord, type StoredRecord } from '../../../lambda/ledger/record.ts';
import {
  aLastVerdict,
  anAttempt,
  anIdle,
  aRecordOfEachState,
  aReindex,
  aReleased,
  aRunning,
  aVerdict,
} from '../../support/records.ts';

const linesOf = (...records: StoredRecord[]) => statusText(records, 80).split('\n');

describe('status', () => {
  test('fits 80 columns, with a table for each server', () => {
    const elsewhere = aRunning({ server: 'https://datahub.example.com/api/gms', taskId: 'x'.repeat(22) });
    const long = anIdle({
      index: 'dataprocessinstance_dataprocessinstanceruneventaspect_v1',
      entityType: 'dataProcessInstance',
      aspect: 'dataProcessInstanceRunEvent',
    });
    const unread: StoredRecord = { state: 'unreadable', index: 'a', fields: ['state'], stored: { revision: 1 } };
    const lines = linesOf(...aRecordOfEachState(), elsewhere, long, unread);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.filter((line) => line.startsWith('Server'))).toEqual([
      'Server  http://localhost:1',
      'Server  https://datahub.example.com/api/gms',
      'Server  not known',
    ]);
    expect(lines.join('\n')).toContain('dataProcessInstance.dataProcessInstanceRunEvent');
  });

  test('says what is under way, what is not reported yet, and what waits for a person', () => {
    expect(statusOf(aRunning({ attempt: anAttempt({ by: 'eve' }) })).by).toBe('eve');
    const lines = statusText(aRecordOfEachState(), 200).split('\n').slice(3);
    expect(lines.map((line) => line.replace(/^dataset\.operation +/, ''))).toEqual([
      'idle',
      'idle         truncated on 1 Jan 1970, 00:15 UTC: 60 rows deleted; nothing more is deleted here until a run has reported it',
      'idle         released on 1 Jan 1970, 00:15 UTC; nothing more is deleted here until a run has reported it',
      'being sent   since 1 Jan 1970, 00:20 UTC; 60 rows to delete',
      'under way    since 1 Jan 1970, 00:20 UTC; 60 rows to delete; task node:1',
      'QUARANTINED  rows-missing on 1 Jan 1970, 00:15 UTC: 30 rows missing, 60 rows deleted; nothing more is deleted here until a run has reported it',
      'QUARANTINED  rows-missing on 1 Jan 1970, 00:15 UTC: 30 rows missing, 60 rows deleted',
      '',
    ]);
  });

  test('says of a reindex which rows still take space, and where', () => {
    const verdict = aVerdict({ rowsDeleted: undefined, rowsLeftBehind: 60, method: 'reindex' });
    const { baseline } = anAttempt();
    const attempt = aReindex({ baseline: { ...baseline, indexName: 'old_1' } });
    const text = statusText([anIdle({ attempt, lastVerdict: aLastVerdict({ verdict }) })], 200);
    expect(text).toContain('60 rows left behind in old_1');
    // Not in the index that the next truncation is about, and its task has written rows, and deleted none.
    const lastVerdict = aLastVerdict({ verdict: { ...verdict, cause: { kind: 'verified', done: 40, total: 40 } } });
    const open = statusOf(aRunning({ attempt, lastVerdict }));
    expect(open).toMatchObject({ rowsLeftBehind: 60, oldIndex: undefined, taskRows: undefined });
  });

  test.each([
    [{ missing: 1, accepted: 1 }, ', with up to 1 row accepted as lost'],
    [{ unknown: 'uncounted', accepted: 0 }, ', without proof that no row is missing'],
    [{ unknown: 'running', accepted: 9 }, ', with up to 9 rows accepted as lost, without proof that no row is missing'],
  ] as const)('says what a person accepted with a release: %j', (release, said) => {
    const { lastRelease, ...record } = aReleased();
    const text = statusText([{ ...record, lastRelease: { ...lastRelease!, by: 'eve', release } }], 200);
    expect(text).toContain(`released by eve on 1 Jan 1970, 00:15 UTC${said}`);
  });

  test.each([
    [{ indices: [{ name: 'a.b', outcome: 'truncated', rowsDeleted: 1 }] }, 'ok', 'a.b truncated (1 row deleted)'],
    [
      { indices: [{ name: 'a.b', outcome: 'truncated', rowsDeleted: 2, approvedRows: 3, by: 'eve', run: 'x' }] },
      'ok',
      'a.b truncated (2 rows deleted, 3 approved, asked for by eve, decided by run x)',
    ],
    [
      { released: [{ name: 'a.b', accepted: 1, by: 'eve', run: 'x' }] },
      'ok',
      'a.b released, with up to 1 row accepted as lost (asked for by eve, decided by run x)',
    ],
    [{}, 'ok', 'nothing to do'],
    [{}, 'attention', 'no index was touched: its report says why'],
  ])('says what a run did: %j, %s', (what, result, said) => {
    const run = { runId: 'y', finishedAt: '2026-11-27T03:00:00.000Z', by: 'schedule', result, indices: [], ...what };
    expect(runsText([run], 200)).toContain(`  ${said}\n`);
  });

  test('names the fields of a record that cannot be read', () => {
    const [, , , line] = linesOf(parseRecord('dataset_operationaspect_v1', { ...anIdle(), revision: 'x' }));
    expect(line).toContain('revision');
  });
});
