import { describe, expect, test } from 'vitest';
import { memoryLedger } from '../../../cli/ledgers/memory-ledger.ts';
import type { LedgerRecord } from '../../../lambda/ledger/record.ts';
import { recover } from '../../../lambda/run/recover.ts';
import type { ApprovedEntry } from '../../../lambda/run/state.ts';
import { aPolicy } from '../../support/policies.ts';
import {
  aLastVerdict,
  anAttempt,
  anIdle,
  anIndex,
  aQuarantined,
  aRun,
  aRunning,
  aServer,
} from '../../support/records.ts';
import { aRunState } from '../../support/states.ts';

/** What became of a Truncate that ended without a state, by what the ledger says (rule 5). The run is `run-1`. */

const target: ApprovedEntry = {
  index: anIndex,
  phase: 'approved',
  facts: { entityType: 'dataset', aspect: 'operation' },
  policy: aPolicy({}),
  plan: { rowsToDelete: 60, deletesInPlace: true },
};
const { runId, runStartMillis } = aRun;
const state = aRunState([target], {
  runId,
  server: aServer,
  runStartMillis,
  failure: { step: 'truncate', error: 'Lambda.ServiceException' },
});
const now = 1_300_000;
const other = { runId: 'run-2', runStartMillis: runStartMillis - 1 };
const later = { runId: 'run-3', runStartMillis: runStartMillis + 1 };
const ofOther = { lastSender: other, attempt: anAttempt(other) };

async function recovered(record?: LedgerRecord) {
  const ledger = memoryLedger();
  if (record) ledger.stored.set(anIndex, record);
  const { phase, facts } = await recover(target, state, ledger, now);
  const { lastSender, state: stored } = (await ledger.read(anIndex)) as LedgerRecord;
  const { outcome, cause } = facts as { outcome?: string; cause?: Record<string, unknown> };
  return { phase, outcome, cause, stored, lastSender };
}

const failed = { kind: 'step-failed', step: 'truncate', error: 'Lambda.ServiceException', sent: 'no' };

describe('A Truncate that ended without a state', () => {
  test('that an earlier try of this Poll has fenced off has failed, as that one said', async () => {
    expect(await recovered(anIdle({ lastSender: aRun }))).toMatchObject({ outcome: 'failed', cause: failed });
  });

  test('and left its task in its record is watched', async () => {
    expect(await recovered(aRunning())).toMatchObject({ phase: 'watched', stored: 'running', lastSender: aRun });
  });

  test('and whose truncation another run has judged says what that one said', async () => {
    const judged = anIdle({ lastSender: aRun, lastVerdict: aLastVerdict({ ...aRun }) });
    expect(await recovered(judged)).toMatchObject({ phase: 'done', outcome: 'truncated', cause: { kind: 'verified' } });
  });

  test('before a later run sent is not known: whatever it did, that one has taken its place', async () => {
    expect(await recovered(anIdle({ lastSender: later }))).toMatchObject({
      outcome: 'unknown',
      cause: { kind: 'gone', what: 'superseded' },
      lastSender: later,
    });
  });

  test.each<[string, LedgerRecord, string, string]>([
    ['beside a truncation of another run', aRunning(ofOther), 'still-running', 'open'],
    ['beside a quarantine', aQuarantined(ofOther), 'quarantined', 'quarantined'],
  ])(
    '%s leaves that record as it is, and is written into it as one that has sent',
    async (_, record, outcome, kind) => {
      expect(await recovered(record)).toMatchObject({
        outcome,
        cause: { kind },
        stored: record.state,
        lastSender: aRun,
      });
    },
  );

  test('does not take the place of a later sender', async () => {
    expect((await recovered(aRunning({ lastSender: later, attempt: anAttempt(later) }))).lastSender).toEqual(later);
  });

  test('is asked for again where other runs keep changing the record', async () => {
    const ledger = memoryLedger();
    let tries = 0;
    const replace = async () => {
      tries++;
      return false;
    };
    await expect(recover(target, state, { ...ledger, replace }, now)).rejects.toThrow(
      `the ledger record of ${anIndex} kept changing`,
    );
    expect(tries).toBe(3);
  });
});
