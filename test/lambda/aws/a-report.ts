import { resultOf, worst } from '../../../lambda/model/outcomes.ts';
import type { PolicyEntry, Report } from '../../../lambda/model/report-schema.ts';

/** Reports whose numbers matter here, and not their words. */

export const anEntry = (outcome: PolicyEntry['outcome'], more: Partial<PolicyEntry> = {}): PolicyEntry => ({
  entityType: 'dataset',
  aspect: 'operation',
  outcome,
  cause: { kind: 'setup', what: 'run' },
  reason: 'A reason.',
  ...more,
});

export const aReport = (policies: PolicyEntry[], more: Partial<Report> = {}): Report => ({
  version: 1,
  runId: 'run-1',
  stage: 'prod',
  mode: 'enforce',
  startedAt: '2026-08-14T03:30:00.000Z',
  finishedAt: '2026-08-14T05:44:00.000Z',
  result: worst(policies.map(({ outcome }) => resultOf[outcome])),
  policies,
  unmanagedIndices: [],
  ...more,
});
