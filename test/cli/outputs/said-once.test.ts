import { expect, onTestFinished, test } from 'vitest';
import { operation, runHere, serviceHere } from '../here.ts';
import { startReceiver } from './receiver.ts';

/** What people read of a run names each thing once, and by the name that they know. */

test('A post names its run once', async () => {
  const { run, files } = await serviceHere();
  const hook = await startReceiver();
  onTestFinished(() => hook.close());
  const { stdout } = await runHere(run('enforce', [operation], '--notify-url-file', files.write('hook', hook.url)));
  const [, runId = ''] = /^Run (local-\S+),/m.exec(stdout) ?? [];
  expect(JSON.stringify(hook.received[0]?.body).split(runId)).toHaveLength(2);
});

test('The largest index without a policy is named as a policy would name it', async () => {
  const { run } = await serviceHere();
  const { stdout } = await runHere(run('preview', [operation]));
  expect(stdout).toMatch(/^Without a policy: 8 indices \(the largest: dataset\.datasetUsageStatistics, /m);
});

test('A share has no needless digits: table and message say the same', async () => {
  const day = 86_400_000;
  const timestamps = Array.from({ length: 100 }, (_, row) => Date.now() - (row < 55 ? 90 : 10) * day - row);
  const { run } = await serviceHere({ indices: [{ entityType: 'dataset', aspect: 'operation', timestamps }] });
  const { stdout } = await runHere(run('preview', [{ ...operation, maxDeletePercent: 50 }]));
  expect(stdout).toMatch(/^dataset\.operation +100 +55 +55 % +above-ceiling$/m);
  expect(stdout).toContain('above the ceiling, 55 % of 100 rows are older than 60 days (maxDeletePercent: 50 %)');
});
