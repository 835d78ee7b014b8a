import { describe, expect, test } from 'vitest';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import { LEDGER_VERSION, type LedgerRecord, type Quarantined } from '../../../lambda/ledger/record.ts';
import { composeMessage } from '../../../lambda/notification/message.ts';
import { serverAddress } from '../../../lambda/operations/http/base-url.ts';
import { plan } from '../../../lambda/run/plan/plan.ts';
import { composeReport } from '../../../lambda/run/report.ts';
import type { RunServices } from '../../../lambda/run/services.ts';
import { anIndexOf, type Deployment, deployments, firstNight, outcomesOf } from '../../support/deployment.ts';
import { anIdle, anIndex, aQuarantined, aReserved, aSending, aVerdict } from '../../support/records.ts';

/** An operator clears an index: its own windows are counted first, and nothing is truncated. */

const started = deployments();
const name = 'dataset.operation';
const operation = { entityType: 'dataset', aspect: 'operation', retentionDays: 30 };
const profile = { ...operation, aspect: 'datasetProfile' };
const day = 86_400_000;

/** 1,000 rows stood in the window; of these `held` are there now. */
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
  test('releases it if its rows are back', async () => {
    const deployment = await quarantined(1000);
    expect(await deployment.night(clearing())).toMatchObject({
      result: 'ok',
      policies: [],
      noteFacts: [{ kind: 'released', index: name, rowsMissing: 0 }],
    });
    expect(await stateOf(deployment)).toBe('idle');
  });

  test('leaves it closed if rows are missing, and reports how many and the command that accepts them', async () => {
    const deployment = await quarantined(940);
    const report = await deployment.night(clearing());
    expect(report).toMatchObject({
      result: 'attention',
      noteFacts: [{ kind: 'not-released', index: name, why: 'rows-missing', rowsMissing: 60 }],
    });
    expect(await stateOf(deployment)).toBe('quarantined');
  });

  test.each([
    [59, 'quarantined'],
    [60, 'idle'],
  ])('with 60 rows missing and %i accepted leaves it %s', async (acceptMissing, state) => {
    const deployment = await quarantined(940);
    const report = await deployment.night(clearing({ acceptMissing }));
    expect(report.result).toBe('attention');
    expect(await stateOf(deployment)).toBe(state);
  });

  test('judges each window by itself: later rows do not make up for missing ones', async () => {
    const deployment = await quarantined(1000);
    const half = firstNight - 10 * day;
    const windows = [
      { from: window.from, to: half, rows: 900 },
      { from: half, to: firstNight, rows: 100 },
    ];
    deployment.ledger.stored.set(anIndex, { ...(await recordOf(deployment)), windows });
    const { noteFacts } = await deployment.night(clearing());
    expect(noteFacts).toMatchObject([{ kind: 'not-released', rowsMissing: 387 }]);
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
    expect((await deployment.night(clearing())).noteFacts).toMatchObject([{ kind: 'released' }]);
    expect(await stateOf(deployment)).toBe('idle');
  });

  test.each([
    ['its policy is disabled', [{ ...operation, enabled: false }]],
    ['it no longer has a policy', [profile]],
    ['there is no policy at all', []],
  ])('counts it even if %s', async (_, policies) => {
    const deployment = await quarantined(940, {}, policies);
    const report = await deployment.night(clearing());
    expect(report).toMatchObject({ result: 'attention', noteFacts: [{ kind: 'not-released', rowsMissing: 60 }] });
    expect(report.error).toBeUndefined();
  });

  test('takes a name in any case', async () => {
    const deployment = await quarantined(1000);
    await deployment.night({ clear: ['DATASET.Operation'] });
    expect(await stateOf(deployment)).toBe('idle');
  });

  test('of another address moves it to this one after counting its rows here', async () => {
    const deployment = await quarantined(1000, { server: 'https://other.example.com' });
    expect((await deployment.night(clearing())).noteFacts).toMatchObject([{ kind: 'released', rowsMissing: 0 }]);
    expect(await recordOf(deployment)).toMatchObject({ server: serverAddress(deployment.settings.gmsUrl) });
  });

  test('counts a deleted index as empty', async () => {
    const deployment = await quarantined(1000);
    deployment.service.engine.deleteIndex(
      deployment.service.engine.indices().find(({ index }) => index === name)!.name,
    );
    expect((await deployment.night(clearing())).noteFacts).toMatchObject([{ kind: 'not-released', rowsMissing: 1000 }]);
    await deployment.night(clearing({ acceptMissing: 1000 }));
    expect(await stateOf(deployment)).toBe('idle');
  });

  test('leaves it closed if it cannot be counted, unless acceptMissing is given and the server answers otherwise', async () => {
    const deployment = await quarantined(1000);
    deployment.service.engine.fault('bad-gateway=dry-run');
    const report = await deployment.night(clearing());
    expect(report.noteFacts).toMatchObject([{ kind: 'not-released', why: 'server', error: { status: 502 } }]);
    expect(await stateOf(deployment)).toBe('quarantined');
    const accepted = await deployment.night(clearing({ acceptMissing: 1000 }));
    expect(accepted).toMatchObject({ result: 'attention', noteFacts: [{ kind: 'released', uncounted: true }] });
    expect(await stateOf(deployment)).toBe('idle');
  });

  test('needs acceptMissing without windows to count, and reports that it was not counted', async () => {
    const deployment = await quarantined(1000, { windows: [] });
    expect((await deployment.night(clearing())).noteFacts).toMatchObject([{ kind: 'not-released', why: 'uncounted' }]);
    expect((await deployment.night(clearing({ acceptMissing: 1 }))).noteFacts).toMatchObject([
      { kind: 'released', uncounted: true },
    ]);
    expect(await stateOf(deployment)).toBe('idle');
  });

  test('forgets the window of its last verdict, so that the next night does not close it again', async () => {
    const deployment = await quarantined(300);
    await deployment.night(clearing({ acceptMissing: 700 }));
    expect((await recordOf(deployment)).lastVerdict).not.toHaveProperty('window');
    expect(outcomesOf(await deployment.night())).toEqual({ [name]: 'nothing-to-delete' });
  });

  test('is reported as failed if the ledger cannot be written, and the index stays closed', async () => {
    const deployment = await quarantined(1000);
    const { ledger, clock, services, during } = deployment;
    const refusing = { ...ledger, replace: () => Promise.reject(new LedgerError('throttled')) };
    const execution = { name: 'run-1', startTime: new Date(clock.time).toISOString() };
    const given: RunServices = { ...during('plan'), ledger: refusing };
    const report = composeReport({ input: await plan({ input: clearing(), execution }, given), execution }, services);
    expect(report.noteFacts).toMatchObject([{ kind: 'not-released', why: 'ledger' }]);
    expect(await stateOf(deployment)).toBe('quarantined');
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
    expect(report.noteFacts).toEqual([
      { kind: 'released', index: name, rowsMissing: 0 },
      { kind: 'nothing-to-clear', index: 'dataset.datasetProfile' },
    ]);
  });
});

describe('clearing a record of another version', () => {
  const head = (server: string, state: string) => ({ ...anIdle({ server }), state, somethingNew: { a: 1 } });

  test.each([1, 9])('version %i, quarantined: counts the windows of its head', async (version) => {
    const deployment = await quarantined(940);
    const { server } = await recordOf(deployment);
    const stored = { ...head(server, 'quarantined'), version, attemptId: 'x', windows: [window] };
    deployment.ledger.stored.set(anIndex, stored);
    expect((await deployment.night(clearing())).noteFacts).toMatchObject([{ kind: 'not-released', rowsMissing: 60 }]);
    expect(deployment.ledger.stored.get(anIndex)).toEqual(stored);
    expect((await deployment.night(clearing({ acceptMissing: 60 }))).noteFacts).toMatchObject([{ kind: 'released' }]);
    expect(await recordOf(deployment)).toMatchObject({ version: LEDGER_VERSION, state: 'idle' });
  });

  test.each([1, 9])('version %i, idle or reserved: has nothing to clear', async (version) => {
    for (const state of ['idle', 'reserved']) {
      const deployment = await quarantined(1000);
      const { server } = await recordOf(deployment);
      const judgeableAt = deployment.clock.time;
      deployment.ledger.stored.set(anIndex, { ...head(server, state), version, judgeableAt });
      expect((await deployment.night(clearing())).noteFacts).toMatchObject([{ kind: 'nothing-to-clear' }]);
    }
  });

  test('is refused for a possible truncation until 20 h have passed, and counts it after that', async () => {
    const deployment = await quarantined(1000);
    const { server } = await recordOf(deployment);
    const until = deployment.clock.time + day;
    const stored = {
      ...head(server, 'sending'),
      version: 9,
      attemptId: 'x',
      judgeableAt: until - 20 * 3_600_000,
      windows: [window],
    };
    deployment.ledger.stored.set(anIndex, stored);
    expect((await deployment.night(clearing({ acceptMissing: 1000 }))).noteFacts).toMatchObject([
      { kind: 'not-released', why: 'unresolved', until },
    ]);
    expect(deployment.ledger.stored.get(anIndex)).toEqual(stored);
    deployment.clock.time = until;
    expect((await deployment.night(clearing())).noteFacts).toMatchObject([{ kind: 'released', rowsMissing: 0 }]);
    expect(deployment.realTruncates()).toEqual([]);
  });

  test('leaves a record without a readable head alone', async () => {
    const deployment = await quarantined(1000);
    deployment.ledger.stored.set(anIndex, 'damaged');
    expect((await deployment.night(clearing({ acceptMissing: 9 }))).noteFacts).toMatchObject([
      { kind: 'not-released', why: 'ledger' },
    ]);
    expect(deployment.ledger.stored.get(anIndex)).toBe('damaged');
  });

  test('reports that a record without a readable head must be repaired by hand, not cleared again', async () => {
    const deployment = await quarantined(1000);
    deployment.ledger.stored.set(anIndex, { garbage: 1 });
    const report = await deployment.night(clearing({ acceptMissing: 5 }));
    expect(report).toMatchObject({
      result: 'attention',
      noteFacts: [{ kind: 'not-released', index: name, why: 'ledger', unreadable: true }],
    });
    const { email } = composeMessage(report);
    expect(email).toContain('its ledger record cannot be read, and clearing cannot open it');
    expect(email).toContain('delete that record by hand');
    expect(email).not.toMatch(/Clear it again|"clear"/);
  });
});

describe('clearing what is not quarantined', () => {
  test('an index without a record has nothing to clear', async () => {
    const deployment = await started();
    expect((await deployment.night(clearing())).noteFacts).toMatchObject([{ kind: 'nothing-to-clear' }]);
  });

  test('an idle record whose rows are gone is counted, because a preview reports them and closes nothing', async () => {
    const deployment = await quarantined(100);
    const { server } = await recordOf(deployment);
    deployment.ledger.stored.set(
      anIndex,
      anIdle({ server, lastVerdict: aVerdict({ window: { ...window, countedAt: 1 } }) }),
    );
    expect((await deployment.night(clearing())).noteFacts).toMatchObject([{ kind: 'not-released', rowsMissing: 900 }]);
    expect((await deployment.night(clearing({ acceptMissing: 900 }))).noteFacts).toMatchObject([{ kind: 'released' }]);
    expect(outcomesOf(await deployment.night())).toEqual({ [name]: 'nothing-to-delete' });
  });

  test('a reservation under which a run may still send is not released', async () => {
    const deployment = await quarantined(1000);
    const { server } = await recordOf(deployment);
    const sendBy = deployment.clock.time + 1000;
    deployment.ledger.stored.set(anIndex, aReserved({ server, judgeableAt: sendBy }));
    expect((await deployment.night(clearing())).noteFacts).toMatchObject([
      { kind: 'not-released', why: 'unresolved', until: sendBy },
    ]);
    deployment.clock.time = sendBy;
    expect((await deployment.night(clearing())).noteFacts).toMatchObject([{ kind: 'nothing-to-clear' }]);
  });

  test('an old truncation of ours that no night could close is counted, even in a preview stage', async () => {
    const deployment = await quarantined(1000);
    const { server } = await recordOf(deployment);
    deployment.settings.mode = 'preview';
    const judgeableAt = deployment.clock.time;
    deployment.ledger.stored.set(anIndex, aSending({ server, judgeableAt, windows: [window] }));
    const until = judgeableAt + 20 * 3_600_000;
    expect((await deployment.night(clearing())).noteFacts).toMatchObject([{ why: 'unresolved', until }]);
    expect(await stateOf(deployment)).toBe('sending');
    deployment.clock.time = until;
    expect((await deployment.night(clearing())).noteFacts).toMatchObject([{ kind: 'released', rowsMissing: 0 }]);
    expect(await stateOf(deployment)).toBe('idle');
    expect(deployment.realTruncates()).toEqual([]);
  });
});
