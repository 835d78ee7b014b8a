import { describe, expect, test } from 'vitest';
import { statusText } from '../../../cli/outputs/status.ts';
import type { StoredRecord } from '../../../lambda/ledger/record.ts';
import {
  aJudged,
  aLastVerdict,
  anIdle,
  aQuarantined,
  aRecordOfEachState,
  aRunning,
  decidedBy,
} from '../../support/records.ts';

const linesOf = (...records: StoredRecord[]) => statusText(records, 80).split('\n');

describe('status', () => {
  test('fits 80 columns, with a table for each server', () => {
    const elsewhere = aRunning({ server: 'https://datahub.example.com/api/gms', taskId: 'x'.repeat(22) });
    const long = anIdle({ entityType: 'dataProcessInstance', aspect: 'dataProcessInstanceRunEvent' });
    const unread: StoredRecord = { state: 'other-version', index: 'a', stored: { revision: 1 } };
    const lines = linesOf(...aRecordOfEachState(), elsewhere, long, unread);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.filter((line) => line.startsWith('Server'))).toEqual([
      'Server  http://localhost:1',
      'Server  https://datahub.example.com/api/gms',
      'Server  not known',
    ]);
    expect(lines).toContain('dataProcessInstance.dataProcessInstanceRunEvent');
  });

  test('says what is under way, what is not reported yet, and what waits for a person', () => {
    const text = statusText(aRecordOfEachState(), 200);
    expect(text).toMatch(/^dataset\.operation {2}being sent +since 1 Jan 1970, 00:20 UTC; 60 rows to delete$/m);
    expect(text).toMatch(/^dataset\.operation {2}under way +since .*; 60 rows to delete; task node:1$/m);
    expect(text).toMatch(
      /^dataset\.operation {2}not reported {2}rows-missing on .* UTC: 30 rows missing, 60 rows deleted; nothing more is deleted here until a run has reported it$/m,
    );
    expect(text).toMatch(
      /^dataset\.operation {2}QUARANTINED {3}rows-missing on 1 Jan 1970, 00:15 UTC: 30 rows missing, /m,
    );
  });

  test('says a verdict and its release, while neither has been reported', () => {
    const { decision, lastVerdict } = aJudged();
    const lastRelease = { decided: { ...decidedBy, atMillis: 86_400_000 }, release: {} };
    const [, , , both] = statusText([aJudged({ decision: { ...decision, released: true }, lastRelease })], 200).split(
      '\n',
    );
    expect(both).toMatch(
      /not reported {2}rows-missing on .*; released on 2 Jan 1970, .*; nothing more is deleted here/,
    );
    const [, , , release] = statusText(
      [aJudged({ decision: { ...decision, outcome: undefined, released: true }, lastVerdict, lastRelease })],
      200,
    ).split('\n');
    expect(release).toMatch(/not reported {2}released on 2 Jan 1970, .*; nothing more is deleted here/);
  });

  test('says what another version has decided and not reported', () => {
    const { version: _, ...judged } = aJudged();
    const text = statusText([{ state: 'other-version', index: 'a', stored: { ...judged, version: 99 } }], 200);
    expect(text).toMatch(
      /not readable {2}written by another version; rows-missing on .*; nothing more is deleted here/,
    );
  });

  test('says what a release did, not what was judged before it', () => {
    const lastRelease = { decided: { ...decidedBy, atMillis: 86_400_000 }, release: {} };
    const { lastVerdict } = aQuarantined();
    const [, , , released] = linesOf(anIdle({ lastVerdict, lastRelease }));
    expect(released).toBe('dataset.operation  idle  released on 2 Jan 1970, 00:00 UTC');
    const later = aLastVerdict({ decided: { ...decidedBy, atMillis: 2 * 86_400_000 } });
    const [, , , truncated] = linesOf(anIdle({ lastVerdict: later, lastRelease }));
    expect(truncated).toBe('dataset.operation  idle  truncated on 3 Jan 1970, 00:00 UTC: 60 rows deleted');
  });
});
