import { folderLedger } from '../../../cli/ledgers/folder-ledger.ts';
import { revisionOf } from '../../../lambda/ledger/record.ts';
import { anIdle } from '../../support/records.ts';

/** Writes the next revision of one record until it has won the given number of times, and prints each revision it won. */

const [folder = '', times = '0'] = process.argv.slice(2);
const ledger = folderLedger(folder);
for (let won = 0; won < Number(times); ) {
  const revision = revisionOf(await ledger.read('counter')) + 1;
  if (!(await ledger.replace(anIdle({ index: 'counter', revision })))) continue;
  won += 1;
  process.send?.(revision);
}
process.disconnect();
