import { folderLedger } from '../../../cli/ledgers/folder-ledger.ts';

/** Writes the next revision of one record until it has won the given number of times, and prints each revision it won. */

const [folder = '', times = '0'] = process.argv.slice(2);
const ledger = folderLedger(folder);
const record = {
  index: 'counter',
  entityType: 'a',
  aspect: 'b',
  server: 'c',
  state: 'idle',
  unreported: false,
  lastSender: { runId: 'a', runStartMillis: 1 },
} as const;
for (let won = 0; won < Number(times); ) {
  const stored = await ledger.read('counter');
  const revision = stored === undefined || stored.state === 'unreadable' ? 1 : stored.revision + 1;
  if (!(await ledger.replace({ ...record, revision }))) continue;
  won += 1;
  process.send?.(revision);
}
process.disconnect();
