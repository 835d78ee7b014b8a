import { describe, expect, test } from 'vitest';
import type { AttemptStrategy } from '../../../lambda/facts/strategy.ts';
import type { SentAttempt, Unresolved } from '../../../lambda/ledger/record.ts';
import { copyingSeen, mayHaveCopied, replacedBy, whatProofLacks } from '../../../lambda/truncation/copied.ts';
import type { OwnTask } from '../../../lambda/truncation/own-task.ts';
import { aRunning, aSending, aSentAttempt } from '../../support/records.ts';

const sentAt = 1_700_000_000_000;
const named = (millis: number) => `dataset_operationaspect_v1_${millis}`;
const before = named(sentAt - 1e9);
const ours = named(sentAt + 1);
const theirs = named(sentAt + 1e9);
const upgraded = `dataset_operationaspect_v1_1_7_0-0_${sentAt + 1}`;
const sizes = { rowsTotal: 6000, rowsToDelete: 5000 };

function running(strategy: AttemptStrategy = 'delete-by-query', more: Partial<SentAttempt> = {}): Unresolved {
  const record = aRunning();
  const times = { sendingSince: sentAt, sentRealAt: sentAt, answeredRealAt: sentAt + 1000 };
  const baseline = { ...sizes, indexName: before };
  return { ...record, attempt: { ...record.attempt, strategy, ...times, baseline, ...more } };
}
const copying: OwnTask = { completed: true, counters: { created: 5 }, does: 'copy' };
const deleting: OwnTask = { completed: true, counters: { deleted: 5 }, does: 'delete' };
const silent: OwnTask = { completed: false, counters: {} };

interface Case {
  sent?: AttemptStrategy;
  /** `forceReindex` was sent. */
  asked?: boolean;
  /** What an earlier look recorded. */
  copied?: SentAttempt['copied'];
  task?: OwnTask;
  /** The name now; omitted if the server does not report it. */
  now?: string;
  nameless?: boolean;
  isCounted?: boolean;
}
const recordOf = ({ sent, asked, copied, nameless }: Case) =>
  running(sent, {
    ...(asked && { fields: { ...aSentAttempt().fields, forceReindex: true } }),
    ...(copied && { copied }),
    ...(nameless && { baseline: sizes }),
  });

describe('whether a truncation may have copied', () => {
  test.each<[string, Case, boolean]>([
    ['a delete under the same name', { now: before }, false],
    ['a delete whose names were never known', { nameless: true }, false],
    ['a delete whose name is no longer known, by its status', { task: silent }, false],
    ['a delete whose name is no longer known, without a status', {}, true],
    ['a delete that was never counted since the call', { now: theirs, isCounted: false }, true],
    ['a delete that was never counted, under the same name', { now: before, isCounted: false }, false],
    ['a delete under a name from the time of the call', { now: ours }, true],
    ['a delete under a later name', { now: theirs }, false],
    ['a delete under an upgrade’s name from the time of the call', { now: upgraded }, false],
    ['a delete whose task creates rows', { task: copying, now: theirs }, true],
    ['a delete in whose index too few rows were counted once', { copied: 'index', now: theirs }, true],
    ['a reindex', { sent: 'reindex', now: theirs }, true],
    ['a reindex without a name or a status', { sent: 'reindex' }, true],
    ['a reindex that an old server announced as a delete', { asked: true, now: theirs }, true],
    ['what was sent with an unreadable strategy', { sent: 'unknown', now: theirs }, true],
    ['disproved by deleted rows: a name from the time of the call', { task: deleting, now: ours }, false],
    ['disproved by deleted rows: an unreadable strategy', { sent: 'unknown', task: deleting }, false],
    ['disproved by deleted rows: an index with too few rows once', { copied: 'index', task: deleting }, false],
    ['disproved by equal names: a reindex', { sent: 'reindex', now: before }, false],
    ['disproved by equal names: an unreadable strategy', { sent: 'unknown', now: before }, false],
    ['disproved by equal names: an index with too few rows once', { copied: 'index', now: before }, false],
    ['not disproved by equal names: rows that its task creates', { task: copying, now: before }, true],
    ['not disproved by equal names: rows that its task has created', { copied: 'task', now: before }, true],
    ['not disproved by deleted rows: rows that its task has created', { copied: 'task', task: deleting }, true],
  ])('%s: %s', (_, given, expected) => {
    const { task, now: indexName, isCounted = true } = given;
    expect(mayHaveCopied(recordOf(given), { task, indexName, isCounted })).toBe(expected);
  });

  test.each<[string, Case, boolean]>([
    ['a delete', {}, false],
    ['a delete that was seen to copy', { copied: 'index' }, true],
    ['a reindex', { sent: 'reindex' }, true],
    ['what was sent with an unreadable strategy', { sent: 'unknown' }, true],
  ])('while it is watched, by its record: %s: %s', (_, given, expected) => {
    expect(mayHaveCopied(recordOf(given))).toBe(expected);
  });
});

describe('what a look shows of copying', () => {
  test.each<[string, Case & { rowsTotal?: number }, SentAttempt['copied']]>([
    ['nothing', { now: before, rowsTotal: 6000 }, undefined],
    ['rows that its task created', { task: copying, now: before }, 'task'],
    ['rows that its task created, after a name', { copied: 'index', task: copying }, 'task'],
    ['nothing new after created rows', { copied: 'task', now: ours }, undefined],
    ['a name from the time of the call', { now: ours }, 'index'],
    ['the same again', { copied: 'index', now: ours }, undefined],
    ['an upgrade’s name from the time of the call', { now: upgraded }, undefined],
    ['a name from the time of the call, beside deleted rows', { now: ours, task: deleting }, undefined],
    ['10 rows fewer in all than should stay (40)', { rowsTotal: 30 }, undefined],
    ['11 rows fewer in all than should stay', { rowsTotal: 29 }, 'index'],
    ['the same, beside deleted rows', { rowsTotal: 29, task: deleting }, undefined],
  ])('%s (%j): noted as %s', (_, given, expected) => {
    const { task, now: indexName, rowsTotal } = given;
    expect(copyingSeen(recordOf(given), { task, indexName, rowsTotal })).toBe(expected);
  });

  test('2 % fewer of many rows are no sign of a copy', () => {
    const record = { ...running(), windows: [{ role: 'kept' as const, from: 0, to: 1, rows: 1000 }] };
    const seen = (rowsTotal: number) => copyingSeen(record, { task: undefined, indexName: undefined, rowsTotal });
    expect([seen(980), seen(979)]).toEqual([undefined, 'index']);
  });
});

describe('who moved the alias', () => {
  const movedBy = (record: Unresolved, now: string | undefined, copied = true) =>
    replacedBy(record, now, copied)?.movedBy;

  test.each<[string, string | undefined, string | undefined, 'us' | 'others' | undefined]>([
    ['the same index', before, before, undefined],
    ['a name that is not known now', before, undefined, undefined],
    ['a name that was not known before', undefined, ours, undefined],
    ['an index made as it was sent', before, named(sentAt), 'us'],
    [
      'an index made 2 s before it was sent, within the precision of the Date header',
      before,
      named(sentAt - 2000),
      'us',
    ],
    ['an index made earlier', before, named(sentAt - 2001), 'others'],
    ['an index made 10 min after the answer', before, named(sentAt + 1000 + 600_000), 'us'],
    ['an index made later', before, named(sentAt + 1000 + 600_001), 'others'],
    ['an index whose name has no time', before, 'dataset_operationaspect_v1', 'others'],
    ['an upgrade’s index, made as it was sent', before, upgraded, 'others'],
  ])('%s', (_, earlier, now, expected) => {
    const record = running('reindex', { baseline: { ...sizes, ...(earlier && { indexName: earlier }) } });
    expect(replacedBy(record, now, true)).toEqual(
      expected && { indexBefore: earlier, indexNow: now, movedBy: expected },
    );
  });

  test('is never us where copying is disproved', () => {
    expect(movedBy(running(), ours, false)).toBe('others');
  });

  test('compares names by the server’s clock', () => {
    const record = running('reindex', { clockSkewMillis: 300_000 });
    expect(movedBy(record, named(sentAt))).toBe('others');
    expect(movedBy(record, named(sentAt + 300_000))).toBe('us');
    expect(movedBy(record, named(sentAt + 300_000 + 1000 + 600_000))).toBe('us');
  });

  test('counts until the answer, good or bad, and without one until the longest wait for it', () => {
    const attempt = aSentAttempt({ sentRealAt: sentAt, baseline: { ...sizes, indexName: before } });
    const error = { kind: 'server-error', operation: 'truncate' } as const;
    const answered = aSending({ attempt: { ...attempt, answer: { error, realAt: sentAt + 5000 } } });
    expect(movedBy(answered, named(sentAt + 605_000))).toBe('us');
    expect(movedBy(answered, named(sentAt + 605_001))).toBe('others');
    expect(movedBy(aSending({ attempt }), named(sentAt + 720_000))).toBe('us');
    expect(movedBy(aSending({ attempt }), named(sentAt + 720_001))).toBe('others');
    const jumped = aSending({ attempt: { ...attempt, answer: { error, realAt: sentAt + 86_400_000 } } });
    expect(movedBy(jumped, named(sentAt + 720_000))).toBe('us');
    expect(movedBy(jumped, named(sentAt + 720_001))).toBe('others');
  });
});

describe('the proof of a copy', () => {
  const task = (total: number, more: Partial<OwnTask> = {}): OwnTask => ({
    completed: true,
    counters: { total, created: total },
    does: 'copy',
    ...more,
  });

  test.each<[string, OwnTask | undefined, string | undefined, ReturnType<typeof whatProofLacks>]>([
    ['its status, its counters and its index', task(40), ours, undefined],
    ['ten rows fewer, as entity deletions take', task(30), ours, undefined],
    ['more rows than should stay, late ones among them', task(70), ours, undefined],
    ['no status', undefined, ours, 'status'],
    ['the status of a running task', task(40, { completed: false }), ours, 'status'],
    ['the status of a delete', deleting, ours, 'status'],
    ['eleven rows fewer', task(29), ours, 'counters'],
    ['rows that it did not copy', task(40, { counters: { total: 41, created: 40 } }), ours, 'counters'],
    ['the same index', task(40), before, 'index'],
    ['a later index', task(40), theirs, 'index'],
    ['an upgrade’s index', task(40), upgraded, 'index'],
    ['no name', task(40), undefined, 'index'],
  ])('%s', (_, given, indexName, expected) => {
    expect(whatProofLacks(running('reindex'), { task: given, indexName })).toBe(expected);
  });

  test.each([
    ['is no status of a task that did nothing, although so few rows may be gone', 3, 'counters'],
    ['is one where no row had to be copied', 0, undefined],
  ])('%s', (_, rows, expected) => {
    const { does: _does, ...nothing } = task(0);
    const record = { ...running('reindex'), windows: [{ role: 'kept' as const, from: 0, to: 1, rows }] };
    expect(whatProofLacks(record, { task: nothing, indexName: ours })).toBe(expected);
  });
});
