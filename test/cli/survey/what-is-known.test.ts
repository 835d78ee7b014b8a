import { describe, expect, test } from 'vitest';
import { losesRowsByReindex, versionIn, versionRemark } from '../../../cli/survey/version.ts';
import { answering, inFront, operation, runHere, serviceHere } from '../here.ts';
import { evenly, only, survey, surveyed } from './surveyed.ts';

/** A survey says what has been asked and answered, and no more. */

/** The checks of a survey of a server that answers everything with one status. */
async function checksOf(answered: number): Promise<string[]> {
  const url = await answering((_, response) => {
    response.writeHead(answered, { 'content-type': 'text/plain' }).end();
  });
  const { status, lines } = await survey({ ...(await serviceHere()), url }, '--log', 'json');
  expect(status).toBe(1);
  return lines
    .filter(({ event }) => event === 'check')
    .map(({ name, state, text }) => `${state} ${name}: ${String(text).replace(url, '')}`);
}

const names = ['Address', 'Token', 'Truncation', 'Task status', 'Sizes', 'Clock'];

test.each([
  [502, 'Address', 'something other than DataHub answered'],
  [429, 'Address', 'the server wants fewer requests'],
  [401, 'Token', 'the token was refused'],
])('Before DataHub has answered, %d is told as %s, and nothing after it is called good', async (status, name, why) => {
  const [failed, ...others] = (await checksOf(status)).slice(names.indexOf(name));
  expect(failed).toMatch(new RegExp(`^failed ${name}: dry run: the server answered ${status}`));
  expect(others).toEqual(names.slice(names.indexOf(name) + 1).map((other) => `not checked ${other}: ${why}`));
});

test('An index that is closed is named, although the sizes leave it out', async () => {
  const here = await serviceHere();
  const closed = { status: 500, body: '{"message":"index_closed_exception: closed","status":500}' };
  const front = await inFront(here.url, ({ aspect }, path) => {
    if (aspect === 'operation') return closed;
    if (!path.includes('getIndexSizes')) return undefined;
    return (text) => {
      const { value } = JSON.parse(text);
      const indexSizes = value.indexSizes.filter(
        ({ indexName }: { indexName: string }) => !/operation/.test(indexName),
      );
      return JSON.stringify({ value: { ...value, indexSizes } });
    };
  });
  const { text } = await survey({ ...here, url: front });
  expect(text).toContain("The server's sizes leave out dataset.operation: the index is closed, or");
  expect(text).toMatch(/Not counted: dataset\.operation: .*index_closed_exception/);
});

describe('What this job has truncated', () => {
  test('counts for its own server alone', async () => {
    const here = await serviceHere(only(evenly(0, 60, 2000)));
    await runHere(here.run('enforce', [{ ...operation, retentionDays: 30 }]));
    const another = await serviceHere(only(evenly(0, 30.5, 1000)));
    const { stdout } = await survey({ ...another, ledger: here.ledger });
    expect(stdout).not.toContain('This job has truncated');
    expect(stdout).toContain('Something else already cuts at 30 days');
  });

  test('leaves its policy as it is, however often the server is surveyed', async () => {
    const here = await serviceHere(only(evenly(0, 300, 3000)));
    await runHere(here.run('enforce', [{ ...operation, retentionDays: 180 }]));
    for (const _ of ['1', '2', '3']) {
      expect((await survey(here)).policies).toEqual([{ ...operation, retentionDays: 180 }]);
    }
  });
});

describe('The release that a server names', () => {
  test('is told with what is known of it, and makes a copying server a reason to refuse its reindexes', async () => {
    const here = await serviceHere({ ...only(evenly(0, 500, 500)), profile: '0.10.5' });
    const config = { status: 200, body: JSON.stringify({ versions: { 'acryldata/datahub': { version: 'v1.3.0' } } }) };
    const url = await inFront(here.url, (_, path) => (path === '/config' ? config : undefined));
    const { stdout, policies } = await survey({ ...here, url });
    expect(stdout).toContain('The server reports DataHub v1.3.0. In releases 1.2 to 1.5');
    expect(policies).toMatchObject([{ refuseReindex: true }]);
    // It is less than half, which such a server deletes in place.
    expect(stdout).toContain('a first run would delete 135 of 500 rows');
  });

  test('is not needed to suggest timeoutSeconds where a server reindexes', async () => {
    const { text, policies } = await surveyed({ ...only(evenly(0, 500, 500)), profile: '0.10.5' });
    expect(text).toContain('it would reindex (every index), although it is asked to delete in place');
    expect(policies).toMatchObject([{ timeoutSeconds: 60 }]);
    expect(policies[0]).not.toHaveProperty('refuseReindex');
  });

  test.each([
    ['v1.2.0', true, 'moved to a new, empty index'],
    ['1.5.3', true, 'moved to a new, empty index'],
    ['v1.6.0rc1', false, 'without refreshes'],
    ['v0.10.5', false, 'reindex if more than half'],
    ['v0.14.1', false, 'DataHub v0.14.1.'],
    ['head', false, 'DataHub head.'],
  ])('%s', (release, loses, known) => {
    expect([losesRowsByReindex(release), versionRemark(release).join()]).toEqual([
      loses,
      expect.stringContaining(known),
    ]);
  });

  test.each(['', 'no JSON', '{}', '{"versions":[]}', '{"versions":{"acryldata/datahub":{"version":5}}}'])(
    'is not known from %j',
    (body) => {
      expect([versionIn(body), versionRemark(versionIn(body))]).toEqual([undefined, []]);
    },
  );
});

test('A permission that the search engine refuses is explained once, and the other checks say only what they lack', async () => {
  const here = await serviceHere();
  const refused = { status: 500, body: '{"message":"security_exception: no permissions for [x]","status":500}' };
  const { text } = await survey({ ...here, url: await inFront(here.url, () => refused) });
  expect(text.split("Ask the search engine's administrator to grant")).toHaveLength(2);
  expect(text).toMatch(/note Task status the same as Truncation -> Deletes work without it/);
  expect(text).toMatch(/note Sizes the same as Truncation -> Runs work without it, and report no sizes\./);
});
