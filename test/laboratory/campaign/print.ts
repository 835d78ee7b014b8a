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

/** A plain table on standard output. */
export function printTable(head: string[], rows: (string | number)[][]): void {
  const all = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const rule = widths.map((width) => '-'.repeat(width));
  for (const row of [head, rule, ...all.slice(1)]) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}

/** Counts, the most frequent first. */
export const printCounts = (what: string, counts: Record<string, number>): void => {
  console.log('');
  printTable(
    [what, 'times'],
    Object.entries(counts).sort(([, one], [, other]) => other - one),
  );
};
