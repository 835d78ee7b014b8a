import { expect, test } from 'vitest';
import { profileMatrix } from './profile-matrix.ts';

test('the main job ends against every profile, with every strategy, as the design calls for, and names every row lost', async () => {
  for (const row of await profileMatrix()) {
    expect(row, `${row.profile}, ${row.strategy}`).toMatchObject({ outcome: row.expected });
    expect(row.rowsNamed, `${row.profile}, ${row.strategy}`).toBeGreaterThanOrEqual(row.rowsLost);
    expect(row.realTruncates).toBeLessThanOrEqual(1);
  }
});
