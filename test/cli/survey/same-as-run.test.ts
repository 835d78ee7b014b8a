import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { folderLedger } from '../../../cli/ledgers/folder-ledger.ts';
import { serverAddress } from '../../../lambda/gms/http/base-url.ts';
import { aLastVerdict, anAttempt, anIdle, aQuarantined } from '../../support/records.ts';
import { at, inFront, operation, runHere, serviceHere } from '../here.ts';
import { evenly, only, survey } from './surveyed.ts';

/** What a survey finds out of a server, the run after it finds out, too. */

type Refusal = Exclude<ReturnType<Parameters<typeof inFront>[1] & {}>, undefined | ((text: string) => string)>;

const html = { type: 'text/html', body: '<!doctype html><title>Bad Request</title>' };
const text = { type: 'text/plain', body: 'unknown field: forceDeleteByQuery' };
const restli = { body: '{"status":400,"message":"Parameter \'forceDeleteByQuery\' is not known"}' };
const detail = { body: '{"detail":[{"loc":["body","forceDeleteByQuery"],"msg":"Extra inputs are not permitted"}]}' };
const problem = { type: 'application/problem+json', body: '{"title":"Bad Request","status":400}' };

/** A server whose dry runs with the field get this answer, and what survey and preview say of it. */
async function saidOf(refusal: Refusal, without?: Refusal) {
  const here = await serviceHere(only(evenly(0, 300, 3000)));
  const url = await inFront(here.url, (body, path) => {
    if (!path.includes('truncate')) return undefined;
    return 'forceDeleteByQuery' in body ? refusal : without;
  });
  const surveyed = await survey({ ...here, url });
  const preview = await runHere(at(url, here.run('preview', [operation])));
  return { surveyed, preview };
}

test.each<[string, Refusal]>(
  [400, 422].flatMap((status) =>
    Object.entries({ html, text, restli, detail, problem }).map(
      ([form, answer]) => [`${status} and ${form}`, { status, ...answer }] as [string, Refusal],
    ),
  ),
)('forceDeleteByQuery is left out by survey and run, if it is refused with %s', async (_, refusal) => {
  const { surveyed, preview } = await saidOf(refusal);
  expect(surveyed.text).toMatch(/Truncation +allowed/);
  expect(surveyed.text).toContain('The server does not know the field forceDeleteByQuery');
  expect(preview.stdout).toContain('The server does not know the field forceDeleteByQuery');
  expect(preview.stdout).not.toContain('does not answer');
  expect(surveyed.policies).toHaveLength(1);
  expect([surveyed.status, preview.status]).toEqual([0, 0]);
});

test('it is found out also where no aspect of DataHub itself is there', async () => {
  const own = { entityType: 'dataset', aspect: 'ownAspect' };
  const here = await serviceHere({ indices: [{ ...own, timestamps: evenly(0, 300, 3000) }] });
  const refusal = { status: 422, ...detail };
  const url = await inFront(here.url, (body, path) =>
    path.includes('truncate') && 'forceDeleteByQuery' in body ? refusal : undefined,
  );
  expect((await survey({ ...here, url })).policies).toHaveLength(1);
});

test.each<[string, Refusal, Refusal?]>([
  ['403 by a gateway', { status: 403, ...html }],
  ['404', { status: 404, ...html }],
  ['405', { status: 405, ...html }],
  ['400 because the port speaks TLS', { status: 400, type: 'text/plain', body: 'This server requires TLS' }],
  ['422 with and without it', { status: 422, ...detail }, { status: 422, ...detail }],
  ['400 with and without it', { status: 400, ...text }, { status: 400, ...text }],
])('is no question of that field, and neither counts anything, if dry runs are refused with %s', async (...row) => {
  const [, refusal, without] = row;
  const { surveyed, preview } = await saidOf(refusal, without);
  for (const { stdout, status } of [surveyed, preview]) {
    expect(status).toBe(1);
    expect(stdout).not.toContain('does not know the field');
    expect(stdout).toContain(`the server answered ${refusal.status}`);
  }
});

test.each<[string, string]>([
  ['closed', 'index_closed_exception: closed'],
  ['red', 'search_phase_execution_exception: all shards failed'],
])('An index that cannot be asked, even first, is named, and the others are counted: %s', async (_, message) => {
  const timestamps = evenly(0, 300, 3000);
  const indices = ['datasetUsageStatistics', 'operation'].map((aspect) => ({
    entityType: 'dataset',
    aspect,
    timestamps,
  }));
  const here = await serviceHere({ indices });
  const failed = { status: 500, body: JSON.stringify({ status: 500, message }) };
  const url = await inFront(here.url, ({ aspect }) => (aspect === 'datasetUsageStatistics' ? failed : undefined));
  const { stdout, policies } = await survey({ ...here, url });
  expect(stdout).toMatch(/Truncation +allowed/);
  expect(stdout).toContain(`dataset.datasetUsageStatistics: `);
  expect(stdout.replace(/\s+/g, ' ')).toContain(message);
  expect(policies).toMatchObject([{ aspect: 'operation' }]);
});

const keptAt45 = (server: string) =>
  anIdle({ server, attempt: anAttempt({ retentionDays: 45 }), lastVerdict: aLastVerdict() });

test.each([
  ['refuses task statuses and would reindex', { profile: '0.10.5', faults: ['denied=status'] }, undefined, 0],
  ['has a wrong clock', { faults: ['clock-skew=3600'] }, undefined, 0],
  ['has a quarantined index', {}, (server: string) => aQuarantined({ server }), 0],
  ['has an index that this job keeps at 45 days', {}, keptAt45, 4775],
] as const)('The rows that a first run would delete are those of its preview: a server that %s', async (...row) => {
  const [, options, record, expected] = row;
  const here = await serviceHere({ ...only(evenly(0, 1000, 5000)), ...options });
  mkdirSync(here.files.at('ledger'));
  if (record) await folderLedger(here.files.at('ledger')).replace(record(serverAddress(here.url)));
  const { text, policies } = await survey(here);
  await runHere(here.run('preview', policies, '--json', here.files.at('preview.json')));
  const [entry] = here.files.report('preview.json').policies;
  const previewed = entry?.outcome === 'would-truncate' ? entry.rowsToDelete : 0;
  const surveyed = /would delete ([\d,]+) of/.exec(text)?.[1]?.replace(',', '') ?? 0;
  expect([Number(surveyed), previewed]).toEqual([expected, expected]);
});
