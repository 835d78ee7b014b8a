import { fileLedger } from '../../../lambda/ledger/file.ts';
import { anIdle } from '../../support/records.ts';

/** A process that wants each of twenty records first: prints the indices of those that it got. */

const [path = '', name = ''] = process.argv.slice(2);
const ledger = fileLedger(path);
const wins: string[] = [];
for (let round = 0; round < 20; round++) {
  const index = `index${round}`;
  if (await ledger.replace(undefined, anIdle({ index, attemptId: name }))) wins.push(index);
}
process.stdout.write(JSON.stringify(wins));
