import { expect, test } from 'vitest';
import { anIndexOf, deployments, only } from '../../../support/deployment.ts';

const started = deployments();

test('a policy renamed to another spelling of its search index has lost no rows on a server that compares names exactly', async () => {
  const deployment = await started({
    profile: 'postgres',
    indices: [anIndexOf(600, 400, 'usage', 'acme_table')],
    policies: [{ entityType: 'acme_table', aspect: 'usage', retentionDays: 30 }],
  });
  expect(only(await deployment.night()).outcome).toBe('truncated');
  deployment.policies = [{ entityType: 'acme', aspect: 'table_usage', retentionDays: 30 }];
  deployment.clock.time += 24 * 3_600_000;
  expect(only(await deployment.night())).toMatchObject({ outcome: 'nothing-to-delete' });
  deployment.service.engine.removeRows('acme_table.usage', () => true);
  deployment.clock.time += 24 * 3_600_000;
  expect(only(await deployment.night()).cause).toMatchObject({ kind: 'missing', found: 0 });
});
