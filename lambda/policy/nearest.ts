/**
 * The known name that a mistyped one most likely means, ignoring case.
 * @returns undefined if none is close: a third of the longer name may differ, but at least one letter.
 */
export function nearest(given: string, known: readonly string[]): string | undefined {
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    // As far apart as their lengths are, at least; and a text of megabytes is no name.
    const allowed = Math.max(1, Math.floor(Math.max(given.length, name.length) / 3));
    if (Math.abs(given.length - name.length) > allowed) continue;
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    if (distance <= allowed && (best === undefined || distance < best.distance)) best = { name, distance };
  }
  return best?.name;
}

/**
 * Insertions, deletions, substitutions and swaps of neighbors that turn one string into the other. Hand-written,
 * because the maintained library for it (fastest-levenshtein) counts a swap, the most common typing mistake, as two:
 * `mdoe` would not be `mode`.
 */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const distanceAt = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    rows.push(current);
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          distanceAt(row - 1, column) + 1,
          distanceAt(row, column - 1) + 1,
          distanceAt(row - 1, column - 1) + (same ? 0 : 1),
          swapped ? distanceAt(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return distanceAt(from.length, to.length);
}
