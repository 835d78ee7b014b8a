import { describe, expect, test } from 'vitest';
import { type Ownership, ownership } from '../../../lambda/ledger/ownership.ts';
import type { StoredRecord } from '../../../lambda/ledger/record.ts';
import type { DecidedIndex } from '../../../lambda/model/report-schema.ts';
import { breakerOf } from '../../../lambda/run/breaker.ts';
import { decisionOf, doneEntry, entryOf, resolvedEntry, watchedEntry } from '../../../lambda/run/entries.ts';
import type { DoneEntry } from '../../../lambda/run/state.ts';
import { view } from '../../../lambda/run/view.ts';
import { aPolicy } from '../../support/policies.ts';
import {
  aLastVerdict,
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aReindex,
  aRun,
  aRunning,
  aServer,
  aVerdict,
} from '../../support/records.ts';
import { aRunState } from '../../support/states.ts';

/** Entries, made from what a record says, for `run-1`. */

const now = 3_000_000;
const other = { runId: 'run-0', runStartMillis: 800_000 };
const others = anAttempt(other);
const enforcing = aRunState([], { ...aRun, server: aServer });
const from = {
  index: anIndex,
  names: { entityType: 'dataset', aspect: 'operation' },
  policy: { ...aPolicy(), owner: 'team-a' },
};
const shown = (entry: DoneEntry): DecidedIndex => ({ ...view(entry, enforcing), ...decisionOf(entry) });
const shownOf = (record: StoredRecord) => {
  const owned = ownership(record, enforcing) as Exclude<Ownership, { kind: 'free' }>;
  return shown(entryOf(from, owned, enforcing, now, true) as DoneEntry);
};

describe('the entry of an index', () => {
  test('says what was sent, counted and decided, and by which run', () => {
    const record = aQuarantined({
      unreported: true,
      attempt: anAttempt({ ...other, policyCutoffMillis: 600_000 }),
      taskId: 'n:7',
    });
    expect(shownOf(record)).toMatchObject({
      ...{ owner: 'team-a', cutoffMillis: 500_000, policyCutoffMillis: 600_000, taskId: 'n:7', rowsToDelete: 60 },
      ...{ rowsMissing: 30, rowsDeleted: 60, decidedBy: 'run-0', decidedAt: '1970-01-01T00:15:00.000Z', resumed: true },
    });
  });

  test.each([undefined, { outcome: 'half-reindexed' }])(
    'stops the run where nobody knows how a reindex ended, and not where a later version does: %j',
    (ofLaterVersion) => {
      const verdict = aVerdict({ outcome: 'unknown', method: 'reindex', ofLaterVersion });
      const record = aQuarantined({
        unreported: true,
        attempt: aReindex(other),
        lastVerdict: aLastVerdict({ verdict }),
      });
      const entry = entryOf(from, { kind: 'unreported', record }, enforcing, now, true) as DoneEntry;
      expect(decisionOf(entry).outcome).toBe('unknown');
      expect(breakerOf(entry) === undefined).toBe(ofLaterVersion !== undefined);
    },
  );

  test('has what is missing today apart from what is written and not visible', () => {
    const today = { expected: 5000, found: 0, inPlace: true, notVisible: 'written', unwritten: 20 } as const;
    const cause = { kind: 'quarantined', since: now, outcome: 'unknown', method: 'reindex', today } as const;
    const entry = doneEntry({ ...from, record: aQuarantined() }, 'quarantined', cause);
    expect(shown(entry)).toMatchObject({ rowsMissing: 20, rowsNotVisible: 4980 });
  });

  test('says nothing of a later truncation’s attempt', () => {
    const record = anIdle({ unreported: true, lastVerdict: aLastVerdict(), attempt: anAttempt({ runId: 'run-5' }) });
    expect(shownOf(record).cutoffMillis).toBeUndefined();
  });

  test('whose cause cannot be read keeps its outcome and its rows', () => {
    const verdict = aVerdict({ outcome: 'rows-missing', cause: undefined, rowsMissing: 30 });
    const record = aQuarantined({ unreported: true, lastVerdict: aLastVerdict({ verdict }) });
    expect(shownOf(record)).toMatchObject({ outcome: 'rows-missing', cause: { kind: 'unread' }, rowsMissing: 30 });
  });
});

test('a truncation whose record holds another by now, after an older release, is superseded', () => {
  const { watch } = watchedEntry(from, aRunning({ attempt: aReindex() }), now);
  const lastRelease = { decided: { ...other, atMillis: 5 }, release: {} };
  const resolved = resolvedEntry(from, watch, aRunning({ attempt: others, lastRelease }), enforcing, now);
  expect(shown(resolved)).toMatchObject({ outcome: 'unknown', cause: { kind: 'gone', what: 'superseded' } });
});

test('an attempt is shown as it was announced, and as what it turned out to be', () => {
  const baseline = { ...anAttempt().baseline, indexName: 'operation_1' };
  const record = aRunning({ attempt: anAttempt({ announced: 'reindex', baseline }) });
  expect(view(watchedEntry(from, record, now), enforcing)).toMatchObject({
    ...{ entityType: 'dataset', aspect: 'operation', retentionDays: 30, cutoffMillis: 500_000 },
    ...{ policyCutoffMillis: undefined, announced: 'reindex', method: 'delete', rowsTotal: 100, rowsToDelete: 60 },
    ...{ indexName: 'operation_1', taskId: 'node:1' },
  });
});
