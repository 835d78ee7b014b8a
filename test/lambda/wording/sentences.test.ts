import { describe, expect, test } from 'vitest';
import type { Cause } from '../../../lambda/facts/cause.ts';
import type { Note } from '../../../lambda/facts/note.ts';
import type { DecidedFacts } from '../../../lambda/facts/report-schema.ts';
import type { ServerError } from '../../../lambda/facts/server-error.ts';
import { causeText } from '../../../lambda/wording/causes.ts';
import { checkWords } from '../../../lambda/wording/checks.ts';
import { diagnosisText, errorText, remedy } from '../../../lambda/wording/errors.ts';
import { noteText } from '../../../lambda/wording/notes.ts';
import { recovery, recoveryText } from '../../../lambda/wording/recovery.ts';
import { sentence } from '../../../lambda/wording/sentences.ts';
import { anEntry, aReport } from '../../support/reports.ts';

/** Sentences that no golden message contains, because no run against the embedded service leads to them. */

const at = Date.UTC(2026, 2, 1, 3, 30);
const old = 'dataset_operationaspect_v1_1753500600000';
const young = 'dataset_operationaspect_v1_1772335860000';

describe('a cause says', () => {
  test.each<[string, DecidedFacts['outcome'], Cause, Partial<DecidedFacts>, string]>([
    [
      'a problem of a policy, without the stop of its sentence',
      'failed',
      { kind: 'policy', problem: 'retentionDays is missing.' },
      {},
      'retentionDays is missing',
    ],
    [
      'an index that lost its rows to somebody who deletes',
      'emptied',
      { kind: 'emptied', rowsBefore: 5000, nights: 12, indexBefore: old, indexNow: old },
      { rowsTotal: 3 },
      `it held about 5,000 rows for 12 nights and holds 3 now, and this job has not truncated it. The index behind it is the same (${old}): the rows were deleted`,
    ],
    [
      "an index that lost its rows to somebody's reindex",
      'emptied',
      { kind: 'emptied', rowsBefore: 5000, nights: 1, indexBefore: old, indexNow: young },
      { rowsTotal: 0 },
      `it held about 5,000 rows for 1 night and holds 0 now, and this job has not truncated it. The index behind it changed from ${old} to ${young}: something else reindexed it`,
    ],
    [
      'what a bite takes, and how long all of it will take',
      'would-truncate',
      { kind: 'due', minDeletePercent: 10, bite: 100_000, nights: 12, seconds: 700 },
      { rowsTotal: 1000, rowsToDelete: 500 },
      '50.00 % of the rows are older than 90 days; at most 100,000 go in one run, all of them in about 12 nights; about 12 min (last time)',
    ],
    [
      'a delete by query during which the index was replaced',
      'unknown',
      { kind: 'unsettled', why: 'status', copied: true, indexBefore: old, indexNow: young, movedBy: 'us' },
      { strategy: 'delete-by-query' },
      `no row is known to be missing, but the index behind the alias was replaced (${old} by ${young}) while this truncation may have been running, and nothing proves that every row was copied: its task could not be asked`,
    ],
    [
      'a reindex that nobody could ask about',
      'unknown',
      { kind: 'unsettled', why: 'status', copied: true, indexBefore: old, indexNow: young, movedBy: 'us' },
      { strategy: 'reindex' },
      'no row is known to be missing, but the reindex is not proven: its task could not be asked',
    ],
    [
      'rows that went when the index was replaced under a delete by query',
      'rows-missing',
      { kind: 'missing', expected: 400, found: 200, indexBefore: old, indexNow: young, movedBy: 'us' },
      { strategy: 'delete-by-query', rowsMissing: 200 },
      `the index behind the alias was replaced (${old} by ${young}) while this truncation may have been running, and not every row that should stay was copied: 200 of 400 rows newer than the cutoff are there`,
    ],
    [
      'a bite that the oldest hour alone exceeds',
      'above-ceiling',
      { kind: 'above-ceiling', approveRows: 90, bite: 50 },
      { rowsToDelete: 80 },
      'the oldest hour alone holds 80 rows older than 90 days, more than the 50 that one run may delete (maxRowsPerRun)',
    ],
    [
      'an approval that was not enough',
      'above-ceiling',
      { kind: 'above-ceiling', maxDeletePercent: 90, approveRows: 90, approved: 70 },
      { rowsTotal: 100, rowsToDelete: 95 },
      '95.00 % of the rows are older than 90 days, more than the ceiling of 90 % (and 95 rows are more than the 70 approved)',
    ],
    [
      'what a bite has left',
      'truncated',
      { kind: 'verified', by: 'counts', rest: 2_000_000, nights: 20 },
      { rowsDeleted: 100_000 },
      '100,000 rows deleted, verified by counting again; the rest, 2 M rows, in about 20 nights',
    ],
    [
      'which clock is wrong, and by how much',
      'failed',
      { kind: 'guard', which: 'server-clock', found: -3_600_000 },
      {},
      "the server's clock is 60 minutes behind ours, and a wrong clock deletes fresh rows",
    ],
    [
      'until when a reindex waits after an upgrade',
      'not-started',
      { kind: 'guard', which: 'index-young', found: Date.UTC(2026, 4, 22, 3, 30) },
      { indexName: `dataset_operationaspect_v1_1_7_0-0_${Date.UTC(2026, 4, 22, 3, 30)}` },
      'the index behind it was made by an upgrade of DataHub on 22 May 2026, 03:30 UTC: a copy into it may still be under way, so a reindex waits until 5 Jun 2026, 03:30 UTC',
    ],
    [
      'that a policy was changed, and how',
      'not-started',
      { kind: 'changed', what: 'maxDeletePercent', now: 50 },
      {},
      'its policy was changed after the plan was made: maxDeletePercent was not set and is 50',
    ],
    [
      'which index opened the circuit breaker, and why',
      'not-started',
      { kind: 'stopped', by: 'breaker', index: 'dataset.operation', outcome: 'rows-missing' },
      {},
      'the circuit breaker is open: rows are missing in dataset.operation',
    ],
    [
      'which index opened the circuit breaker without a row known to be missing',
      'not-started',
      { kind: 'stopped', by: 'breaker', index: 'dataset.operation', outcome: 'unknown' },
      {},
      'the circuit breaker is open: the state of a truncation of dataset.operation is unknown',
    ],
    [
      'that two calls returned no task id',
      'not-started',
      { kind: 'stopped', by: 'no-task-ids', status: 500 },
      {},
      'two truncations returned no task ID, so the run started nothing more',
    ],
    [
      'that the token may be refused for the next call too',
      'not-started',
      { kind: 'stopped', by: 'no-task-ids', status: 403 },
      {},
      'the server answered 403 to a truncation, so the run started nothing more',
    ],
    [
      "which run took the event's time",
      'not-started',
      { kind: 'stopped', by: 'duplicate-event', runId: 'them' },
      {},
      'the schedule started this run twice or late: run them already has its scheduled time or a later one (to start a run by hand, leave scheduledTime out)',
    ],
    [
      'that Plan had no time to count',
      'failed',
      { kind: 'stopped', by: 'plan-time' },
      { rowsToDelete: undefined },
      "the server answered too slowly: Plan ran out of time before this policy's dry run",
    ],
    [
      'that Plan had no time to find a bite',
      'not-started',
      { kind: 'stopped', by: 'plan-time' },
      { rowsToDelete: 500 },
      'the server answered too slowly: Plan ran out of time while sizing the bite (maxRowsPerRun)',
    ],
    [
      'when rows went that the last verdict had counted',
      'rows-missing',
      { kind: 'missing', expected: 400, found: 7, since: at },
      {},
      'of the 400 rows that the last truncation left (1 Mar 2026, 03:30 UTC), 7 are there, and this job has not touched the index since',
    ],
    [
      'that the index of the last verdict is gone',
      'rows-missing',
      { kind: 'missing', expected: 400, found: 0, since: at, indexGone: true },
      {},
      'the search engine has no such index any more, which held 400 rows after the last truncation (1 Mar 2026, 03:30 UTC)',
    ],
    [
      'that another run has closed the truncation',
      'in-flight',
      { kind: 'held', state: 'closed' },
      {},
      'another run has closed this truncation and gone on with the index; see its report',
    ],
    [
      "that the server's address was changed, to an index as well",
      'not-started',
      { kind: 'foreign', why: 'address', deployed: true },
      {},
      'the address of the server was changed in the middle of the run, so nothing more was started',
    ],
    [
      'an upgrade that replaced the index meanwhile',
      'truncated',
      { kind: 'verified', by: 'counts', movedBy: 'others', indexBefore: old, indexNow: young },
      { rowsDeleted: 5 },
      `5 rows deleted, verified by counting again; the index behind the alias was replaced meanwhile (${old} by ${young}), as an upgrade does`,
    ],
    [
      'that the index could not be counted any more, and is closed to runs',
      'unknown',
      {
        kind: 'unsettled',
        why: 'uncountable',
        copied: true,
        closed: 'quarantined',
        error: { kind: 'timeout', operation: 'dry-run' },
      },
      {},
      'the index cannot be counted any more (no response in time), so the state of its truncation is unknown; the index is quarantined until a person has looked at it and cleared it',
    ],
    [
      'that the counts of the index contradicted each other until it was too old',
      'unknown',
      { kind: 'unsettled', why: 'uncountable', closed: 'idle' },
      {},
      'its counts kept changing while they were made, so the state of its truncation is unknown; this job no longer watches it',
    ],
    [
      'that a delete hung until it was too old',
      'unknown',
      { kind: 'unsettled', why: 'hung', closed: 'idle' },
      {},
      'its task says that it is running, but nothing has moved for hours; this job no longer watches it',
    ],
    [
      'how many rows of a copy had not arrived when it had to be closed',
      'unknown',
      { kind: 'unsettled', why: 'status', copied: true, closed: 'quarantined' },
      { strategy: 'reindex', rowsMissing: 31 },
      '31 rows that should stay have not arrived, and the reindex is not proven: its task could not be asked; the index is quarantined until a person has looked at it and cleared it',
    ],
    [
      'that something else was faster with every row',
      'incomplete',
      { kind: 'remains', why: 'conflicts', conflicts: 600 },
      {},
      'all 600 rows had been changed or deleted by something else first',
    ],
    [
      'that the ledger has lost its record',
      'unknown',
      { kind: 'unsettled', why: 'no-record' },
      {},
      'the ledger has no record of this truncation any more; look at the index and at its task',
    ],
  ])('%s', (_, outcome, cause, more, text) => {
    expect(causeText(anEntry(outcome, cause, more))).toBe(text);
  });

  test('that the counts are right if the counters of the task contradict them', () => {
    const cause: Cause = { kind: 'verified', by: 'counts', done: 590, total: 600 };
    expect(sentence(anEntry('truncated', cause, { rowsTotal: 1000, rowsDeleted: 600 }))).toBe(
      '600 of 1,000 rows deleted (its counters say 590 of 600, but the counts show that the rows are gone)',
    );
  });

  test('nothing about counters that conflicts explain', () => {
    const cause: Cause = { kind: 'verified', by: 'counts', done: 590, total: 600, conflicts: 10 };
    expect(sentence(anEntry('truncated', cause, { rowsTotal: 1000, rowsDeleted: 590 }))).toBe(
      '590 of 1,000 rows deleted (of the rows to delete, 10 had been changed or deleted by something else first, which is normal)',
    );
  });

  test('that a run is at work on the index only while that is known', () => {
    const busy = (state: (Cause & { kind: 'held' })['state']) =>
      sentence(anEntry('in-flight', { kind: 'held', state }));
    expect(busy('running')).toBe('another truncation of it is not finished');
    expect(busy('taken')).toBe('another run has taken it');
    expect(busy('closed')).toBe('another run has closed its truncation');
  });

  test('no size as a result: sizes follow hours later', () => {
    const cause: Cause = { kind: 'verified', by: 'counts' };
    const figures = { rowsTotal: 1000, rowsDeleted: 500, sizeBeforeMb: 8000, sizeAfterMb: 8200 };
    expect(sentence(anEntry('truncated', cause, figures))).toBe('500 of 1,000 rows deleted, about 4 GB');
    expect(sentence(anEntry('truncated', cause, { ...figures, strategy: 'reindex' }))).toBe(
      '500 of 1,000 rows deleted',
    );
  });
});

describe('a failed request', () => {
  const error: ServerError = { kind: 'privilege', operation: 'dry-run', status: 403, text: 'no' };

  test('says what was asked, what came back, what it means and what to do', () => {
    expect(errorText(error)).toBe(
      'Dry run: the server answered 403: "no". The token\'s owner lacks the privilege "Truncate timeseries aspect index size API" (dry runs need it too), or is suspended. Grant it in DataHub under Settings > Permissions > Policies.',
    );
  });

  test('leaves the remedy out if a next step has it', () => {
    expect(errorText(error)).toBe(`${diagnosisText(error)} ${remedy(error)}`);
  });

  test('that every other request would meet does not name the first one', () => {
    const refused: Cause = {
      kind: 'server',
      error: { kind: 'unauthorized', operation: 'index-sizes', status: 401 },
      sent: 'no',
    };
    expect(causeText(anEntry('failed', refused), 'without-remedy')).toBe(
      'the server answered 401. It does not accept the token: it belongs to another DataHub, has expired, or was revoked.',
    );
  });

  test("does not repeat the search engine's three exceptions around a missing index", () => {
    expect(errorText({ kind: 'no-index', operation: 'dry-run', status: 500, text: 'Count query failed: [x]' })).toBe(
      'Dry run: the search engine has no such index. Check entityType and aspect; an aspect that never had a row may have no index.',
    );
  });

  test.each<[string, RegExp]>([
    ['CERT_HAS_EXPIRED', /certificate has expired\. Renew the certificate/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /for another host name\. Use the name/],
    ['SELF_SIGNED_CERT_IN_CHAIN', /private certificate authority\. .*caCertificateParameter.*--ca-file/],
    ['ERR_SSL_WRONG_VERSION_NUMBER', /http:\/\/ instead of https:\/\//],
  ])('of TLS with %s names the remedy', (code, text) => {
    expect(errorText({ kind: 'tls', operation: 'index-sizes', code, host: 'gms' })).toMatch(text);
  });
});

describe('a note', () => {
  test.each<[Note, string]>([
    [{ kind: 'beyond', entries: 1, quarantined: [] }, '1 further index is not in this report, which lists at most 64.'],
    [
      { kind: 'beyond', entries: 3, quarantined: ['dataset.operation', 'chart.x'] },
      '3 further indices are not in this report, which lists at most 64; quarantined among them: dataset.operation, chart.x.',
    ],
    [
      { kind: 'longer-than-run', index: 'dataset.operation', seconds: 90_000, hours: 12 },
      'The truncation of dataset.operation takes about 25 h (last time), and a run ends after 12 hours (maxRunHours): the next run goes on watching.',
    ],
    [
      { kind: 'memory-unavailable', problem: 'The table is gone.' },
      'The memory of nights is unavailable (The table is gone): no growth and no estimates tonight.',
    ],
    [
      { kind: 'not-released', index: 'a.b', why: 'unresolved', until: at },
      'Not released: a.b, because a truncation of it is unresolved; it can be cleared from 1 Mar 2026, 03:30 UTC on.',
    ],
    [
      { kind: 'not-released', index: 'a.b', why: 'unresolved' },
      'Not released: a.b, because a truncation of it is unresolved, and its ledger record has times that cannot be right.',
    ],
    [
      { kind: 'not-released', index: 'a.b', why: 'running', rowsMissing: 0 },
      'Not released: a.b, because its task may be copying rows and says that it is still running.',
    ],
    [
      { kind: 'not-released', index: 'a.b', why: 'running', rowsMissing: 2 },
      'Not released: a.b, because its task may be copying rows and says that it is still running; 2 rows are missing.',
    ],
    [
      { kind: 'not-released', index: 'a.b', why: 'taken' },
      'Not released: a.b, because another run changed its ledger record in the meantime.',
    ],
    [
      { kind: 'not-released', index: 'a.b', why: 'clock' },
      "Not released: a.b, because the server's clock and ours differ by more than 10 minutes.",
    ],
    [
      { kind: 'released', index: 'a.b', rowsMissing: 0, running: true },
      'Released: a.b. Of the rows that could be counted before its truncation, none is missing; rows that no search could see then (written seconds before a copy began) are in no count. Its task says that it is still running.',
    ],
    [
      { kind: 'released', index: 'a.b', rowsMissing: 0, uncounted: true },
      'Released: a.b, as you accepted, without a count to compare with.',
    ],
  ])('%j', (note, text) => {
    expect(noteText(note)).toBe(text);
  });
});

describe('the way back to rows that are missing', () => {
  const moved: Cause = {
    kind: 'missing',
    expected: 9,
    found: 0,
    rowsIn: old,
    indexNow: young,
    movedBy: 'us',
    deadline: at,
  };

  test('begins with the deadline, whether it has passed or not', () => {
    const entry = anEntry('rows-missing', moved, { strategy: 'reindex' });
    expect(recovery(entry, at - 1)[0]!.say).toBe(
      `Run no DataHub upgrade before this is settled: from 1 Mar 2026 on, its system-update deletes the old index ${old}. The alias has left it, and it should still have the rows: do not delete it`,
    );
    expect(recovery(entry, at)[0]!.say).toBe(
      `Run no DataHub upgrade before this is settled: its system-update would delete the old index ${old} at once, because of its age. The alias has left it, and it should still have the rows: do not delete it`,
    );
  });

  test.each(['verified', 'remains'] as const)('copies the rows that no count could see (%s)', (kind) => {
    const cause = { kind, ...(kind === 'verified' && { by: 'proof' as const }), stragglersIn: old } as Cause;
    const [said, copy] = recovery(anEntry('incomplete', cause, { strategy: 'reindex', indexName: young }), at);
    expect(said?.say).toContain('Before you remove that index, or upgrade DataHub');
    expect(copy?.line).toMatch(/^POST \/_reindex\?wait_for_completion=false .*"op_type":"create"/);
  });

  test('looks and waits, refreshes, points the alias back, and brings over what came in meanwhile', () => {
    const entry = anEntry('rows-missing', moved, { strategy: 'reindex' });
    expect(recovery(entry, at).flatMap(({ line }) => line?.split(' {')[0] ?? [])).toEqual([
      'GET /_cat/indices/*dataset_operationaspect_v1*?v&h=health,index,docs.count,creation.date.string',
      'GET _tasks?actions=*byquery,*reindex&detailed',
      `POST /${young}/_refresh`,
      `GET /${young}/_count`,
      'POST /_aliases',
      `PUT /${old}/_settings`,
      `POST /${young}/_refresh`,
      'POST /_reindex?wait_for_completion=false',
      'GET _tasks/TASK',
      `POST /${old}/_refresh`,
    ]);
  });

  test('is a search for the old index where its name is not known', () => {
    const entry = anEntry('rows-missing', { kind: 'missing', expected: 9, found: 0 }, { strategy: 'reindex' });
    const told = recovery(entry, at);
    expect(told[0]!.say).toMatch(/^Run no DataHub upgrade/);
    expect(told[2]!.line).toMatch(/^GET \/_cat\/indices\/\*dataset_operationaspect_v1\*\?v/);
  });

  test('is left out if an upgrade replaced the index and no row is missing', () => {
    const cause: Cause = { kind: 'verified', by: 'counts', movedBy: 'others', indexBefore: old, indexNow: young };
    expect(recovery(anEntry('truncated', cause), at)).toEqual([]);
  });

  test('is only a refresh if they are copied but not visible, on that night and on the next ones', () => {
    const [first, next] = [
      anEntry('rows-missing', { kind: 'not-refreshed', indexNow: young }),
      anEntry('quarantined', {
        kind: 'quarantined',
        since: at,
        outcome: 'rows-missing',
        unseen: true,
        indexNow: young,
      }),
    ].map((entry) => recovery(entry, at));
    expect(first).toEqual(next);
    expect(recoveryText(anEntry('rows-missing', { kind: 'not-refreshed', indexNow: young }), at)).not.toContain(
      '_aliases',
    );
  });

  test('is repeated each night while the index is closed', () => {
    const entry = anEntry('quarantined', {
      kind: 'quarantined',
      since: at,
      outcome: 'rows-missing',
      rowsIn: old,
      indexNow: young,
    });
    expect(recoveryText(entry, at)).toContain('POST /_aliases');
  });

  test('copies what stayed behind, and moves no alias, where an upgrade or another process put another index', () => {
    const upgraded = young.replace(/\d{13}$/, '1_7_0-0_1754300000000');
    for (const cause of [
      { ...moved, indexNow: upgraded },
      { ...moved, rowsIn: undefined, movedBy: 'others', indexBefore: old, indexNow: young } as const,
    ]) {
      const text = recoveryText(anEntry('rows-missing', cause as Cause), at);
      expect(text).not.toContain('_aliases {');
      expect(text).toMatch(/POST \/_reindex\?wait_for_completion=false .*"op_type":"create"/);
    }
  });

  test('is the same if another process emptied the index by a reindex', () => {
    const entry = anEntry('emptied', { kind: 'emptied', rowsBefore: 9, nights: 3, indexBefore: old, indexNow: young });
    expect(recoveryText(entry, at)).toContain(`{"add":{"index":"${old}"`);
  });
});

describe('a reason in the JSON', () => {
  test('has the input that approves, with what it does before it', () => {
    const cause: Cause = { kind: 'above-ceiling', maxDeletePercent: 90, approveRows: 1050 };
    const [entry] = aReport([anEntry('above-ceiling', cause)]).policies;
    expect(entry!.reason).toMatch(
      /To approve it once, which deletes these rows: \{"mode":"enforce","only":\["dataset.operation"\],"approveRows":1050\}$/,
    );
  });

  test('offers nothing that enforces after a preview in which something failed', () => {
    const cause: Cause = { kind: 'above-ceiling', maxDeletePercent: 90, approveRows: 1050 };
    const failed = anEntry('failed', { kind: 'changed', what: 'rows' }, { name: 'a.b' });
    const { policies } = aReport([anEntry('above-ceiling', cause), failed], { mode: 'preview' });
    expect(policies.map(({ reason }) => reason).join()).not.toContain('enforce');
  });

  test('brings the rows back before it opens the index', () => {
    const cause: Cause = { kind: 'missing', expected: 9, found: 0, rowsIn: old, indexNow: young };
    const { reason } = aReport([anEntry('rows-missing', cause, { strategy: 'reindex' })]).policies[0]!;
    expect(reason.indexOf('POST /_aliases')).toBeGreaterThan(0);
    expect(reason.indexOf('{"clear":')).toBeGreaterThan(reason.indexOf('POST /_aliases'));
    expect(reason).toMatch(
      /counts its rows, reopens it for this job only if they are all there, and deletes no row: \{"clear"/,
    );
  });
});

test('a check is worded for where the questions come from', () => {
  const check = {
    name: 'Connection',
    state: 'failed',
    cause: {
      kind: 'not-connected',
      error: { kind: 'connect', operation: 'index-sizes', host: 'gms:8080' },
      loopback: false,
      port: '8080',
    },
  } as const;
  expect(checkWords(check, 'lambda', at)).toEqual({
    text: 'no connection to gms:8080.',
    remedy: expect.stringContaining('subnetIds'),
  });
  expect(checkWords(check, 'machine', at).remedy).toContain('kubectl port-forward');
});

test('a check names the indices into which an upgrade may still copy, and until when a reindex waits', () => {
  const until = Date.UTC(2026, 5, 5, 3, 30);
  const cause = { indices: ['dataset.operation'], more: 2, upgraded: true, until };
  expect(
    checkWords({ name: 'Copies', state: 'note', cause: { ...cause, kind: 'copied-lately' } }, 'lambda', at),
  ).toEqual({
    text: 'an upgrade of DataHub without downtime made 3 indices lately (dataset.operation, 2 more): rows may still be coming in',
    remedy:
      'There a policy with "strategy": "reindex" waits until 5 Jun 2026, 03:30 UTC at the latest; deleting in place does not.',
  });
});
