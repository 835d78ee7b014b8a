import type { Tally } from './campaign.ts';
import type { Hunted } from './hunt.ts';

/**
 * Prints a line on standard error now and then, in a terminal or not, because it takes minutes until there is a table.
 * @returns a function to call for each one that is done
 */
export function progress(what: string, every: number): () => void {
  let done = 0;
  return () => {
    done += 1;
    if (done % every === 0) process.stderr.write(`${done} ${what}\n`);
  };
}

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
  const { histories, nights, executions, truncates, reindexes, lost } = tally;
  console.log(`seed ${seed} (a single history again: npm run faults -- --seed ${seed} --run <run>)`);
  console.log(
    `${histories} histories, ${nights} nights with faults, ${executions} executions, ${truncates} real truncates, ${reindexes} of them reindexes`,
  );
  console.log('\nLetters of the alphabet that came up:');
  printTable(['letter', 'times'], byCount(tally.letters));
  console.log('\nOutcomes reported:');
  printTable(['outcome', 'times'], byCount(tally.outcomes));
  console.log('\nTheir causes:');
  printTable(['cause', 'times'], byCount(tally.causes));
  console.log(
    `\nRows newer than the cutoff that went through our doing: ${lost}, each named in a report or a violation`,
  );
  console.log(`\nViolations: ${tally.violations.length}`);
}

/** @returns whether every mutant was noticed */
export function printHunted(hunted: readonly Hunted[]): boolean {
  console.log('\nSafety rules (docs/testing.md) switched off, and finds brought back, one at a time:');
  printTable(
    ['rule', 'switched off', 'histories', 'violation found'],
    hunted.map(({ about, name, histories, broken }) => [about, name, histories, broken.join('; ') || 'NOT NOTICED']),
  );
  return hunted.every(({ broken }) => broken.length > 0);
}

/** Prints one mutant as soon as it is done, because a hunt takes minutes. */
export const huntedLine = ({ about, name, histories, broken }: Hunted): string =>
  `${about}, ${name}: ${broken[0] ?? 'NOT NOTICED'} (${histories} histories)`;
