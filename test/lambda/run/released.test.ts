import { describe, expect, test } from 'vitest';
import { LedgerError, serverKey } from '../../../lambda/ledger/ledger.ts';
import type { LedgerRecord } from '../../../lambda/ledger/record.ts';
import { composeMessage } from '../../../lambda/notification/message.ts';
import { plan } from '../../../lambda/run/plan/plan.ts';
import { composeReport } from '../../../lambda/run/report.ts';
import type { RunServices } from '../../../lambda/run/services.ts';
import { anIndexOf, type Deployment, deployments } from '../../support/deployment.ts';
import { aRecord, aVerdict } from '../../support/records.ts';

/** What becomes of an index that a person releases: said in the run that does it, because nobody can say it later. */

const started = deployments();
const index = 'dataset.operation';
const asked = { mode: 'enforce', clear: [index] };
const operation = { entityType: 'dataset', aspect: 'operation', retentionDays: 30 };
const profile = { ...operation, aspect: 'datasetProfile' };

/** A stage whose index holds 40 rows and is quarantined, because 960 of 1,000 went missing. */
async function quarantined(policies: unknown[] = [operation]): Promise<Deployment> {
  const deployment = await started({ indices: [anIndexOf(0, 40), anIndexOf(0, 50, 'datasetProfile')], policies });
  const { entry, ...verdict } = aVerdict({ rowsAfter: 1000 });
  const missing = { ...entry, outcome: 'rows-missing' as const, rowsTotal: 40, rowsToDelete: 0, rowsMissing: 960 };
  const record = aRecord({
    server: serverKey(deployment.settings.gmsUrl),
    state: 'quarantined',
    attemptId: verdict.attemptId,
    lastVerdict: { ...verdict, entry: missing },
  });
  expect(await deployment.ledger.replace(undefined, record)).toBe(true);
  return deployment;
}
const stateOf = async ({ ledger }: Deployment) => ((await ledger.read(index)) as LedgerRecord).state;
const planned = async ({ clock, services, during }: Deployment, changes: Partial<RunServices> = {}) => {
  const execution = { name: 'run-1', startTime: new Date(clock.time).toISOString() };
  const input = await plan({ input: asked, execution }, { ...during('plan'), ...changes });
  return composeReport({ input, execution }, services);
};

describe('an index that is released before its rows are back', () => {
  test('needs attention, with the numbers', async () => {
    const report = await (await quarantined()).night(asked);
    expect(report.result).toBe('attention');
    expect(report.notes![0]).toMatch(/^Released although rows are missing: dataset.operation holds 40 rows/);
  });

  test('is said again when Plan is tried again after it had released it', async () => {
    const deployment = await quarantined();
    const first = await planned(deployment);
    const again = await planned(deployment);
    expect(again.result).toBe('attention');
    expect(again.notes![0]).toBe(first.notes![0]);
    expect(again.notes).toContainEqual(expect.stringMatching(/^Cleared already: dataset.operation; it was closed/));
  });

  test.each<[string, unknown[], object]>([
    ['the run is about another index', [operation, profile], { only: ['dataset.datasetProfile'] }],
    ['its policy is switched off', [{ ...operation, enabled: false }, profile], {}],
    ['it has no policy any more', [profile], {}],
  ])('needs attention also where %s, and nothing was counted', async (_, policies, input) => {
    const deployment = await quarantined(policies);
    const report = await deployment.night({ ...asked, ...input });
    expect(report.result).toBe('attention');
    expect(report.notes![0]).toBe(
      'Released, and not counted by this run: dataset.operation, where at least 1,000 rows should have stayed. No later run says so again.',
    );
    const { subject, email } = composeMessage(report);
    expect(subject).toContain('1 released and not counted');
    expect(email).toContain('Next: Look whether they are there. Get them back before this index is truncated again');
  });
});

describe('releasing', () => {
  test('clears nothing at all when one of its names is unknown', async () => {
    const deployment = await quarantined();
    const report = await deployment.night({ mode: 'enforce', clear: [index, 'dataset.datasetProfil'] });
    expect(report.error).toContain('"clear" names dataset.datasetProfil, which neither a policy nor the ledger knows');
    expect(await stateOf(deployment)).toBe('quarantined');
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('that the ledger does not take is said, and the index stays closed', async () => {
    const deployment = await quarantined();
    const { ledger } = deployment;
    const refusing = { ...ledger, replace: () => Promise.reject(new LedgerError('throttled')) };
    const report = await planned(deployment, { ledger: refusing });
    expect(report.notes).toContainEqual(
      'Not cleared: dataset.operation, because the ledger did not take it: throttled. Try again.',
    );
    expect(report.policies[0]?.outcome).toBe('quarantined');
    expect(await stateOf(deployment)).toBe('quarantined');
  });

  test('an index whose rows are back is no reason for attention, however often it is asked for', async () => {
    const deployment = await quarantined();
    deployment.service.engine.addRows(index, Array(960).fill(deployment.clock.time - 86_400_000));
    expect((await planned(deployment)).result).toBe('ok');
    expect((await planned(deployment)).result).toBe('ok');
  });
});
