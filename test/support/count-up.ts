import type { Ledger } from '../../lambda/ledger/ledger.ts';
import { revisionOf } from '../../lambda/ledger/record.ts';
import { anIdle } from './records.ts';

/** A process that writes the next revision of one record until it has won so often, and sends each that it won. */
export async function countUp(ledger: Pick<Ledger, 'read' | 'replace'>, times: number): Promise<void> {
  for (let won = 0; won < times; ) {
    const revision = revisionOf(await ledger.read('counter')) + 1;
    if (!(await ledger.replace(anIdle({ index: 'counter', revision })))) continue;
    won += 1;
    process.send?.(revision);
  }
  process.disconnect();
}
