import { fileLedger } from '../../../lambda/ledger/file.ts';
import { anIdle, anIndex } from '../../support/records.ts';

/**
 * A process that wants records, and prints what it got.
 *
 * `PATH NAME`: each of twenty records first. `PATH NAME ROUNDS`: the same record again and again, which counts how often
 * anybody got it; the file is compacted at each round, and each win is printed before the next one.
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
