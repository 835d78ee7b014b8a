import { expect, test } from 'vitest';
import { messageOf } from '../../../lambda/report/message.ts';
import { anEntry, aReport } from '../../support/reports.ts';
import { aws } from './cases.ts';

/** What an earlier run did is no work of a preview: its subject says so, however long the name of that run is. */

const earlier = { decidedAt: '2026-08-13T03:31:00.000Z', decidedBy: '7f1c8e0a-3b52-4c1d-9e55-0d3f6b1a2c44' };
const subjectOf = (...policies: Parameters<typeof aReport>[0]): string =>
  messageOf(aReport(policies, { mode: 'preview', stage: 'p' }, aws), { audience: aws }).subject;
const today = anEntry('nothing-to-delete', { kind: 'not-due' }, { name: 'dataset.datasetProfile', rowsToDelete: 0 });

test('A truncation that nobody has read is named with its day, and with its run where there is room', () => {
  const unread = (decidedBy: string) => anEntry('truncated', { kind: 'verified' }, { ...earlier, decidedBy });
  expect(subjectOf(today, unread('r1'))).toBe(
    '[DataHub retention] PREVIEW p: OK: 1 with nothing to do; unread, 13 Aug 2026, run r1: 1 truncated',
  );
  expect(subjectOf(today, unread(earlier.decidedBy))).toBe(
    '[DataHub retention] PREVIEW p: OK: 1 with nothing to do; unread, 13 Aug 2026: 1 truncated',
  );
});

test('A loss that nobody has read is named whole', () => {
  const loss = anEntry(
    'rows-missing',
    { kind: 'missing', expected: 5000, found: 0 },
    { ...earlier, rowsMissing: 5000 },
  );
  expect(subjectOf(today, loss)).toMatch(/PREVIEW p: unread, 13 Aug 2026: ROWS MISSING in dataset\.operation/);
});
