import { profileMatrix } from './profile-matrix.ts';

/** `npm run profiles`: prints the matrix; status 1 if an outcome is not as expected, or a lost row is not reported. */

const rows = await profileMatrix();
const wrong = rows.filter(({ outcome, expected, rowsLost, rowsNamed }) => outcome !== expected || rowsNamed < rowsLost);
const line = (...cells: (string | number)[]) =>
  console.log(cells.map((cell, column) => String(cell).padEnd([15, 22, 14, 11, 11, 6][column] ?? 0)).join(' '));
line('profile', 'strategy', 'outcome', 'rows lost', 'rows named', 'sent');
for (const { profile, strategy, outcome, rowsLost, rowsNamed, realTruncates } of rows) {
  line(profile, strategy, outcome, rowsLost, rowsNamed, realTruncates);
}
console.log(
  '\nrows lost: newer than the cutoff, and no longer behind the alias. rows named: as rowsMissing in the report.',
);
for (const { profile, strategy, outcome, expected } of wrong)
  console.log(`WRONG: ${profile}, ${strategy}: ${outcome}, expected ${expected}`);
process.exitCode = wrong.length === 0 ? 0 : 1;
