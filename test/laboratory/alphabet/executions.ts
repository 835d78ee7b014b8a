import { LEDGER_VERSION, type LedgerRecord } from '../../../lambda/ledger/record.ts';
import type { Happening, Stage } from './happening.ts';

/** What happens to executions, and to what other versions of this program leave behind. */

function stop({ scheduled }: Stage): void {
  const execution = scheduled();
  if (!execution || execution.ended) return;
  execution.stop();
}

export const executions = {
  stopped: { says: 'the night’s execution is stopped; its function goes on', happen: stop },
  redriven: {
    says: 'it is stopped, and goes on under the same name some time later',
    happen: (stage, chances) => {
      stop(stage);
      const execution = stage.scheduled();
      const { time } = stage.world;
      time.at(time.now() + chances.pick([5_000, 120_000, 1_500_000, 40_000_000]), () => execution?.redrive());
    },
  },
  'scheduled twice': {
    says: 'the schedule’s event comes a second time, or one of an earlier time comes late',
    happen: (stage, chances) => {
      const { time } = stage.world;
      const now = time.now();
      const suffix = `${stage.night}-${chances.between(1, 99_999)}`;
      const begin = (which: string, at: number) =>
        stage.begin(`twice-${suffix}-${which}`, { scheduledTime: new Date(at).toISOString() });
      begin('a', now);
      time.at(now + chances.between(0, 120_000), () => begin('b', now - chances.pick([0, 0, 60_000])));
    },
  },
  'record of another version': {
    says: 'a newer version writes a record, and is rolled back later',
    happen: ({ world }, chances) => {
      const { ledger, time, journal } = world;
      const indices = [...ledger.records.keys()];
      if (indices.length === 0) return;
      const index = chances.pick(indices);
      const record = structuredClone(ledger.records.get(index)) as LedgerRecord;
      if (record.version !== LEDGER_VERSION) return;
      const newer = { ...record, version: LEDGER_VERSION + 1 };
      if (!ledger.put(index, newer)) return;
      journal.push({ at: time.now(), kind: 'foreign', index, present: true });
      time.at(time.now() + 22 * 3_600_000, () => {
        // In the meantime a person may have cleared it by its head, or a run of ours overwritten it, if it was idle.
        const now = ledger.records.get(index) as LedgerRecord | undefined;
        const isIt = now?.version === newer.version && now.attemptId === newer.attemptId && now.state === newer.state;
        if (isIt) ledger.put(index, record);
        journal.push({ at: time.now(), kind: 'foreign', index, present: false });
      });
    },
  },
} as const satisfies Record<string, Happening>;

/** The same, as part of how a night begins: see `histories/night.ts`. */
export const beginnings = {
  'deployed in the middle': 'a function is called with a run state of another version',
  'name comes back': 'an execution bears the name of one of a hundred days ago',
} as const;
