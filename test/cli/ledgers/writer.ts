import { configMaps } from '../../../cli/ledgers/config-maps.ts';
import { folderLedger } from '../../../cli/ledgers/folder-ledger.ts';
import { kubernetesLedger } from '../../../cli/ledgers/kubernetes-ledger.ts';
import { revisionOf } from '../../../lambda/ledger/record.ts';
import { anIdle } from '../../support/records.ts';

/**
 * Writes the next revision of one record until it has won the given number of times, and tells each revision it won.
 * The ledger is in a folder, or at the address of an API server, in a namespace.
 */

const [times = '0', place = '', namespace, token = ''] = process.argv.slice(2);
const ledger = namespace
  ? kubernetesLedger(configMaps({ url: place, namespace, token: () => token }))
  : folderLedger(place);
for (let won = 0; won < Number(times); ) {
  const revision = revisionOf(await ledger.read('counter')) + 1;
  if (!(await ledger.replace(anIdle({ index: 'counter', revision })))) continue;
  won += 1;
  process.send?.(revision);
}
process.disconnect();
