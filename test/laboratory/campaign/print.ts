import type { Tally } from './campaign.ts';

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

export function printTally({ sums, letters, outcomes, causes, violations }: Tally, seed: number): void {
  console.log(`seed ${seed} (a single history again: npm run faults -- --seed ${seed} --run <run>)`);
  for (const [name, count] of Object.entries(sums)) console.log(`${count} ${name}`);
  console.log('\nLetters of the alphabet that came up:');
  printTable(['letter', 'times'], byCount(letters));
  console.log('\nOutcomes reported:');
  printTable(['outcome', 'times'], byCount(outcomes));
  console.log('\nTheir causes:');
  printTable(['cause', 'times'], byCount(causes));
  console.log(`\nViolations: ${violations.length}`);
}
