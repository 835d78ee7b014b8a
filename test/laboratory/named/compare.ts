import { printTable, progress } from '../campaign/print.ts';
import { type Lived, livedByPeer, livedByUs } from './lived.ts';
import { isReal, type Situation, situations } from './situations.ts';

/** The named situations as a table: the peer, us by default, and us if the policy requests a reindex. */
export async function runComparison(): Promise<boolean> {
  const rows: (string | number)[][] = [];
  const lossesOfPeer = { real: new Set<string>(), copying: new Set<string>() };
  let allNamed = true;
  const lived = progress(`of ${situations.length} named situations`, 1);
  for (const situation of situations) {
    for (const profile of situation.profiles) {
      const theirs = situation.notToPeer === undefined ? await livedByPeer(situation, profile) : undefined;
      const deleting = await livedByUs(situation, profile, 'delete-by-query');
      const copying = await livedByUs(situation, profile, 'reindex');
      allNamed &&= isNamed(deleting) && isNamed(copying);
      if (theirs && theirs.rowsLost > 0 && !theirs.noticed) {
        (isReal(situation) ? lossesOfPeer.real : lossesOfPeer.copying).add(situation.name);
      }
      rows.push([
        situation.name,
        profile,
        theirs ? summary(theirs) : `cannot happen: ${situation.notToPeer}`,
        summary(deleting),
        summary(copying),
      ]);
    }
    lived();
  }
  const { real, copying } = lossesOfPeer;
  console.log(
    `\n${situations.length} named situations. Rows lost are newer than the cutoff and out of sight a day later.`,
  );
  printTable(['situation', 'server', 'datahub-gc', 'we, by default', 'we, told to reindex'], rows);
  console.log(
    `datahub-gc lost rows without a word in ${real.size} of ${count(isReal)} that can happen to it on releases, and in ${copying.size} of ${count((one) => !isReal(one))} on a server that copies`,
  );
  return allNamed;
}

const count = (which: (situation: Situation) => boolean): number =>
  situations.filter((one) => one.notToPeer === undefined && which(one)).length;

const summary = ({ rowsLost, oldRowsLeft, sent, said }: Lived): string =>
  [
    rowsLost > 0 ? `lost ${rowsLost}` : '',
    oldRowsLeft > 0 ? `left ${oldRowsLeft}` : '',
    sent === 1 ? '' : `sent ${sent}`,
    said,
  ]
    .filter((part) => part !== '')
    .join(', ');

const isNamed = ({ rowsLost, oldRowsLeft, noticed }: Lived): boolean => noticed || rowsLost + oldRowsLeft === 0;
