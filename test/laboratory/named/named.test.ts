import { describe, expect, test } from 'vitest';
import { livedByPeer, livedByUs } from './lived.ts';
import { isReal, situations } from './situations.ts';

const cases = situations.flatMap((situation) =>
  situation.profiles.map((profile) => [`${situation.name} (${profile})`, situation, profile] as const),
);

describe('situations that come from the source of datahub-gc and DataHub', () => {
  test.each(cases)('%s: we report everything that we lose or leave behind', async (_name, situation, profile) => {
    const deleting = await livedByUs(situation, profile, 'delete-by-query');
    const copying = await livedByUs(situation, profile, 'reindex');
    // With a delete by query, the default, nothing is lost if the server has one.
    if (isReal(situation) && profile !== '0.10.5') expect(deleting.rowsLost).toBe(0);
    for (const { rowsLost, oldRowsLeft, noticed, sent } of [deleting, copying]) {
      if (rowsLost + oldRowsLeft > 0) expect(noticed).toBe(true);
      // A second run sends its own truncate if the first has ended.
      expect(sent).toBeLessThanOrEqual(situation.secondAfterSeconds === undefined ? 1 : 2);
    }
  });

  test('each is listed once', () => {
    expect(new Set(situations.map(({ name }) => name)).size).toBe(situations.length);
  });

  test('datahub-gc loses rows without reporting it in two of fifteen situations on releases, and in all five on a server that copies', async () => {
    const lost = { releases: new Set<string>(), copying: new Set<string>() };
    const possible = situations.filter(({ notToPeer }) => notToPeer === undefined);
    for (const situation of possible) {
      for (const profile of situation.profiles) {
        const { rowsLost, noticed } = await livedByPeer(situation, profile);
        if (rowsLost > 0 && !noticed) lost[isReal(situation) ? 'releases' : 'copying'].add(situation.name);
      }
    }
    expect([lost.releases.size, possible.filter(isReal).length]).toEqual([2, 15]);
    expect([lost.copying.size, possible.filter((one) => !isReal(one)).length]).toEqual([5, 5]);
  });

  test('where most rows are old, datahub-gc loses every row that should stay, on every release, and its run is green', async () => {
    const [first] = situations;
    for (const profile of first!.profiles) {
      const { rowsLost, noticed, said } = await livedByPeer(first!, profile);
      expect({ profile, rowsLost, noticed }).toEqual({ profile, rowsLost: 400, noticed: false });
      expect(said).toBe('green: Nothing to delete.');
    }
  });
});
