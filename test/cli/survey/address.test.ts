import { describe, expect, test } from 'vitest';
import { stageAddressWarnings } from '../../../cli/survey/find-gms.ts';
import { answering, runHere } from '../here.ts';
import { folder } from '../processes.ts';

const html = (page: string) => ({ status: 200, type: 'text/html', body: page });
const config = { status: 200, type: 'application/json', body: '{"noCode":"true","versions":{}}' };
const refused = { status: 401, type: 'text/plain', body: '' };

/** A server that answers at these paths, and with its own page elsewhere. */
const serverWith = (paths: Record<string, typeof config>, elsewhere = html('<title>DataHub</title>')) =>
  answering((request, response) => {
    const { status, type, body } = paths[request.url ?? ''] ?? elsewhere;
    response.writeHead(status, { 'content-type': type }).end(body);
  });

const remedyAt = async (url: string): Promise<string> => {
  const { stdout } = await runHere(['survey', '--gms-url', url], { env: { DATAHUB_GMS_TOKEN: 'the-secret-token' } });
  return stdout.replace(/\s+/g, ' ');
};

describe('A survey at an address where GMS is not', () => {
  test.each([
    ['DataHub’s frontend, which wants a token', { '/api/gms/config': refused }, '', '/api/gms'],
    ['a gateway', { '/gms/config': config }, '', '/gms'],
    ['a gateway with the name of the chart', { '/datahub-gms/config': config }, '', '/datahub-gms'],
    ['a frontend below a path', { '/data/api/gms/config': refused }, '/data', '/data/api/gms'],
    ['GMS itself, with a path too many', { '/config': config }, '/gms', ''],
  ])('names the one beside it: %s', async (_, paths, given, found) => {
    const url = await serverWith(paths);
    expect(await remedyAt(`${url}${given}`)).toContain(`DataHub's API answers at ${url}${found}: give that address.`);
  });

  test('names none where none answers, or where everything is refused', async () => {
    expect(await remedyAt(await serverWith({}))).not.toContain('answers at');
    expect(await remedyAt(await serverWith({}, refused))).not.toContain('answers at');
  });

  test('shows its token to no other path', async () => {
    const shown: string[] = [];
    const url = await answering((request, response) => {
      if (request.headers.authorization !== undefined) shown.push(request.url ?? '');
      response.writeHead(404).end();
    });
    await remedyAt(url);
    expect([...new Set(shown.map((path) => path.split('?')[0]))]).toEqual(['/operations']);
  });
});

test('One answer of DataHub shows that the address is right, whatever a proxy answers besides', async () => {
  const body = '{"status":403,"message":"User is unauthorized to truncate timeseries index"}';
  const refusal = { status: 403, type: 'application/json', body };
  const proxy = { status: 502, type: 'text/html', body: '' };
  const url = await serverWith({ '/operations?action=truncateTimeseriesAspect': refusal }, proxy);
  expect(await remedyAt(url)).toMatch(new RegExp(`Address ${url}/operations .*FAILED Truncation .*Grant it`));
});

test('validate names the address of GMS beside the one of a stage', async () => {
  const url = await serverWith({ '/api/gms/config': config });
  const files = folder();
  const warningsFor = (gmsUrl: string) => stageAddressWarnings(files.at('prod.json'), gmsUrl);
  expect(await warningsFor(url)).toEqual([
    `${files.at('prod.json')}: warning: gmsUrl: DataHub's API answers at ${url}/api/gms, not at ${url}: put that there.`,
  ]);
  expect(await warningsFor(`${url}/api/gms`)).toEqual([]);
  expect(await warningsFor('http://no-such-host.invalid')).toEqual([]);
});
