import { describe, expect, test } from 'vitest';
import { livedByPeer, livedByUs, namedHistories } from './named.ts';

describe('histories in which the peer loses rows', () => {
  test.each(namedHistories.map((history) => [`${history.facts}: ${history.name}`, history] as const))(
    '%s: whatever we lose or leave behind, we say so',
    async (_name, history) => {
      const ours = await livedByUs(history);
      // With a delete by query, which is the default, nothing is ever lost.
      if (history.strategy !== 'reindex') expect(ours.rowsLost).toBe(0);
      if (ours.rowsLost > 0) expect(ours.said).toContain('rows-missing');
      if (ours.rowsLost > 0 || ours.oldRowsLeft > 0) expect(ours.noticed).toBe(true);
    },
  );

  test('the peer does lose rows in them, and its runs are green', async () => {
    const results = await Promise.all(
      namedHistories.filter(({ facts }) => facts.startsWith('4.5')).map(async (history) => await livedByPeer(history)),
    );
    expect(results.length).toBeGreaterThan(10);
    for (const { rowsLost, noticed, said } of results) {
      expect(rowsLost).toBeGreaterThan(0);
      expect(noticed).toBe(false);
      expect(said).toMatch(/^green/);
    }
  });
});
