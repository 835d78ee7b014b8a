import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { operation, runHere, serviceHere } from '../here.ts';

const live = [{ ...operation, retentionDays: 180 }];
const change = JSON.stringify({ mode: 'preview', policies: [{ ...operation, retentionDays: 90 }] });

describe('A change before it is live', () => {
  test('is made into an input by validate, and a preview of it says what differs and deletes nothing', async () => {
    const here = await serviceHere();
    const given = here.files.write('new.json', [{ ...operation, retentionDays: 90 }]);
    const { stdout: input } = await runHere(['validate', '--policies', given, '--json', here.files.at('input.json')]);
    expect(input).toContain('no mistake found');
    expect(readFileSync(here.files.at('input.json'), 'utf8')).toBe(`${change}\n`);
    const again = await runHere(['validate', '--policies', here.files.at('input.json')]);
    expect(again.stderr).toMatch(/^\S+:1:1: it is what validate --json writes/);
    const { status, stdout } = await runHere(here.run('preview', live), { env: { DATAHUB_RETENTION_INPUT: change } });
    expect(stdout).toMatch(/^Subject: \[DataHub retention\] PREVIEW OF A CHANGE /m);
    expect(stdout.replace(/\s+/g, ' ')).toMatch(
      /Changed policy for dataset\.operation: retentionDays 90 \(live: 180\); it may delete more\. The next run without the change: .*\. With it: \d+ rows to delete\./,
    );
    expect([status, here.sent(), await here.states()]).toEqual([0, [], []]);
  });

  test('may delete more with a longer retention, if that no longer exceeds the ceiling', async () => {
    const here = await serviceHere();
    const given = (retentionDays: number) => [{ ...operation, maxDeletePercent: 30, retentionDays }];
    const env = { DATAHUB_RETENTION_INPUT: JSON.stringify({ mode: 'preview', policies: given(170) }) };
    const { stdout } = await runHere(here.run('preview', given(60)), { env });
    expect(stdout.replace(/\s+/g, ' ')).toMatch(/; it may delete more\. .*: above the ceiling\. With it: \d+ rows/);
  });

  test('may be asked about one index that loses its policy', async () => {
    const here = await serviceHere();
    const removed = { ...operation, aspect: 'datasetProfile' };
    const args = here.run('preview', [...live, removed], 'dataset.datasetProfile');
    const { status, stdout } = await runHere(args, { env: { DATAHUB_RETENTION_INPUT: change } });
    expect([status, stdout]).toEqual([0, expect.stringContaining('Removed policy for dataset.datasetProfile')]);
    expect(stdout).not.toContain('Changed policy');
  });

  test.each([
    ['enforce', change, 'is for a preview alone'],
    ['enforce', '{"indices":["dataset.operation"],"approveRows":1000000}', 'is for a preview alone'],
    ['release', change, 'is for a preview alone'],
    ['preview', '{"release":["dataset.operation"],"acceptMissing":1000000}', 'has no policies'],
    ['preview', change.replace('preview', 'enforce'), 'name the mode preview'],
    ['preview', '{', 'is not JSON'],
    ['preview', '{"policies":{}}', 'policies must be an array'],
  ])('is refused with %s of %s, and no server is asked', async (verb, text, problem) => {
    const here = await serviceHere();
    const index = verb === 'release' ? ['dataset.operation'] : [];
    const { status, stderr } = await runHere(here.run(verb, live, ...index), {
      env: { DATAHUB_RETENTION_INPUT: text },
    });
    expect([status, stderr, here.engine.asked]).toEqual([2, expect.stringContaining(problem), []]);
  });
});

test('The values of a chart give address and name, and another option takes the place of the address', async () => {
  const here = await serviceHere();
  const values = (url: string) =>
    here.files.write(
      'values.yaml',
      `server: { url: "${url}", name: prod eu }\npolicies:\n  - ${JSON.stringify(operation)}\n`,
    );
  const own = ['--token-file', here.files.at('token'), ...here.ledger];
  const { status, stdout } = await runHere(['preview', '--policies', values(here.url), ...own]);
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^Subject: .* PREVIEW prod eu: /m)]);
  expect(stdout).toContain(`address from server.url of ${here.files.at('values.yaml')}`);
  const args = ['--policies', values('http://gms.example.com'), ...own];
  expect((await runHere(['preview', ...args])).stderr).toContain('has the address of an example');
  expect((await runHere(['preview', ...args, '--gms-url', here.url])).status).toBe(0);
});
