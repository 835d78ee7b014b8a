import { describe, expect, test } from 'vitest';
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

describe('is no question of that field, and neither counts anything, if dry runs are refused with', () => {
  test.each<[string, Refusal]>([
    ['403 by a gateway', { status: 403, ...html }],
    ['404', { status: 404, ...html }],
    ['405', { status: 405, ...html }],
    ['400 because the port speaks TLS', { status: 400, type: 'text/plain', body: 'This server requires TLS' }],
  ])('%s', async (_, refusal) => {
    const { surveyed, preview } = await saidOf(refusal);
    for (const { stdout, status } of [surveyed, preview]) {
      expect(status).toBe(1);
      expect(stdout).not.toContain('forceDeleteByQuery');
      expect(stdout).toContain(`the server answered ${refusal.status}`);
    }
  });

  test.each<[string, Refusal]>([
    ['422 with and without it', { status: 422, ...detail }],
    ['400 with and without it', { status: 400, ...text }],
  ])('%s', async (_, refusal) => {
    const { surveyed, preview } = await saidOf(refusal, refusal);
    for (const { stdout, status } of [surveyed, preview]) {
      expect(status).toBe(1);
      expect(stdout).toContain(`the server answered ${refusal.status}`);
    }
  });
});

test.each<[string, string]>([
  ['closed', 'index_closed_exception: closed'],
  ['red', 'search_phase_execution_exception: all shards failed'],
])(
  'An index that cannot be asked is named, and the others are counted, even if it is asked first: %s',
  async (_, message) => {
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
  },
);
