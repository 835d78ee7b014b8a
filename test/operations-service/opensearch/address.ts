import type { Client } from '@opensearch-project/opensearch';

/** The search engine cannot be used: `message` is one sentence with the remedy. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
}

const loopback = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

/**
 * The search engine's address. Programs that use it delete indices and kill tasks, so it must be on this machine.
 * @throws EngineError
 */
export function readEngineAddress(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new EngineError(`${text} is not the address of a search engine: write it as http://127.0.0.1:9200.`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new EngineError(`${text} is not the address of a search engine: write it as http://127.0.0.1:9200.`);
  }
  if (!loopback.test(url.hostname)) {
    throw new EngineError(
      `The search engine at ${url.host} is not on this machine: only a loopback address will do (http://127.0.0.1:9200).`,
    );
  }
  return url;
}

/** The release lines that the calls were checked against. Elasticsearch 7 does not name its distribution. */
const known: Readonly<Record<string, readonly string[]>> = { OpenSearch: ['2', '3'], Elasticsearch: ['7'] };

/**
 * Makes sure that a search engine of a known version answers.
 * @returns its version
 * @throws EngineError
 */
export async function checkProduct(client: Client, address: URL): Promise<string> {
  let body: { version?: { distribution?: string; number?: string } };
  try {
    ({ body } = (await client.transport.request({ method: 'GET', path: '/' })) as { body: typeof body });
  } catch (error) {
    throw new EngineError(`No search engine answers at ${address.host} (${(error as Error).message}).`);
  }
  const { distribution, number = '' } = body?.version ?? {};
  const product = distribution === 'opensearch' ? 'OpenSearch' : 'Elasticsearch';
  if (!known[product]?.includes(number.split('.')[0] ?? '')) {
    const found = number === '' ? 'something else' : `${product} ${number}`;
    throw new EngineError(
      `OpenSearch 2 or 3, or Elasticsearch 7, is needed at ${address.host}, but ${found} is there.`,
    );
  }
  return number;
}
