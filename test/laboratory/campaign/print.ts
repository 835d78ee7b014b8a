import type { Tally } from './campaign.ts';
import type { Hunted } from './hunt.ts';

/** Plain tables on standard output. */
export function printTable(head: string[], rows: (string | number)[][]): void {
  const all = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  const line = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  console.log(line(all[0]!));
  console.log(widths.map((width) => '-'.repeat(width)).join('  '));
  for (const row of all.slice(1)) console.log(line(row));
}

const byCount = (counts: Record<string, number>): [string, number][] =>
  Object.entries(counts).sort(([one, few], [other, many]) => many - few || one.localeCompare(other));

export function printTally(tally: Tally, seed: number): void {
  console.log(`seed ${seed} (a single history again: npm run faults -- --seed ${seed} --run <run>)`);
  console.log(
    `${tally.histories} histories, ${tally.nights} nights with faults, ${tally.executions} executions, ${tally.truncates} real truncates`,
  );
  console.log('\nFaults injected:');
  printTable(['kind', 'times'], byCount(tally.faults));
  console.log('\nOutcomes reported:');
  printTable(['outcome', 'times'], byCount(tally.outcomes));
  console.log(
    `\nRows that no count can know of (newer than the run, or not yet refreshed when a reindex began): ${tally.beyondCounting}`,
  );
  console.log(`Truncations into which somebody else truncated: ${tally.mixed}`);
  console.log(`\nViolations: ${tally.violations.length}`);
}

/** @returns whether every mutant was noticed */
export function printHunted(hunted: readonly Hunted[]): boolean {
  console.log('\nSafety rules (docs/testing.md) switched off, one at a time:');
  printTable(
    ['rule', 'switched off', 'histories', 'violation found'],
    hunted.map(({ rule, name, histories, violation }) => [rule, name, histories, violation?.rule ?? 'NOT NOTICED']),
  );
  return hunted.every(({ violation }) => violation !== undefined);
}
