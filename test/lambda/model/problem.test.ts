import { expect, test } from 'vitest';
import type { Outcome } from '../../../lambda/model/outcomes.ts';
import type { Report } from '../../../lambda/model/report-schema.ts';
import { isProblem } from '../../../lambda/report/message.ts';
import { aReport, anEntry as entryOf } from '../../support/reports.ts';

/** What people who subscribe only to problems receive (rule 12). */

const anEntry = (outcome: Outcome, more = {}) => entryOf(outcome, { kind: 'verified' }, more);
const noted = (note: object) => aReport([], { notes: [{ text: 'A note.', ...note }] as Report['notes'] });

test.each<[string, Report]>([
  ['that needs attention', aReport([anEntry('above-ceiling')])],
  ['that failed as a whole', aReport([], { result: 'failed' })],
  ['in which more rows went than go on any day', aReport([anEntry('truncated', { rowsMissing: 11 })])],
  ['in which a written row is not visible', aReport([anEntry('truncated', { rowsNotVisible: 1 })])],
  ['in which a server reindexed', aReport([anEntry('truncated', { method: 'reindex' })])],
  ['in which an index was replaced', aReport([anEntry('truncated', { indexNow: 'dataset_operationaspect_v1_2' })])],
  ['that did not find an index', aReport([anEntry('truncated', { noIndex: true })])],
  ['with a token that is about to expire', noted({ kind: 'token-expires', at: 1 })],
  ['that cannot read whether it is paused', noted({ kind: 'paused', problem: 'The pause switch cannot be read.' })],
  ['with a certificate that is about to expire', noted({ kind: 'certificate-expires', at: 1 })],
  ['that was reported days later', noted({ kind: 'late', startedAt: 1 })],
  ['whose Truncate failed', noted({ kind: 'truncate-failed', index: 'a.b', error: 'Lambda.Unknown' })],
  ['that a subscriber has not confirmed', noted({ kind: 'unconfirmed', confirmed: 0, pending: 1 })],
  ['by hand that only previewed', noted({ kind: 'preview-by-hand' })],
  ['that released an index', noted({ kind: 'released', index: 'a.b' })],
  ['that released none', noted({ kind: 'not-released', index: 'a.b', why: 'idle' })],
  ['before which rows went', noted({ kind: 'fewer-rows', index: 'a.b', expected: 20, found: 1, since: 1 })],
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
  ['whose ledger has records of another address', noted({ kind: 'other-address', address: 'http://b', records: 1 })],
  ['that finds an empty ledger', noted({ kind: 'empty-ledger' })],
  ['of a change', noted({ kind: 'change', policies: 1, unread: 0 })],
])('a run %s is none', (_, report) => {
  expect(isProblem(report)).toBe(false);
});
