import { expect, test } from 'vitest';
import { LedgerError } from '../../../lambda/ledger/ledger.ts';
import type { LedgerRecord } from '../../../lambda/ledger/record.ts';
import { messageOf } from '../../../lambda/message/message.ts';
import type { RunServices } from '../../../lambda/run/services.ts';
import { aJudged, aLastVerdict, anIdle, anIndex } from '../../support/records.ts';
import { firstRun, type StandIn } from '../../support/stand-in.ts';
import { aPolicyFor, server, worlds } from '../../support/world.ts';

/** A server that reindexes where it has announced a delete, and a ledger that takes no writes: found by a reviewer. */

const open = worlds();
const hour = 3_600_000;
const day = 24 * hour;

test.each(['enforce', 'preview'])(
  '%s: a copy that runs is no loss, although its new index has hardly a row yet',
  async (mode) => {
    const opened = await open({ policies: [aPolicyFor('operation')], settings: { maxRunHours: 1 } });
    opened.standIn.set({ knowsForceFlags: false, rowsPerSecond: 0.005, batchOverheadMillis: 0 });
    await opened.run({ interruption: { at: 'answer', does: 'stops' } });
    const taskId = String(opened.standIn.asked().at(-1)?.value);
    const record = opened.ledger.stored.get(anIndex) as LedgerRecord;
    opened.ledger.stored.set(anIndex, { ...record, state: 'running', taskId } as LedgerRecord);
    opened.clock.time += hour;
    const { report } = await opened.run({ input: { mode } });
    expect(report?.policies[0]?.outcome).toBe('still-running');
  },
);

test('a delete that turns into a copy while a bite is searched is not sent as one', async () => {
  const timestamps = Array.from({ length: 1000 }, (_, row) => firstRun - 30 * day + (300 - row) * hour - 1);
  let asked = 0;
  let standIn: StandIn | undefined;
  const observe = (services: RunServices): RunServices => ({
    ...services,
    operations: {
      ...services.operations,
      dryRun: (...given) => {
        if (++asked === 2) standIn?.set({ knowsForceFlags: false });
        return services.operations.dryRun(...given);
      },
    },
  });
  const opened = await open({
    indices: [{ entityType: 'dataset', aspect: 'operation', timestamps }],
    policies: [aPolicyFor('operation', { maxRowsPerRun: 100 })],
    observe,
  });
  standIn = opened.standIn;
  standIn.set({ denied: ['getEsTaskStatus'] });
  const { report } = await opened.run();
  expect(opened.realTruncates()).toEqual([]);
  expect(report?.policies[0]).toMatchObject({ outcome: 'not-started', cause: { kind: 'changed', what: 'reindexes' } });
});

test('a loss that the ledger does not take is reported, and so is what no report has included', async () => {
  const observe = (services: RunServices): RunServices => ({
    ...services,
    ledger: {
      ...services.ledger,
      replace: async () => {
        throw new LedgerError('no space left on device');
      },
    },
  });
  const opened = await open({ policies: [aPolicyFor('operation')], observe });
  const now = opened.clock.time;
  const window = { afterMillis: now - 22 * day, untilMillis: now - hour, rows: 5000, countedAtMillis: now - hour };
  opened.ledger.stored.set(anIndex, anIdle({ server, lastVerdict: aLastVerdict({ window }) }));
  const index = 'dataset_datasetprofileaspect_v1';
  opened.ledger.stored.set(index, aJudged({ server, index, aspect: 'datasetProfile' }));
  const { report } = await opened.run();
  expect(report?.policies.map(({ outcome, cause }) => ({ outcome, kind: cause.kind }))).toEqual([
    { outcome: 'rows-missing', kind: 'missing' },
    { outcome: 'rows-missing', kind: 'loss-not-stored' },
  ]);
  expect(report && messageOf(report, { reader: { kind: 'aws' } }).email).toContain(
    'This could not be written into the ledger: no space left on device. The index is quarantined once a run can write it down.',
  );
  expect(opened.ledger.stored.get(anIndex)).toMatchObject({ state: 'idle', revision: 1 });
});
