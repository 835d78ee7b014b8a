import type { Outcome } from '../../../lambda/facts/outcomes.ts';
import type { PolicyStrategy } from '../../../lambda/policy/schema.ts';
import { type ProfileName, profileNames } from '../../operations-service/profiles.ts';
import { deploy, only } from '../../support/deployment.ts';

/** The main job against every profile, with every strategy: the workflow file, real HTTP, virtual time. */

export const strategies: readonly PolicyStrategy[] = ['delete-by-query', 'delete-by-query-only', 'reindex'];

/** The expected outcomes, strategy by strategy. */
export const expected: Record<ProfileName, readonly [Outcome, Outcome, Outcome]> = {
  specification: ['truncated', 'truncated', 'truncated'],
  // Ignores the force flags and reindexes, because more than half would be deleted: allowed unless the policy forbids it.
  '0.10.5': ['truncated', 'failed', 'truncated'],
  // Does not list its indices, and without the name of the new index no reindex can be proven.
  '0.11': ['truncated', 'truncated', 'failed'],
  '0.12': ['truncated', 'truncated', 'truncated'],
  '0.13.2-1.1': ['truncated', 'truncated', 'truncated'],
  // Every reindex fails after the alias has moved.
  '1.2-1.5': ['truncated', 'truncated', 'rows-missing'],
  // A reindex leaves the live index without refresh: its rows are invisible.
  newest: ['truncated', 'truncated', 'rows-missing'],
  // Deletes only, and says so when it is asked to reindex.
  postgres: ['truncated', 'truncated', 'failed'],
};

export interface MatrixRow {
  profile: ProfileName;
  strategy: PolicyStrategy;
  outcome: Outcome;
  expected: Outcome;
  /** Rows newer than the cutoff that searches no longer find. */
  rowsLost: number;
  /** How many of them the report names. */
  rowsNamed: number;
  realTruncates: number;
}

export async function profileMatrix(): Promise<MatrixRow[]> {
  const rows: MatrixRow[] = [];
  for (const profile of profileNames) {
    for (const [column, strategy] of strategies.entries()) {
      rows.push(await oneNight(profile, strategy, expected[profile][column]!));
    }
  }
  return rows;
}

async function oneNight(profile: ProfileName, strategy: PolicyStrategy, expectedOutcome: Outcome): Promise<MatrixRow> {
  const deployment = await deploy({
    profile,
    policies: [{ entityType: 'dataset', aspect: 'operation', retentionDays: 30, strategy }],
  });
  try {
    const { engine } = deployment.service;
    const mark = engine.mark('dataset.operation');
    const entry = only(await deployment.night());
    const lost = engine.goneSince(mark).filter(({ timestamp }) => timestamp > entry.cutoffMillis!);
    return {
      profile,
      strategy,
      outcome: entry.outcome,
      expected: expectedOutcome,
      rowsLost: lost.length,
      rowsNamed: entry.rowsMissing ?? 0,
      realTruncates: deployment.realTruncates().length,
    };
  } finally {
    await deployment.close();
  }
}
