import { fileLedger } from '../../../lambda/ledger/file.ts';
import { anIdle, anIndex } from '../../support/records.ts';

/**
 * A process that wants records, and prints what it got.
 *
 * `PATH NAME`: tries to be the first to get each of twenty records. `PATH NAME ROUNDS`: replaces the same record again and
 * again, which counts the successes of all processes; each round compacts the file, and a success prints a dot.
 */

const [path = '', name = '', rounds = ''] = process.argv.slice(2);

if (rounds === '') {
  const ledger = fileLedger(path);
  const wins: string[] = [];
  for (let round = 0; round < 20; round++) {
    const index = `index${round}`;
    if (await ledger.replace(undefined, anIdle({ index, attemptId: name }))) wins.push(index);
  }
  process.stdout.write(JSON.stringify(wins));
} else {
  for (let round = 0; round < Number(rounds); round++) {
    const ledger = fileLedger(path, { compactAbove: 0 });
    const before = await ledger.read(anIndex);
    if (before?.state !== 'idle') throw new Error(`It is ${before?.state}.`);
    const after = anIdle({ attemptId: `${name}-${round}`, judgeableAt: (before.judgeableAt ?? 0) + 1 });
    if (await ledger.replace(before, after)) process.stdout.write('.');
    ledger.close();
  }
}
