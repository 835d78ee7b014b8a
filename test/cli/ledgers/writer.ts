import { folderLedger } from '../../../cli/ledgers/folder-ledger.ts';
import { countUp } from '../../support/count-up.ts';

const [folder = '', times = '0'] = process.argv.slice(2);
await countUp(folderLedger(folder), Number(times));
