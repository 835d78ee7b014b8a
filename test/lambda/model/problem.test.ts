import { expect, test } from 'vitest';
import type { Report } from '../../../lambda/model/report-schema.ts';
import { isProblem } from '../../../lambda/report/message.ts';
import { anEntry, aReport } from '../aws/a-report.ts';

/** What people who subscribe only to problems receive (rule 12). */

const noted = (note: object) => aReport([], { notes: [{ text: 'A note.', ...note }] as Report['notes'] });

test.each<[string, Report]>([
  ['that needs attention', aReport([anEntry('above-ceiling')])],
  ['that failed as a whole', aReport([], { result: 'failed' })],
  ['in which more rows went than go on any day', aReport([anEntry('truncated', { rowsMissing: 11 })])],
  ['in which a written row is not visible', aReport([anEntry('truncated', { rowsNotVisible: 1, method: 'reindex' })])],
  ['in which a server reindexed', aReport([anEntry('truncated', { method: 'reindex' })])],
  ['in which an index was replaced', aReport([anEntry('truncated', { indexNow: 'dataset_operationaspect_v1_2' })])],
  ['that did not find an index', aReport([anEntry('truncated', { noIndex: true })])],
  ['with a token that is about to expire', noted({ kind: 'token-expires', at: 1 })],
  ['that cannot read whether it is paused', noted({ kind: 'paused', problem: 'The pause switch cannot be read.' })],
  ['that could not carry every index', noted({ kind: 'beyond', entries: 1, names: ['a'], quarantined: [] })],
])('a run %s is a problem', (_, report) => {
  expect(isProblem(report)).toBe(true);
});

test.each<[string, Report]>([
  ['that truncated', aReport([anEntry('truncated', { rowsDeleted: 9, rowsMissing: 0, method: 'delete' })])],
  ['beside which an entity was deleted', aReport([anEntry('truncated', { rowsDeleted: 9, rowsMissing: 10 })])],
  ['of a server without a clock', noted({ kind: 'no-date-header' })],
  ['of a server that does not know a field', noted({ kind: 'field-refused' })],
  ['that is paused, and had nothing to do', noted({ kind: 'paused' })],
])('a run %s is none', (_, report) => {
  expect(isProblem(report)).toBe(false);
});
