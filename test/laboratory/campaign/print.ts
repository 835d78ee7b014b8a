import { table } from '../../../cli/outputs/table.ts';

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
export const printTable = (head: string[], rows: (string | number)[][]): void =>
  console.log(
    table(
      head.map((title) => ({ title })),
      rows.map((row) => row.map(String)),
      Number.POSITIVE_INFINITY,
    ),
  );

/** Counts, the most frequent first. */
export const printCounts = (what: string, counts: Record<string, number>): void => {
  console.log('');
  printTable(
    [what, 'times'],
    Object.entries(counts).sort(([, one], [, other]) => other - one),
  );
};
