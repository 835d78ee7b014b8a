import { describe, expect, test } from 'vitest';
import type { LedgerRecord, Quarantined } from '../../../lambda/ledger/record.ts';
import { composeMessage } from '../../../lambda/notification/message.ts';
import { serverAddress } from '../../../lambda/operations/http/base-url.ts';
import { anIndexOf, type Deployment, deployments, firstNight, outcomesOf } from '../../support/deployment.ts';
import { anIndex, aQuarantined } from '../../support/records.ts';

/** Runs that clear; what clearing counts and releases is in clearing/clear-index.test.ts. */

const started = deployments();
const name = 'dataset.operation';
const operation = { entityType: 'dataset', aspect: 'operation', retentionDays: 30 };
const profile = { ...operation, aspect: 'datasetProfile' };
const day = 86_400_000;

/** The window had 1,000 rows, of which `held` are there now. */
const window = { role: 'kept' as const, from: firstNight - 30 * day, to: firstNight, rows: 1000 };

async function quarantined(held: number, changes: Partial<Quarantined> = {}, policies: unknown[] = [operation]) {
  const deployment = await started({
    indices: [anIndexOf(0, held), anIndexOf(0, 50, 'datasetProfile')],
    policies,
  });
  const server = serverAddress(deployment.settings.gmsUrl);
  deployment.ledger.stored.set(anIndex, aQuarantined({ server, windows: [window], ...changes }));
  return deployment;
}
const recordOf = async ({ ledger }: Deployment) => (await ledger.read(anIndex)) as LedgerRecord;
const stateOf = async (deployment: Deployment) => (await recordOf(deployment)).state;
const clearing = (more: object = {}) => ({ clear: [name], ...more });

describe('clearing a quarantined index', () => {
  test.each([
    [59, 'quarantined'],
    [60, 'idle'],
  ])('with 60 rows missing and %i accepted leaves it %s', async (acceptMissing, state) => {
    const deployment = await quarantined(940);
    const report = await deployment.night(clearing({ acceptMissing }));
    expect(report.result).toBe('attention');
    expect(await stateOf(deployment)).toBe(state);
  });

  test('starts nothing in any index, even in a stage that enforces', async () => {
    const deployment = await quarantined(1000, {}, [
      { ...operation, retentionDays: 7 },
      { ...profile, retentionDays: 7 },
    ]);
    await deployment.night(clearing());
    expect(deployment.realTruncates()).toEqual([]);
    expect(outcomesOf(await deployment.night())).toEqual({
      'dataset.operation': 'truncated',
      'dataset.datasetProfile': 'truncated',
    });
  });

  test('works while the job is paused, and in a stage that only previews', async () => {
    const deployment = await quarantined(1000);
    deployment.settings.mode = 'preview';
    deployment.services.parameters.paused = async () => true;
    expect((await deployment.night(clearing())).notes).toMatchObject([{ kind: 'released' }]);
    expect(await stateOf(deployment)).toBe('idle');
  });

  test.each([
    ['its policy is disabled', [{ ...operation, enabled: false }]],
    ['it no longer has a policy', [profile]],
    ['there is no policy at all', []],
  ])('counts it even if %s', async (_, policies) => {
    const deployment = await quarantined(940, {}, policies);
    const report = await deployment.night(clearing());
    expect(report).toMatchObject({ result: 'attention', notes: [{ kind: 'not-released', rowsMissing: 60 }] });
    expect(report.error).toBeUndefined();
  });

  test('takes a name in any case', async () => {
    const deployment = await quarantined(1000);
    await deployment.night({ clear: ['DATASET.Operation'] });
    expect(await stateOf(deployment)).toBe('idle');
  });

  test('of another address moves it to this one after counting its rows here', async () => {
    const deployment = await quarantined(1000, { server: 'https://other.example.com' });
    expect((await deployment.night(clearing())).notes).toMatchObject([{ kind: 'released', rowsMissing: 0 }]);
    expect(await recordOf(deployment)).toMatchObject({ server: serverAddress(deployment.settings.gmsUrl) });
  });

  test('clears nothing if one of the names is unknown', async () => {
    const deployment = await quarantined(1000);
    const report = await deployment.night({ clear: [name, 'dataset.datasetProfil'] });
    expect(report).toMatchObject({
      result: 'failed',
      error: expect.stringContaining(
        '"clear" names dataset.datasetProfil, which neither a policy nor the ledger knows',
      ),
    });
    expect(await stateOf(deployment)).toBe('quarantined');
  });

  test('reports the result of each of several indices', async () => {
    const deployment = await quarantined(1000, {}, [operation, profile]);
    const report = await deployment.night({ clear: [name, 'dataset.datasetProfile'] });
    expect(report.notes).toMatchObject([
      { kind: 'released', index: name, rowsMissing: 0 },
      { kind: 'nothing-to-clear', index: 'dataset.datasetProfile' },
    ]);
  });

  test('reports that a record without a readable head must be repaired by hand, not cleared again', async () => {
    const deployment = await quarantined(1000);
    deployment.ledger.stored.set(anIndex, { garbage: 1 });
    const report = await deployment.night(clearing({ acceptMissing: 5 }));
    expect(report).toMatchObject({
      result: 'attention',
      notes: [{ kind: 'not-released', index: name, why: 'ledger', unreadable: true }],
    });
    const { email } = composeMessage(report);
    expect(email).toContain('its ledger record cannot be read, and clearing cannot open it');
    expect(email).toContain('delete that record by hand');
    expect(email).not.toMatch(/Clear it again|"clear"/);
  });
});
